"""Positives among drawn negatives: β of a sample below the pool, and what curation leaves out."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from catalog.models import Omission
from evaluation.models import Sample
from evaluation.results.assessment import assess
from evaluation.results.inputs import models_on, read_inputs
from evaluation.results.negatives import draw_at_evaluation
from lookalike.release.format.folder import Folder
from lookalike.release.verify import verify
from pooling.pools.queries import pool_pairs
from tests.worlds import SPECS, World, build_now, build_wild_world, judge_world, request_for
from tests.worlds import same_colour as is_similar

N_IMAGES = 400
pytestmark = pytest.mark.django_db(transaction=True)


def sampled(world: World, n_pairs: int) -> Sample:
    call_command("sample_strata", world.campaign.slug, pairs=n_pairs, aim="both", seed=3,
                 verbosity=0)  # fmt: skip
    world.campaign.refresh_from_db()
    return Sample.objects.get(campaign=world.campaign)


def shares_by_hand(world: World, sample: Sample) -> list[float]:
    """Return the share of similar pairs of each stratum, as two of three judges see them."""
    image = {one.pk: one for one in world.images}
    found: dict[int, list[bool]] = {}
    for query, candidate, stratum in sample.pairs.values_list(
        "query_id", "candidate_id", "stratum"
    ):
        found.setdefault(stratum, []).append(is_similar(image[query], image[candidate]))
    return [float(np.mean(found[at])) for at in range(len(sample.strata))]


def best_rank(world: World, query: str, candidate: str) -> int:
    """Return the best place, from 1, that a pooled model gives an image of the catalog."""
    at = {image.sha256: row for row, image in enumerate(world.images)}
    places = []
    for spec in SPECS:
        unit = world.vectors[spec].astype(np.float32)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        scores = unit[:N_IMAGES] @ unit[at[query]]
        places.append(1 + int((scores > scores[at[candidate]]).sum()))
    return min(places)


def test_areas_are_corrected_by_the_share_of_positives_that_a_sample_finds(tmp_path):
    world = build_wild_world(n_images=N_IMAGES)
    sample = sampled(world, 240)
    judge_world(world)
    plain = assess(world.campaign, n_bootstraps=20)
    shares = shares_by_hand(world, sample)
    sizes = [stratum["n_pairs"] for stratum in sample.strata]
    uniform = float(np.average(shares, weights=sizes))
    assert 0.3 < uniform < 0.7
    said = {one.kind: one.contamination for one in plain.summary.negatives}
    assert said["uniform"] == pytest.approx(uniform)
    inputs = read_inputs(world.campaign)
    drawn = draw_at_evaluation(inputs, models_on(world.pool, inputs.sources), seed=0)
    lasts = [int(stratum["name"].rpartition("-")[2]) for stratum in sample.strata[:-1]]
    band = [
        shares[int(np.searchsorted(lasts, best_rank(world, query, candidate)))]
        for query, candidate in drawn.by_kind["band"].pairs
    ]
    assert said["band"] == pytest.approx(float(np.mean(band)))
    for model in plain.summary.models:
        for name, beta in (("random", said["uniform"]), ("band", said["band"])):
            for area in ("macro_roc_auc", "micro_roc_auc"):
                value = model.value(f"{area}_{name}")
                assert value is not None
                assert beta is not None
                wanted = 0.5 + (value - 0.5) / (1 - beta)
                assert model.detail(f"{area}_{name}", "corrected") == pytest.approx(wanted)
    Sample.objects.all().delete()
    without = assess(world.campaign, n_bootstraps=20).summary
    assert {one.kind: one.contamination for one in without.negatives} == dict.fromkeys(
        ("uniform", "band")
    )


def test_what_curation_left_out_is_a_negative_neither_of_a_board_nor_of_a_release(tmp_path: Path):
    world = build_wild_world(n_images=N_IMAGES)
    asked = {pk for pair in pool_pairs(world.pool) for pk in pair}
    left_out = [image for image in world.images[:N_IMAGES] if image.pk not in asked][::2]
    before = world.pool.created_at - timedelta(minutes=1)
    Omission.objects.bulk_create(
        Omission(image=image, reason="blurred", made_at=before) for image in left_out
    )
    judge_world(world)
    names = {image.sha256 for image in left_out}
    inputs = read_inputs(world.campaign)
    drawn = draw_at_evaluation(inputs, models_on(world.pool, inputs.sources), seed=0)
    assert drawn.by_kind["uniform"].pairs
    assert names.isdisjoint(candidate for _, candidate in drawn.pairs)
    folder = Folder(build_now(request_for(world), tmp_path))
    of_release = {
        image
        for one in folder.drawn_negatives().values()
        for _, image in one.pairs
    }  # fmt: skip
    ids = {folder.sha256_of[image] for image in of_release}
    assert of_release
    assert names.isdisjoint(ids)
    is_candidate = {
        folder.sha256_of[image]: ranked
        for image, ranked in folder.rows("images", "image_id", "is_candidate")
    }
    assert not any(is_candidate[name] for name in names)
    results = assess(world.campaign, n_bootstraps=20).summary
    found = {one.kind: one.sha256 for one in results.negatives}
    assert set(found) == set(folder.drawn_negatives())
    assert verify(folder.path).findings == ()

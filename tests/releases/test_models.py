"""The models of a release: who takes part as what, and how deep their lists are."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pyarrow.parquet as pq

from catalog.models import EmbeddingSet, EmbeddingShard, Image, SourceFile
from catalog.vectors.embeddings import write_shard
from evaluation.models import Run
from evaluation.results.assessment import assess
from evaluation.runs.stored_runs import store_run
from lookalike.io.tables import Run as Scores
from lookalike.release.exports import RUN_DEPTH
from lookalike.release.verify import verify
from pooling.models import PoolSource
from releases.storage import files_folder
from tests.worlds import SPECS, World, freeze_now, request_for


def test_a_run_named_like_a_source_is_that_source(world: World) -> None:
    """On the results page, too, the two are one model."""
    PoolSource.objects.filter(spec=SPECS[1]).update(
        spec="argus", embedding_set=None, query_embedding_set=None
    )
    EmbeddingSet.objects.filter(spec=SPECS[1]).delete()
    rng = np.random.default_rng(1)
    pairs = [(a.sha256, b.sha256) for a in world.images for b in world.images if a is not b]
    for name in ("argus", "other"):
        scores = Scores.of(name, [(*pair, float(rng.random())) for pair in pairs])
        Run.objects.create(
            campaign=world.campaign, name=name, sha256=store_run(scores), coverage={}
        )
    summary = assess(world.campaign, n_bootstraps=0).summary
    shown = {model.name: model.badge for model in summary.models}
    release = freeze_now(request_for(world, with_runs=True))
    assert {m["name"]: m["badge"] for m in release.entrants} == shown
    [argus] = [m for m in release.entrants if m["name"] == "argus"]
    source = PoolSource.objects.get(spec="argus")
    assert (argus["id"], argus["kind"], argus["badge"]) == ("argus", "scores", "pooled")
    assert (argus["k"], argus["n_proposals"]) == (source.k, source.n_proposals)
    assert argus["fingerprint"] == Run.objects.get(name="argus").sha256
    pool = pq.read_table(files_folder(release) / "data/pool.parquet")
    assert "argus" in set(pool["model_id"].to_pylist())
    assert verify(files_folder(release)).findings == ()
    without = freeze_now(request_for(world, "1.1.0"))
    assert [m["kind"] for m in without.entrants if m["name"] == "argus"] == ["proposals"]


def test_lists_of_a_run_hold_the_true_ranks_to_their_end(world: World) -> None:
    rng = np.random.default_rng(9)
    more = Image.objects.bulk_create(
        Image(
            catalog=world.catalog, sha256=hashlib.sha256(f"more {row}".encode()).hexdigest(),
            product_id=f"m{row}", width=8, height=8, image_format="PNG", n_bytes=1,
            perceptual_hash="0" * 16,
        )
        for row in range(120)
    )  # fmt: skip
    SourceFile.objects.bulk_create(
        SourceFile(catalog=world.catalog, image=image, path=f"more/{row}.png")
        for row, image in enumerate(more)
    )
    for made in EmbeddingSet.objects.all():
        added = rng.normal(size=(120, 6)).astype(np.float32)
        EmbeddingShard.objects.create(
            embedding_set=made, position=1, image_ids=[image.pk for image in more],
            sha256=write_shard(added), dtype="float32",
        )  # fmt: skip
        world.vectors[made.spec] = np.concatenate([world.vectors[made.spec], added])
    folder = files_folder(freeze_now(request_for(world)))
    images = [*world.images, *more]
    row_of = {image.sha256[:16]: row for row, image in enumerate(images)}
    models = json.loads((folder / "models.json").read_text())
    assert len(models) == 3
    for model in models:
        vectors = world.vectors[model["name"]]
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        lists: dict[str, list[int]] = {}
        for line in (folder / f"trec/runs/{model['id']}.txt").read_text().splitlines():
            query, _, candidate, *_ = line.split()
            lists.setdefault(query, []).append(row_of[candidate])
        for query, listed in lists.items():
            assert len(listed) == RUN_DEPTH == 100
            own = images[row_of[query]].product_id
            cosines = unit @ unit[row_of[query]]
            allowed = [row for row, image in enumerate(images) if image.product_id != own]
            best = sorted(allowed, key=lambda row: -cosines[row])[:RUN_DEPTH]
            assert np.allclose(cosines[listed], cosines[best], atol=1e-6), model["name"]


def test_scores_of_judged_pairs_have_no_cut_off_measures_and_take_none_from_others(
    world: World,
) -> None:
    before = {m["id"]: m["measures"] for m in freeze_now(request_for(world)).results["models"]}
    rng = np.random.default_rng(0)
    pairs = world.campaign.questions.filter(kind="pair")
    asked = pairs.values_list("query__sha256", "candidate__sha256")
    scores = Scores.of("noise", [(*pair, float(rng.random())) for pair in asked])
    Run.objects.create(campaign=world.campaign, name="noise", sha256=store_run(scores), coverage={})
    release = freeze_now(request_for(world, "1.1.0", with_runs=True))
    after = {m["id"]: m["measures"] for m in release.results["models"]}
    noise = after.pop("noise")
    assert after == before
    assert (noise["P@5"]["value"], noise["P@5"]["n_queries"]) == (None, 0)
    assert noise["macro_roc_auc"]["value"] > 0
    assert verify(files_folder(release)).findings == ()

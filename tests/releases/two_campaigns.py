"""A second judged campaign with a pool of its own, beside that of a world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.models import Campaign, Question
from annotation.services.campaigns import close_campaign
from catalog.models import EmbeddingSet
from evaluation.models import Sample, SampledPair
from lookalike.pooling.query_rule import QueryRule
from pooling.campaign.services import open_pool_campaign
from pooling.models import Proposal
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from pooling.pools.statistics import update_stats
from pooling.sources.fill import store_proposals
from pooling.sources.nearest import nearest_candidates
from pooling.sources.proposers import Answer
from releases.models import Release
from tests.worlds import SPECS, World, answer_all, freeze_now, request_for, same_colour

STRATUM = "ranks 5-20"


def add_campaign(world: World) -> Campaign:
    """Six other queries, three nearest images of each by two models, two of the three judges."""
    used = set(world.pool.queries.values_list("image_id", flat=True))
    names = tuple(image.sha256 for image in world.images if image.pk not in used)[:6]
    pool = create_pool(
        request=PoolRequest(
            name="Another pool", catalog=world.catalog, specs=SPECS, k=3,
            rule=QueryRule(names=names),
        ),
        created_by=None,
    )  # fmt: skip
    for source in pool.sources.all():
        vectors = EmbeddingSet.objects.get(catalog=world.catalog, spec=source.spec)
        found = nearest_candidates(pool, source.k, vectors, vectors)
        store_proposals(source=source, answer=Answer(found, vectors, vectors))
    update_stats(pool=pool)
    judges = world.judges[1:]
    campaign = open_pool_campaign(pool=pool, name="Another campaign", panel=judges)
    for judge in judges:
        answer_all(campaign, judge, same_colour)
    close_campaign(campaign=campaign, by=None, reason="All pairs are judged.")
    return campaign


def draw_below(campaign: Campaign, n_pairs: int) -> Question:
    """Make one judged pair of a campaign the one that was drawn from so many below the pool."""
    question = Question.objects.filter(campaign=campaign, kind="pair").order_by("pk")[0]
    sample = Sample.objects.create(
        campaign=campaign, aim="total", seed=1, sources={}, n_pool_pairs=5,
        strata=[{"name": STRATUM, "n_pairs": n_pairs, "n_drawn": 1}],
    )  # fmt: skip
    pair = {"query": question.query, "candidate": question.candidate}
    SampledPair.objects.create(sample=sample, stratum=0, inclusion=1 / n_pairs, **pair)
    Proposal.objects.filter(**pair).delete()
    return question


def freeze_both(world: World, **changes: object) -> Release:
    """Freeze both campaigns in one release."""
    given: dict[str, object] = {"campaigns": (world.campaign.slug, "another-campaign")}
    return freeze_now(request_for(world, "1.0.0", **{**given, **changes}))


def strata(folder: Path) -> list[tuple[Any, ...]]:
    """The rows of strata.json."""
    rows = json.loads((folder / "strata.json").read_text())
    return [tuple(row.values()) for row in rows]

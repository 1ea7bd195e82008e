"""A pool of twelve queries that is judged in rounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from annotation.models import Campaign
from annotation.services import open_campaign
from catalog.models import EmbeddingShard
from catalog.vectors.embeddings import write_shard
from evaluation.models import RoundPair, RoundPlan
from evaluation.results.stored import RoundsSummary, StoredResult
from evaluation.rounds.look import look_at_rounds
from evaluation.rounds.services import (
    RoundRules,
    look_of,
    open_campaign_in_rounds,
    request_look,
)
from evaluation.tasks import evaluate, look
from jobs.models import Job, JobState
from pooling.models import PoolSource
from pooling.pools.queries import pool_pairs
from tests.worlds import SPECS, Truth, World, answer_all, build_world, same_colour

RULES = RoundRules(share=0.3, measure="AP'", n_looks=3, seed=4, orders=True)


def world_of_rounds() -> World:
    """Make a pool of twelve queries, two models and three judges; nothing is judged."""
    return build_world(n_queries=12, has_unit_vectors=True)


def world_of_ten_products() -> World:
    """Make a pool of all thirty images of the ten products."""
    return build_world(n_queries=30, has_unit_vectors=True)


def opened(world: World, rules: RoundRules = RULES, **campaign: Any) -> Campaign:
    """Open the pool in rounds."""
    name = f"Part {Campaign.objects.count()}"
    made = open_campaign_in_rounds(
        pool=world.pool, round_rules=rules, name=name, panel=world.judges, **campaign
    )
    return open_campaign(campaign=made)


def judged(world: World, campaign: Campaign, truth: Truth = same_colour) -> Campaign:
    """Let everyone judge all that is open."""
    for judge in world.judges:
        answer_all(campaign, judge, truth)
    return campaign


def take_out(world: World) -> PoolSource:
    """Let the last model of the pool have failed, as if it had proposed nothing."""
    source = world.pool.sources.last()
    assert source is not None
    job = Job.objects.create(task="t", subject="s", title="t", arguments={}, state=JobState.FAILED)
    PoolSource.objects.filter(pk=source.pk).update(done_at=None, job=job)
    return source


def put_back(source: PoolSource) -> None:
    """Let it have come to the pool now."""
    PoolSource.objects.filter(pk=source.pk).update(done_at=source.done_at, job=None)


def drawn(campaign: Campaign, number: int) -> set[tuple[int, int]]:
    """The pairs that a round drew."""
    pairs = RoundPair.objects.filter(
        round__plan__campaign=campaign, round__number=number, is_drawn=True
    )
    return set(pairs.values_list("query_id", "candidate_id"))


def asked(campaign: Campaign) -> set[tuple[int, int]]:
    """The pairs that are asked."""
    return set(campaign.questions.filter(kind="pair").values_list("query_id", "candidate_id"))


def done(job: Job) -> Job:
    """Let a worker look."""
    look(str(job.uid))
    job.refresh_from_db()
    return job


def next_round(campaign: Campaign) -> Job:
    """Ask for the next round, and let a worker open it."""
    number = RoundPlan.objects.get(campaign=campaign).rounds.count()
    return done(request_look(campaign=campaign, number=number, opens=True, owner=None))


def looked(campaign: Campaign) -> Job:
    """Ask what is known, and let a worker look."""
    number = RoundPlan.objects.get(campaign=campaign).rounds.count()
    return done(request_look(campaign=campaign, number=number, opens=False, owner=None))


def known(campaign: Campaign) -> RoundsSummary:
    """What was known after the last round."""
    last = RoundPlan.objects.get(campaign=campaign).rounds.order_by("number").last()
    assert last is not None
    found = look_of(last)
    assert found is not None
    return found


def newest(campaign: Campaign) -> StoredResult:
    """The newest result."""
    row = campaign.results.order_by("-id").first()
    assert row is not None
    return StoredResult(row)


def evaluated(job: Job) -> Job:
    """Let a worker evaluate."""
    evaluate(str(job.uid))
    job.refresh_from_db()
    return job


def by_itself() -> list[Job]:
    """Let the clock look at rounds, and a worker do what it asks for."""
    look_at_rounds()
    return [done(job) for job in Job.objects.filter(task="evaluation.tasks.look", state="queued")]


def lift_a_stranger(world: World) -> None:
    """Store a picture that no model proposed as nearer than a model's last proposal, by 2e-5."""
    unit, row_of = (
        world.vectors[SPECS[0]].copy(),
        {one.pk: row for row, one in enumerate(world.images)},
    )
    pairs = {(row_of[query], row_of[candidate]) for query, candidate in pool_pairs(world.pool)}
    proposals = world.pool.sources.get(spec=SPECS[0]).proposals.order_by("rank")
    last = {row_of[q]: row_of[c] for q, c in proposals.values_list("query_id", "candidate_id")}
    _, query, own, row = min(
        (unit[query] @ (unit[own] - unit[row]), query, own, row)
        for query, own in last.items()
        for row in range(len(unit))
        if (query, row) not in pairs and row // 3 != query // 3  # three pictures of each product
    )
    cosine = unit[query] @ unit[own] + 2e-5
    rest = unit[row] - (unit[query] @ unit[row]) * unit[query]
    unit[row] = cosine * unit[query] + math.sqrt(1 - cosine**2) * rest / np.linalg.norm(rest)
    shards = EmbeddingShard.objects.filter(embedding_set__spec=SPECS[0])
    shards.update(sha256=write_shard(unit.astype(np.float32)))

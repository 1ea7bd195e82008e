"""What a release freezes of the pairs drawn below the pools, as it was at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from jobs.work.snapshot import Snapshot

SAMPLES = """
select campaign_id as campaign, aim, seed, sources, n_pool_pairs, strata
from evaluation_sample where campaign_id = any(%s)
"""
DRAWS = """
select d.query_id as query, d.candidate_id as image, s.campaign_id as campaign,
       coalesce(s.strata -> d.stratum::int ->> 'name', 'pool') as stratum, d.inclusion
from evaluation_sampledpair d join evaluation_sample s on s.id = d.sample_id
where s.campaign_id = any(%s)
"""
_DRAW_KINDS = {
    "query": pa.int64(), "image": pa.int64(), "campaign": pa.int64(), "stratum": pa.string(),
    "inclusion": pa.float64(),
}  # fmt: skip


class FrozenSample(NamedTuple):
    """What was drawn below the pool of a campaign, which is named by its id."""

    campaign: int
    aim: str
    seed: int
    sources: list[Any]
    n_pool_pairs: int
    strata: list[dict[str, Any]]


def frozen_samples(view: Snapshot, campaigns: Sequence[int]) -> list[FrozenSample]:
    """Return the samples of campaigns."""
    return view.rows(FrozenSample, SAMPLES, [campaigns])


def frozen_draws(view: Snapshot, campaigns: Sequence[int]) -> pa.Table:
    """Return the pairs drawn: query, image and campaign by id, stratum, chance of the draw."""
    return view.columns(DRAWS, [campaigns], _DRAW_KINDS)

"""What a release freezes of rounds, as it was at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from jobs.work.snapshot import Snapshot

PLANS = """
select campaign_id as campaign, share, floor, seed, measure, alpha, n_looks, alike, orders, width,
       recall, to_char(stopped_at at time zone 'UTC', 'YYYY-MM-DD') as stopped, claim
from evaluation_roundplan where campaign_id = any(%s)
"""
DRAWN = """
select p.campaign_id as campaign, r.number, r.n_known, r.n_open, r.n_drawn, r.guess,
       to_char(r.opened_at at time zone 'UTC', 'YYYY-MM-DD') as date, r.look
from evaluation_round r join evaluation_roundplan p on p.id = r.plan_id
where p.campaign_id = any(%s) order by p.campaign_id, r.number
"""
PAIRS = """
select d.query_id as query, d.candidate_id as image, p.campaign_id as campaign,
       r.number as round, d.probability, d.is_drawn
from evaluation_roundpair d join evaluation_round r on r.id = d.round_id
join evaluation_roundplan p on p.id = r.plan_id
where p.campaign_id = any(%s)
"""
_PAIR_KINDS = {
    "query": pa.int64(), "image": pa.int64(), "campaign": pa.int64(), "round": pa.int32(),
    "probability": pa.float64(), "is_drawn": pa.bool_(),
}  # fmt: skip


class FrozenPlan(NamedTuple):
    """How a campaign, named by its id, is judged in rounds, and what was claimed at the stop."""

    campaign: int
    share: float
    floor: float | None
    seed: int
    measure: str
    alpha: float
    n_looks: int
    alike: float
    orders: bool
    width: float | None
    recall: float | None
    stopped: str | None
    claim: dict[str, Any]


class FrozenRound(NamedTuple):
    """A round of a campaign, which is named by its id, and what was known after it."""

    campaign: int
    number: int
    n_known: int
    n_open: int
    n_drawn: int
    guess: str
    date: str
    look: dict[str, Any]


def frozen_plans(view: Snapshot, campaigns: Sequence[int]) -> list[FrozenPlan]:
    """Return how campaigns are judged in rounds, those that are."""
    return view.rows(FrozenPlan, PLANS, [campaigns])


def frozen_rounds(view: Snapshot, campaigns: Sequence[int]) -> list[FrozenRound]:
    """Return the rounds of campaigns, in their order."""
    return view.rows(FrozenRound, DRAWN, [campaigns])


def frozen_round_pairs(view: Snapshot, campaigns: Sequence[int]) -> pa.Table:
    """Return what was open in each round: query, image and campaign by id, and its chance."""
    return view.columns(PAIRS, [campaigns], _PAIR_KINDS)

"""Once a pool's sources have ended: write down what they brought, and ask its panels about it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.models import CampaignState
from annotation.services import add_questions
from lookalike.pooling.differences import Difference, Mask, difference, find_changes
from lookalike.pooling.eds import Proposals
from pooling.models import Pool, PoolChange, PoolSource
from pooling.pools.queries import judged_pairs, pool_pairs, stored_proposals
from pooling.pools.unsettled import counted_specs, due_specs, has_open_job, unsettled_changes

logger = logging.getLogger(__name__)
ADDED_UP = ("n_new", "n_proposals", "n_known", "n_judged", "n_pairs_after")


def settle_pool(*, pool: Pool) -> int:
    """Once no source is at work: write down what was found, and open the new pairs.

    May be called at any time and any number of times; returns how many questions were opened.
    What is written down stays: a source that failed at first and brings its proposals later is
    added to its change, as new to the pool or known in it at that time. A campaign that is
    closed takes no pairs; call it again once it was opened again.
    """
    with transaction.atomic():
        locked = Pool.objects.select_for_update().get(pk=pool.pk)
        if not locked.has_ended:
            return 0
        changes = list(locked.changes.all())
        sources, proposals = stored_proposals(locked)
        unsettled = unsettled_changes(changes, sources)
        if unsettled:
            _write_down(unsettled, changes, sources, proposals)
        opened = open_new_pairs(pool=locked)
        if opened and changes:
            _add_opened(unsettled[-1] if unsettled else changes[-1], opened)
    return sum(opened.values())


def open_new_pairs(*, pool: Pool) -> dict[str, int]:
    """Put the pairs that a pool's campaigns do not ask yet to their panels.

    A campaign that is judged in rounds takes none: its next round draws from them.

    Returns:
        How many were new, by the slug of each campaign that got any.
    """
    pairs = pool_pairs(pool)
    opened = {}
    links = pool.campaign_links.filter(in_rounds=False)
    for link in links.select_related("campaign").order_by("id"):
        if link.campaign.state != CampaignState.CLOSED:
            n_opened = add_questions(campaign=link.campaign, pairs=pairs)
            if n_opened:
                opened[link.campaign.slug] = n_opened
    return opened


def settle_after(job_uid: str) -> None:
    """Settle the pool whose source a job was at, if there is one."""
    pool = Pool.objects.filter(sources__job__uid=job_uid).first()
    if pool is not None:
        settle_pool(pool=pool)


def settle_left() -> int:
    """Settle the pools whose last worker was killed before it could; return how many.

    A pool that cannot be settled is logged with the reason and keeps no other waiting.
    """
    n_settled = 0
    for pool in Pool.objects.defer("stats").prefetch_related("sources__job", "changes"):
        sources = list(pool.sources.all())
        if any(has_open_job(source) for source in sources) or not pool.has_ended:
            continue
        if unsettled_changes(list(pool.changes.all()), sources):
            try:
                settle_pool(pool=pool)
                n_settled += 1
            except Exception:  # of any kind: logged whole, and the other pools are settled
                logger.exception(
                    "Pool %s cannot be settled; its page says that it waits.", pool.slug
                )
    return n_settled


def _write_down(
    unsettled: Sequence[PoolChange],
    changes: Sequence[PoolChange],
    sources: Sequence[PoolSource],
    proposals: Proposals,
) -> None:
    """Write what is due into the unsettled changes, in their order."""
    due = {change.number: due_specs(change, changes, sources) for change in unsettled}
    turn_of = {change.number: turn for turn, change in enumerate(unsettled, 2)}
    model_of = {source.spec: model for model, source in enumerate(sources)}
    steps = []
    for change in changes:
        for step in change.steps:
            if step["spec"] in model_of:
                is_due = step["spec"] in due.get(change.number, [])
                turn = turn_of[change.number] if is_due else 1  # 1: all that is written down
                steps.append((model_of[step["spec"]], int(step["k_before"]), int(step["k"]), turn))
    turns = find_changes(proposals.model, proposals.rank, steps)
    is_judged = _is_judged(unsettled[0].pool, proposals)
    for change in unsettled:
        made = difference(proposals, turns, turn_of[change.number], is_judged)
        _add_outcome(change, made, due[change.number], sources)


def _is_judged(pool: Pool, proposals: Proposals) -> Mask:
    """Return whether some judge has answered the pair of each proposal, shape (n_proposals,)."""
    judged = judged_pairs(pool)
    pairs = zip(pool.query_ids[proposals.query].tolist(), proposals.candidate.tolist(), strict=True)
    return np.fromiter((pair in judged for pair in pairs), bool, len(proposals))


def _add_outcome(
    change: PoolChange, made: Difference, specs: Sequence[str], sources: Sequence[PoolSource]
) -> None:
    """Write what some sources of a change brought beside what is written of its others."""
    is_first = change.settled_at is None
    before: dict[str, Any] = {} if is_first else change.outcome
    outcome = made.as_dict()
    rows = [{"spec": sources[row["model"]].spec, **row} for row in outcome["by_source"]]
    if not is_first:
        outcome["n_pairs_before"] = change.n_pairs_before
        outcome["n_pairs_after"] = made.n_new
        outcome |= {name: before.get(name, 0) + outcome[name] for name in ADDED_UP}
    change.outcome = {
        **outcome,
        "by_source": [*before.get("by_source", []), *rows],
        "counted": [*([] if is_first else counted_specs(change, sources)), *specs],
        "opened": change.outcome.get("opened", {}),
    }
    change.n_proposals = outcome["n_proposals"]
    change.n_pairs_before = outcome["n_pairs_before"]
    change.n_new_pairs = outcome["n_new"]
    change.settled_at = timezone.now()
    change.save()


def _add_opened(change: PoolChange, opened: Mapping[str, int]) -> None:
    total = Counter(change.outcome.get("opened", {})) + Counter(opened)
    change.n_opened += sum(opened.values())
    change.outcome = {**change.outcome, "opened": dict(total)}
    change.save(update_fields=["n_opened", "outcome"])

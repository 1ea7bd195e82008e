"""What a release takes of campaigns that are judged in rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from annotation.models import Campaign
from evaluation.rounds.frozen_rows import frozen_plans, frozen_rounds
from evaluation.rounds.progress import (
    find_plan,
    is_judged_in_part,
    rounds_progress,
    unfinished_problem,
)
from jobs.work.snapshot import Snapshot
from lookalike.core.arrays import Ints
from lookalike.release.errors import ReleaseError
from pooling.pools.frozen_rows import frozen_proposals
from releases.freeze.requests import FreezeRequest
from releases.freeze.scope import Scope
from releases.freeze.tables import write_round_pairs


def check_rounds(request: FreezeRequest) -> None:
    """Refuse campaigns of which nothing valid could be said.

    Raises:
        ReleaseError: a round is not done; or a campaign that is judged in part is to be released
            with others, or with hidden labels.
    """
    for campaign in Campaign.objects.filter(slug__in=request.campaigns):
        plan = find_plan(campaign)
        if plan is None or not is_judged_in_part(campaign):
            continue
        if problem := unfinished_problem(rounds_progress(plan)):
            raise ReleaseError(f"“{campaign}”: {problem}")
        if len(request.campaigns) > 1:
            raise ReleaseError(f"Rounds have judged a part of “{campaign}”; release it by itself.")
        if request.hidden_percent:
            raise ReleaseError(
                f"Rounds have judged a part of “{campaign}”; no labels of it can be kept back."
            )


def write_rounds(view: Snapshot, scope: Scope, folder: Path) -> dict[int, dict[str, Any]]:
    """Write the probabilities; return what release.json says of rounds, by id of the campaign."""
    plans = frozen_plans(view, scope.campaign_ids)
    if not plans:
        return {}
    write_round_pairs(view, scope, folder)
    entries = {plan.campaign: plan._asdict() | {"drawn": []} for plan in plans}
    for row in frozen_rounds(view, scope.campaign_ids):
        entries[row.campaign]["drawn"].append(row._asdict())
    for entry in [*entries.values(), *(row for one in entries.values() for row in one["drawn"])]:
        del entry["campaign"]
    return entries


def pairs_to_score(view: Snapshot, scope: Scope, asked: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the pairs asked and all of the pools: estimates need the scores of both.

    Args:
        view: the moment that is frozen.
        scope: what is frozen.
        asked: query and candidate ids of the pairs put to the judges.
    """
    proposals = frozen_proposals(view, scope.pool_ids)
    both = np.concatenate(
        [
            np.stack(asked, axis=1),
            np.stack([proposals["query"].to_numpy(), proposals["image"].to_numpy()], axis=1),
        ]
    )
    queries, candidates = np.unique(both, axis=0).T
    return queries, candidates

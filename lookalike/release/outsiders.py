"""The pool of a release, and the AUC of models as if none of them had built it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike.bias.evidence.assemble import Extras, assemble_evidence
from lookalike.bias.evidence.files import Proposals, make_proposals
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.outsiders import equal_outsider_by_query
from lookalike.bias.words.advice import UNRELATED, outsider_advice
from lookalike.core.arrays import Floats
from lookalike.io.tables import Run
from lookalike.metrics.leaderboard import ALL, NOBODY
from lookalike.metrics.scoring import Outcome, Scored
from lookalike.release.format.folder import Folder
from lookalike.release.rounds import judged_share
from lookalike.release.scoring import rounded


@dataclass(frozen=True)
class EqualOutsiders:
    """The equal-outsider AUC of models on the public labels of a release.

    Attributes:
        by_query: by model, shape (n_queries,) in the order of the labels' queries; NaN where a
            query is undefined once some model of the pool is left out.
        whom: by model, with whom its mean may be compared, and why.
    """

    by_query: dict[str, Floats]
    whom: dict[str, tuple[str, str]]

    def outcome(self, model: str) -> dict[str, Any]:
        """Return the mean of a model as a submission keeps it."""
        values = self.by_query[model]
        n = int(np.count_nonzero(~np.isnan(values)))
        group, reason = self.whom[model]
        value = rounded(float(np.nanmean(values))) if n else None
        return {"value": value, "n_queries": n, "comparable_with": group, "reason": reason}

    def whom_beside(self, outcome: Mapping[str, Any]) -> tuple[str, str]:
        """Return with whom a value may be compared beside these models, and why.

        Args:
            outcome: of one of them, or of a model that was alone when it was scored: all that it
                may be compared with are those that have no relatives here.
        """
        group, reason = outcome["comparable_with"], outcome["reason"]
        has_relatives = any(whom == NOBODY for whom, _ in self.whom.values())
        return (UNRELATED if group == ALL and has_relatives else group), reason


def read_pool(folder: Folder) -> Proposals | None:
    """Return who proposed what, at the best of its ranks; of hidden queries nothing.

    Returns:
        None where there is no pool.
    """
    rank_of: dict[tuple[str, str, str], int] = {}
    names = ("query_id", "image_id", "model_id", "rank")
    for query, image, model, rank in folder.rows("pool", *names):
        if query not in folder.hidden_queries:
            rank_of[query, image, model] = min(rank, rank_of.get((query, image, model), rank))
    return make_proposals([(*key, rank) for key, rank in rank_of.items()]) if rank_of else None


def equal_outsiders(folder: Folder, runs: Sequence[Run] | None = None) -> EqualOutsiders | None:
    """Return the equal-outsider AUC of models, a missing score counting as the worst.

    Args:
        folder: the release.
        runs: named like a model of the release only where they are that model's, which is then
            left out of the pool with what it alone proposed; its own models if None.

    Returns:
        None where there is no pool, or rounds have judged a part of it.
    """
    proposals = read_pool(folder)
    if proposals is None or judged_share(folder) < 1:
        return None
    labels = folder.qrels()
    asked = () if runs is None else runs
    given = [*asked, *_others(folder, {run.name for run in asked})]  # scores tell relatives
    known = {*proposals.generators, *(run.name for run in given)}
    families = {one["id"]: one["family"] for one in folder.models if one["id"] in known}
    evidence = assemble_evidence(
        labels,
        proposals,
        given,
        missing="worst",
        extras=Extras(families=families, products=folder.products),
    )
    return EqualOutsiders(
        equal_outsider_by_query(evidence, proposals.query_ids, labels.query_ids),
        {
            name: (advice.comparable_with, advice.reason)
            for name in evidence.models
            for advice in outsider_advice(evidence, name)[:1]
        },
    )


def _others(folder: Folder, names: Collection[str]) -> list[Run]:
    """Return the runs of the release's models but those of some names."""
    return [folder.run(model["id"]) for model in folder.scored if model["id"] not in names]


def beside_outsiders(
    folder: Folder, runs: Sequence[Run], scored: Sequence[Scored], model_of: Mapping[str, str]
) -> list[Scored]:
    """Return scores with the equal-outsider AUC among them, where the release has a whole pool.

    Args:
        folder: the release.
        runs: what was scored.
        scored: of each run.
        model_of: by a run's name, the id of the model of the release that it is, for those that
            are one; all others are outsiders of the pool.
    """
    return [
        replace(one, outcomes=one.outcomes | _as_outsider(folder, run, model_of.get(run.name)))
        for run, one in zip(runs, scored, strict=True)
    ]


def _as_outsider(folder: Folder, run: Run, model: str | None) -> dict[str, Outcome]:
    name = model or f"evaluated: {run.name}"  # no model of a release is called so
    found = equal_outsiders(folder, [replace(run, name=name)])
    if found is None:
        return {}
    outcome = found.outcome(name)
    value = float("nan") if outcome["value"] is None else outcome["value"]
    return {EQUAL_OUTSIDER: Outcome(value, outcome["n_queries"], found.by_query[name])}

"""The whole board of a release, made from its own files: the site, `verify` and `compare` share it.

Every measure of the release has a column, and so has the equal-outsider AUC where the pool is
whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.outsiders import POOLED
from lookalike.core.arrays import Floats
from lookalike.io.tables import Run
from lookalike.metrics.leaderboard import Cell, Entrant, Leaderboard, seen_note
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import BOARD
from lookalike.release.leaderboard import (
    ReleaseScores,
    pool_depth,
    query_units,
    release_leaderboard,
    values_by_query,
)
from lookalike.release.outsiders import EqualOutsiders, equal_outsiders
from lookalike.release.scoring import rounded
from lookalike.release.submitted import Judged

SUBMITTED = "submitted"


def board_measures(folder: Folder, outsiders: EqualOutsiders | None) -> list[str]:
    """Return the columns of the board: the release's measures, then the equal-outsider AUC."""
    measures: list[str] = list(folder.json("results.json")["measures"])
    has_outsiders = outsiders is not None and any(one["badge"] == POOLED for one in folder.models)
    return [*measures, EQUAL_OUTSIDER] if has_outsiders else measures


def model_scores(folder: Folder, outsiders: EqualOutsiders | None) -> list[ReleaseScores]:
    """Return the scores of the release's models under their ids, in the order of results.json.

    Args:
        folder: the release.
        outsiders: from `equal_outsiders` of the same release.
    """
    by_query = values_by_query(folder)
    entries = {model["id"]: model for model in folder.models}
    scores = []
    for model in folder.json("results.json")["models"]:
        name, entry = model["id"], entries[model["id"]]
        measures, values = dict(model["measures"]), dict(by_query.get(name, {}))
        if outsiders and name in outsiders.by_query:
            measures[EQUAL_OUTSIDER] = outsiders.outcome(name)
            values[EQUAL_OUTSIDER] = outsiders.by_query[name]
        notes = seen_note(entry.get("n_seen_queries", 0), entry.get("n_queries", 0))
        entrant = Entrant(name, entry["badge"], notes)
        scores.append(scores_of(entrant, measures, values, outsiders))
    return scores


@dataclass(frozen=True)
class Newcomer:
    """The scores of a run from outside on the public labels of a release.

    Attributes:
        results: by measure, "value" and "n_queries"; the entry of the equal-outsider AUC also
            names the models that it may be compared with.
        by_query: by measure, shape (n_queries,) in the order of the labels' queries.
    """

    results: dict[str, dict[str, Any]]
    by_query: dict[str, Floats]


def score_newcomer(
    judged: Judged, run: Run, measures: Sequence[str] | None = None, *, complete: bool = False
) -> Newcomer:
    """Score a run that is not a model of the release, as a submission to its site is.

    Args:
        judged: the release.
        run: with the release's names of images.
        measures: names; those of the release if None.
        complete: there is no more to rank than the pairs put to the judges.
    """
    [scored] = judged.score([run], measures, complete=complete)
    results: dict[str, dict[str, Any]] = {
        name: {"value": rounded(outcome.value), "n_queries": outcome.n_defined}
        for name, outcome in scored.outcomes.items()
    }
    by_query = {
        name: np.round(outcome.by_query, 12)
        for name, outcome in scored.outcomes.items()
        if outcome.by_query is not None
    }
    alone = replace(run, name=f"{SUBMITTED}: {run.name}")  # no model of a release is called so
    outsiders = equal_outsiders(judged.folder, [alone])
    if outsiders is not None:
        results[EQUAL_OUTSIDER] = outsiders.outcome(alone.name)
        by_query[EQUAL_OUTSIDER] = outsiders.by_query[alone.name]
    return Newcomer(results, by_query)


def scores_of(
    entrant: Entrant,
    measures: Mapping[str, Any],
    by_query: Mapping[str, Floats],
    outsiders: EqualOutsiders | None,
) -> ReleaseScores:
    """Return the scores of one model from its entry in results.json and its values by query."""
    outsider = measures.get(EQUAL_OUTSIDER)
    whom = {EQUAL_OUTSIDER: outsiders.whom_beside(outsider)} if outsiders and outsider else {}
    return ReleaseScores(
        entrant,
        {name: one.get("value") for name, one in measures.items()},
        {name: one.get("n_queries") for name, one in measures.items()},
        {name: (one["low"], one["high"]) for name, one in measures.items() if "low" in one},
        by_query,
        whom,
    )


def release_board(folder: Folder) -> Leaderboard:
    """Return the board of the release's own models under their ids."""
    outsiders = equal_outsiders(folder)
    columns = [(name, name) for name in board_measures(folder, outsiders)]
    return release_leaderboard(
        model_scores(folder, outsiders),
        columns,
        depth=pool_depth(folder),
        units=query_units(folder),
    )


def board_columns(folder: Folder) -> dict[str, list[Any]]:
    """Return the columns of the table board: a row for each measure and model."""
    board = release_board(folder)
    entries = {model["id"]: model for model in folder.models}
    order = {name: at for at, name in enumerate(entries)}
    lines = sorted(board.lines, key=lambda line: order[line.model.name])
    rows = [
        {"measure": column.name, "model_id": line.model.name}
        | {key: entries[line.model.name][key] for key in ("family", "badge")}
        | _cell_values(line.cells[at])
        for at, column in enumerate(board.columns)
        for line in lines
    ]
    return {name: [row[name] for row in rows] for name in BOARD.schema.names}


def _cell_values(cell: Cell) -> dict[str, Any]:
    return {
        "value": cell.value,
        **{key: None if end is None else rounded(end) for key, end in
           (("low", cell.low), ("high", cell.high))},
        "no_interval": cell.no_interval,
        "n_queries": cell.n_queries,
        "unit": cell.unit if cell.has_shared_units else "query",
        "n_units": cell.n_units,
        "comparable_with": cell.comparable_with,
        "reason": cell.reason,
        "letters": cell.letters,
    }  # fmt: skip

"""The results of a release: every measure of every model, from its labels and runs alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike.core.arrays import Bools, Floats
from lookalike.core.progress import SILENT, Progress
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import has_list, match_run
from lookalike.metrics.measures import BAND_AREAS, NEGATIVE_AREAS, RANDOM_AREAS, parse_measure
from lookalike.metrics.negatives import NegativeList
from lookalike.metrics.scoring import Scored, score_runs
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import FIRST_WITH_BOARD

MEASURES = (  # those of the results pages
    *("vsd_hr@5", "vsd_mrr@5", "vsd_hr@9", "vsd_mrr@9", "Success@1", "Success@5", "MRR@5"),
    *("P@5", "P_all@5", "P_max@5", "judged@5", "hole@5", "AP'"),
    *("macro_roc_auc", "micro_roc_auc", "macro_pr_auc", "micro_pr_auc"),
)
GRADED_MEASURES = ("nDCG@5", "nDCG@10")  # also, where pairs are graded
NEGATIVE_MEASURES = {"uniform": RANDOM_AREAS, "band": BAND_AREAS}
"""Areas on drawn negatives, by the kind of draw."""
FIRST_THAT_TELLS_LISTS = 3  # schema version
FIRST_THAT_KNOWS_ASKED = 4  # also of runs that score pairs without a label, asked all the same
DIGITS = 12  # what is written; the same on every machine
HIDDEN_STEP = 0.001  # of a mean over hidden labels, at least


def drawn_measures(kinds: Collection[str]) -> list[str]:
    """Return the areas on the kinds of negatives that were drawn."""
    return [name for kind, names in NEGATIVE_MEASURES.items() if kind in kinds for name in names]


@dataclass(frozen=True)
class Results:
    """Results of several models.

    Attributes:
        models: ids, in the order of models.json.
        query_ids: the queries with labels, ascending.
        measures: in order.
        values: by measure, shape (n_models, n_queries), for those that have values per query.
        summary: what results.json holds.
    """

    models: list[str]
    query_ids: tuple[str, ...]
    measures: list[str]
    values: dict[str, Floats]
    summary: dict[str, Any]


def compute_results(
    folder: Folder, qrels: Qrels | None = None, progress: Progress = SILENT
) -> Results:
    """Score every run of a release, one in memory at a time.

    A mean is over the queries that are defined for every model, as on the results pages; models
    for which a measure is not defined at all do not count.

    Args:
        folder: the release.
        qrels: other labels than the release's own.
        progress: told what is done now.
    """
    labels = folder.qrels() if qrels is None else qrels
    knows_asked = folder.info["schema_version"] >= FIRST_THAT_KNOWS_ASKED
    asked = folder.questions if knows_asked else None
    scored = []
    for model in folder.scored:
        progress.note(f"Scoring {model['name']}")
        run = folder.run(model["id"])
        if folder.info["schema_version"] < FIRST_WITH_BOARD:
            run = replace(run, depth=None)  # as its board was made
        is_upload = model["kind"] == "scores" and tells_lists(folder)
        is_listed = not is_upload or ranks_more(folder, labels, run, asked)
        bare = () if is_listed else (run.name,)
        scored += score_together(folder, labels, [run], without_list=bare)
    return combine_scores(folder, labels, scored)


def tells_lists(folder: Folder) -> bool:
    """Whether a release leaves out cut-off measures of runs that score judged pairs alone."""
    return bool(folder.info["schema_version"] >= FIRST_THAT_TELLS_LISTS)


def ranks_more(folder: Folder, labels: Qrels, run: Run, asked: Qrels | None = None) -> bool:
    """Whether a run ranks other candidates, too, than those that were labelled, or asked."""
    used = (labels,) if asked is None else (labels, asked)
    return has_list(*(match_run(pairs, run, products=folder.products) for pairs in used))


def score_together(
    folder: Folder,
    qrels: Qrels,
    runs: Sequence[Run],
    *,
    without_list: Collection[str] = (),
    measures: Sequence[str] | None = None,
    negatives: Mapping[str, NegativeList] | None = None,
) -> list[Scored]:
    """Score runs by the rules of a release; missing scores count as the worst.

    Areas on drawn negatives are undefined for a run without a score for each of them, and left out
    where none belongs to the labelled queries.

    Args:
        folder: the release.
        qrels: its labels, or others.
        runs: the scores; each mean is over the queries that are defined for all.
        without_list: names of runs that score judged pairs alone, which have no cut-off measures.
        measures: names; those of the release if None.
        negatives: lists by kind in place of the release's own.
    """
    wanted = [parse_measure(name) for name in measures or folder.info["measures"]]
    drawn = {}
    if any(measure.needs_negatives for measure in wanted):
        drawn = _of_queries({**folder.drawn_negatives(), **(negatives or {})}, qrels)
    if measures is None:
        left_out = {*NEGATIVE_AREAS} - {*drawn_measures(drawn)}
        wanted = [measure for measure in wanted if measure.family not in left_out]
    return score_runs(
        qrels,
        runs,
        wanted,
        products=folder.products,
        missing="worst",
        negatives=drawn.get("uniform"),
        band_negatives=drawn.get("band"),
        missing_negatives="undefined",
        without_list=without_list,
    )


def _of_queries(drawn: Mapping[str, NegativeList], qrels: Qrels) -> dict[str, NegativeList]:
    """Return the lists with the pairs of labelled queries alone, as far as there are any."""
    labelled = set(qrels.query_ids)
    kept = {
        kind: replace(one, pairs=tuple(pair for pair in one.pairs if pair[0] in labelled))
        for kind, one in drawn.items()
    }
    return {kind: one for kind, one in kept.items() if one.pairs}


def combine_scores(folder: Folder, qrels: Qrels, scored: Sequence[Scored]) -> Results:
    """Put the scores of single models together."""
    known = scored[0].outcomes if scored else folder.info["measures"]
    measures: list[str] = [name for name in folder.info["measures"] if name in known]
    values: dict[str, Floats] = {}
    for name in measures:
        rows = [run.outcomes[name].by_query for run in scored]
        if rows and all(row is not None for row in rows):
            values[name] = np.stack(rows)  # type: ignore[arg-type]
    has_rows: dict[str, Bools] = {
        name: np.asarray(~np.isnan(of).all(axis=1))
        if tells_lists(folder)
        else np.ones(len(of), np.bool_)
        for name, of in values.items()
    }
    models = [
        {
            "id": run.name,
            "coverage": {"n_pairs": run.coverage.n_pairs, "n_scored": run.coverage.n_scored},
            "measures": {
                name: _outcome(run, name, values.get(name), has_rows.get(name), row)
                for name in measures
            },
        }
        for row, run in enumerate(scored)
    ]
    summary = {"measures": measures, "n_queries": len(qrels.query_ids), "models": models}
    return Results([run.name for run in scored], qrels.query_ids, measures, values, summary)


def _outcome(
    scored: Scored, name: str, values: Floats | None, has_row: Bools | None, row: int
) -> dict[str, Any]:
    outcome = scored.outcomes[name]
    details = {key: rounded(value) for key, value in outcome.details.items()}
    if values is None or has_row is None:
        return {"value": rounded(outcome.value), "n_queries": outcome.n_defined, **details}
    is_common = ~np.isnan(values[has_row]).any(axis=0)
    n = int(is_common.sum()) if has_row[row] else 0
    mean = float(values[row, is_common].mean()) if n else math.nan
    return {"value": rounded(mean), "n_queries": n, **details}


def rounded(value: float) -> float | None:
    """Return a number as it is written, None where undefined."""
    return None if not math.isfinite(value) else round(float(value), DIGITS)


def coarse(value: float | None, n_queries: int) -> float | None:
    """Return a mean over hidden labels as it is shown: in steps of 2 / n, at least 0.001.

    A step is twice what one query can move the mean, so that a single label seldom shows. It can
    show where it carries the mean over the middle between two steps: what keeps people from
    asking for label after label is the number of submissions a day.

    Args:
        value: the mean, None where undefined.
        n_queries: that it is over.
    """
    exact = None if value is None else rounded(value)
    if exact is None:
        return None
    step = max(HIDDEN_STEP, 2 / max(n_queries, 1))
    return round(min(round(exact / step) * step, 1.0), DIGITS)


def result_columns(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the columns of the table results, one block for each model."""
    n, names = len(results.query_ids), list(results.values)
    for row, model in enumerate(results.models):
        yield {
            "model_id": [model] * (n * len(names)),
            "measure": [name for name in names for _ in range(n)],
            "query_id": list(results.query_ids) * len(names),
            "value": [
                rounded(value) for name in names for value in results.values[name][row].tolist()
            ],
        }

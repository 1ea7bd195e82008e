"""The leaderboard of a stored result: values, intervals, groups, and what may be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from catalog.charts import Axis, Chart
from evaluation.results.stored import MeasureValue, ModelScores, StoredResult, defined
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.words.advice import OUTSIDER_COLUMN, comparable_with
from lookalike.metrics.families import family_tests
from lookalike.metrics.leaderboard import (
    ALL,
    Cell,
    Entrant,
    Leaderboard,
    Measured,
    comparison_groups,
    make_leaderboard,
    seen_note,
)
from lookalike.metrics.measures import AREAS, parse_measure
from lookalike.metrics.scoring import MANY_TIES
from lookalike.metrics.uncertainty import order_probabilities
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.defined_values import common_queries
from lookalike.stats.intervals import LEAST_QUERIES, METHODS, WHAT_VARIES
from lookalike.stats.significance import PairedTest
from lookalike.stats.text_tables import PAGE

NO_LIST = "no list"

CUTOFFS = ("vsd_hr@5", "Success@5", "MRR@5", "P@5", "nDCG@5")
ANNOTATED = ("macro_roc_auc", "AP'")
COVERAGE = ("judged@5", "hole@5", "P@5", "P_all@5", "P_max@5")
NEGATIVES = tuple(f"{area}_{kind}" for kind in ("random", "band") for area in AREAS)
COLUMNS = (*CUTOFFS, *ANNOTATED, EQUAL_OUTSIDER)
_AREAS = {
    "macro_roc_auc": "ROC-AUC macro",
    "micro_roc_auc": "ROC-AUC micro",
    "macro_pr_auc": "PR-AUC macro",
    "micro_pr_auc": "PR-AUC micro",
}
_SHORT_AREAS = {name: title.replace("-AUC", "") for name, title in _AREAS.items()}
TITLES = {
    **_AREAS,
    **{f"{area}_random": f"{title}, uniform" for area, title in _AREAS.items()},
    **{f"{area}_band": f"{title}, band" for area, title in _AREAS.items()},
    "vsd_hr@5": "VSD HR@5",
    "vsd_mrr@5": "VSD MRR@5",
    "vsd_hr@9": "VSD HR@9",
    "vsd_mrr@9": "VSD MRR@9",
    "nDCG@5": "nDCG@5, linear gains",
    "P_all@5": "P@5, all queries",
    "P_max@5": "P@5 at most",
    "judged@5": "Judged@5",
    "hole@5": "Holes@5",
}
IN_PART = (
    "Dots are estimates, lines their intervals: they tell what another draw of queries and of the "
    "pairs judged would change. Overlapping lines are no test; what is claimed of the order stands "
    "on the page of rounds."
)
HEADINGS = {EQUAL_OUTSIDER: "Equal-outsider AUC", "AP'": "AP′", **TITLES}
BADGES = {"pooled": "badge-info", "sibling": "badge-warn", "outsider": ""}


def model_key(name: str) -> str:
    """Return what stands for a model in addresses: names hold slashes, colons, anything."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def leaderboard(result: StoredResult, by: str = "") -> Leaderboard:
    """Return the table, best first.

    Args:
        result: stored.
        by: a name of COLUMNS; otherwise `default_column`.
    """
    names = _columns(result)
    return _table(result, names, by if by in names else default_column(result))


def default_column(result: StoredResult) -> str:
    """Return the column that all models may be compared by.

    That is the equal-outsider AUC as soon as one of them is not pooled.
    """
    if known := result.summary.rounds:
        return known.measure
    names = _columns(result)
    is_mixed = any(model.badge != "pooled" for model in result.summary.models)
    return EQUAL_OUTSIDER if is_mixed and EQUAL_OUTSIDER in names else names[0]


def _columns(result: StoredResult) -> list[str]:
    measures: list[str] = list(result.row.settings["measures"])
    if result.summary.rounds:
        return measures  # those that have an estimate
    missing = {EQUAL_OUTSIDER} if not result.report else set()
    missing |= {*CUTOFFS} - {*measures}  # without grades, or products
    return [name for name in COLUMNS if name not in missing]


def coverage_table(result: StoredResult) -> Leaderboard:
    """Return how much of the top of each model’s lists is judged, the most first."""
    return _table(result, COVERAGE, COVERAGE[0])


def negatives_table(result: StoredResult) -> Leaderboard | None:
    """Return the areas on drawn negatives, the best first; None where none were drawn."""
    measures = result.row.settings["measures"]
    names = [name for name in NEGATIVES if name in measures]
    return _table(result, names, names[0]) if names else None


def negatives_groups(table: Leaderboard | None) -> list[tuple[str, list[str]]]:
    """Return the titles of the areas on drawn negatives under the kind of negatives."""
    kinds = (("Uniform negatives", "_random"), ("Negatives from a band of ranks", "_band"))
    names = [column.name for column in table.columns] if table else []
    groups = [
        (title, [_SHORT_AREAS[name.removesuffix(end)] for name in names if name.endswith(end)])
        for title, end in kinds
    ]
    return [(title, columns) for title, columns in groups if columns]


def corrected_lines(result: StoredResult) -> list[dict[str, Any]]:
    """Return the ROC areas on drawn negatives without the positives expected among these."""
    shares = {one.kind: one.contamination for one in result.summary.negatives}
    names = [
        f"{area}_{ending}"
        for kind, ending in (("uniform", "random"), ("band", "band"))
        if shares.get(kind) is not None
        for area in ("macro_roc_auc", "micro_roc_auc")
    ]
    if not names:
        return []
    return [
        {"name": model.name, "values": [(TITLES[n], model.detail(n, "corrected")) for n in names]}
        for model in result.summary.models
    ]


def _table(result: StoredResult, names: Sequence[str], by: str) -> Leaderboard:
    n_queries = result.summary.labels.n_queries
    has_pages = result.summary.rounds is None  # of models, with plain values of each query
    models = [
        Entrant(
            model.name,
            model.badge,
            _notes(model, n_queries),
            model_key(model.name) if has_pages else "",
        )
        for model in result.summary.models
    ]
    return make_leaderboard(
        models, [_column(result, name, is_sorted=name == by) for name in names], by
    )


def _notes(model: ModelScores, n_queries: int) -> list[str]:
    share = model.coverage.share
    notes = [] if share == 1 else [f"scores {PAGE.share(share)} of the labels"]
    notes += seen_note(model.n_seen_queries, n_queries)
    if model.tied > MANY_TIES:
        notes.append(f"equal scores at {PAGE.share(model.tied, 0)} of its cuts: names decide there")
    return notes if model.has_list else [*notes, NO_LIST]


def interval_chart(board: Leaderboard, method: str, *, in_part: bool = False) -> Chart | None:
    """Return the sorted column as dots with intervals, made by one of `METHODS`.

    None where no value of it is shown. A pool that is judged `in_part` has estimates.
    """
    at = board.sorted_at
    if all(line.cells[at].shown is None for line in board.lines):
        return None
    title = board.columns[at].title
    rows = [
        {"label": line.model.name, "badge": line.model.badge, "value": line.cells[at].shown,
         "low": line.cells[at].low, "high": line.cells[at].high}
        for line in board.lines
    ]  # fmt: skip
    return Chart(
        key="leaderboard-chart",
        kind="intervals",
        title=f"{title} with 95 % intervals",
        about=IN_PART
        if in_part
        else f"Dots are means over queries, lines their intervals ({METHODS[method]}). "
        f"{WHAT_VARIES} Overlapping lines are no test; the letters of the table are.",
        x=Axis(title),
        y=Axis("Model"),
        columns=[("label", "Model"), ("badge", "Badge"), ("value", title), ("low", "from"),
                 ("high", "to")],
        rows=rows,
    )  # fmt: skip


def area_lines(result: StoredResult) -> list[dict[str, Any]]:
    """Return micro ROC with its two parts, and PR areas with prevalence and gain."""
    return [
        {
            "name": model.name,
            "key": model_key(model.name),
            "micro_roc": model.value("micro_roc_auc"),
            "within": model.detail("micro_roc_auc", "within_queries"),
            "across": model.detail("micro_roc_auc", "across_queries"),
            "macro_pr": model.value("macro_pr_auc"),
            "macro_prevalence": model.detail("macro_pr_auc", "prevalence"),
            "macro_gain": model.detail("macro_pr_auc", "normalised_gain"),
            "micro_pr": model.value("micro_pr_auc"),
            "micro_prevalence": model.detail("micro_pr_auc", "prevalence"),
            "micro_gain": model.detail("micro_pr_auc", "normalised_gain"),
        }
        for model in sorted(result.summary.models, key=lambda m: _falling(m.value("micro_roc_auc")))
    ]


def share_within(result: StoredResult) -> float | None:
    """Return which part of all positive-negative pairs lies within one query."""
    shares = (model.detail("micro_roc_auc", "share_within") for model in result.summary.models)
    return next((share for share in shares if share is not None), None)


def _column(result: StoredResult, name: str, *, is_sorted: bool) -> Measured:
    cells = {}
    for model in result.summary.models:
        row = result.model_row(model.name)
        entry = _value(model, row, name)
        whom, reason = comparison(result, model.name, name)
        low, high = entry.ends
        cells[model.name] = Cell(
            value=entry.value,
            low=low,
            high=high,
            n_queries=entry.n_defined,
            n_units=entry.n_units,
            unit=result.summary.labels.unit,
            no_interval=entry.interval.reason if entry.interval else "",
            comparable_with=whom,
            reason=reason,
        )
    kept = _kept(result, name) if is_sorted else {}
    tests = family_tests(result.tests(name), comparison_groups(cells))
    return Measured(name, HEADINGS.get(name, name), cells, tests, kept)


def board_tests(result: StoredResult, measure: str) -> Sequence[PairedTest]:
    """Return the paired tests of a measure as the board corrects them."""
    return _column(result, measure, is_sorted=False).tests


def _kept(result: StoredResult, name: str) -> dict[tuple[str, str], float]:
    """Return how often a bootstrap of the queries keeps each two models in their order."""
    by_query = result.by_query.values.get(name)
    if by_query is None:
        return {}
    values = np.array(list(by_query.values()), np.float64)
    if np.count_nonzero(common_queries(values)) < LEAST_QUERIES:
        return {}
    settings = result.row.settings
    resampling = Resampling.of(
        values.shape[1],
        n_bootstraps=settings["n_bootstraps"],
        rng=np.random.default_rng([settings["seed"], 2]),
        units=result.units,
    )
    return order_probabilities(list(by_query), values, resampling)


def _value(model: ModelScores, row: ModelRow | None, name: str) -> MeasureValue:
    """Return one value of a model, from the summary or the report."""
    if name != EQUAL_OUTSIDER:
        return model.measures.get(name, MeasureValue(None))
    if row is None:
        return MeasureValue(None)
    column = row.equal_outsider_auc
    value, n_units = defined(column.value), column.n_units
    return MeasureValue(value, column.n_queries, column.interval, n_units=n_units)


def comparison(result: StoredResult, model: str, measure: str) -> tuple[str, str]:
    """Return with whom a model may be compared by a measure, and why."""
    row = result.model_row(model)
    if row is None or result.report is None:
        return ALL, ""
    if measure == EQUAL_OUTSIDER:
        advice = next(one for one in row.advice if one.column == OUTSIDER_COLUMN)
        return advice.comparable_with, advice.reason
    depth = max((one.depth for one in result.report.depths), default=0)
    k = parse_measure(measure).parameter or 0
    judged = next((c.judged for c in row.cutoffs if c.k >= k), None)
    return comparable_with(measure, row.badge, judged, depth)


def _falling(value: float | None) -> float:
    """Sort by falling value, the undefined last."""
    return float("inf") if value is None else -value

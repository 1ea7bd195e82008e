"""The leaderboard of a stored result: values, intervals, groups, and what may be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.results.charts import Axis, Chart
from evaluation.results.stored import MeasureValue, ModelScores, StoredResult, defined
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.words.advice import NOBODY, ColumnAdvice
from lookalike.metrics.uncertainty import ALPHA, significance_letters
from lookalike.stats.intervals import METHODS, WHAT_VARIES
from lookalike.stats.significance import PairedTest

EQUAL_OUTSIDER = "equal_outsider_auc"
CUTOFFS = ("vsd_hr@5", "Success@5", "MRR@5", "P@5")
ANNOTATED = ("macro_roc_auc", "AP'")
COVERAGE = ("judged@5", "hole@5", "P_max@5")
COLUMNS = (*CUTOFFS, *ANNOTATED, EQUAL_OUTSIDER)
TITLES = {
    "macro_roc_auc": "ROC-AUC macro",
    "micro_roc_auc": "ROC-AUC micro",
    "macro_pr_auc": "PR-AUC macro",
    "micro_pr_auc": "PR-AUC micro",
    "vsd_hr@5": "VSD HR@5",
    "vsd_mrr@5": "VSD MRR@5",
    "vsd_hr@9": "VSD HR@9",
    "vsd_mrr@9": "VSD MRR@9",
    "P_max@5": "P@5 at most",
    "judged@5": "Judged@5",
    "hole@5": "Holes@5",
}
HEADINGS = {EQUAL_OUTSIDER: "Equal-outsider AUC", "AP'": "AP′", **TITLES}
BADGES = {"pooled": "badge-info", "sibling": "badge-warn", "outsider": ""}
ADVICE_COLUMN = {
    **dict.fromkeys(CUTOFFS, "P@k, Success@k, MRR@k"),
    **dict.fromkeys(ANNOTATED, "annotated AUC and AP"),
    EQUAL_OUTSIDER: "equal-outsider AUC",
}


def model_key(name: str) -> str:
    """Return what stands for a model in addresses: names hold slashes, colons, anything."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Cell:
    """One value of one model.

    Attributes:
        value, low, high: the mean and the ends of its interval, None if undefined.
        n_queries: how many queries the mean is over.
        letters: models that share a letter in this column are not told apart.
        comparable_with: whose values this one may be held against; "" if nothing is known.
        reason: why.
        is_best: whether it is the highest of the column.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n_queries: int | None = None
    letters: str = ""
    comparable_with: str = ""
    reason: str = ""
    is_best: bool = False

    @property
    def is_alone(self) -> bool:
        """Whether it may be held against nobody's value."""
        return self.comparable_with == NOBODY


@dataclass(frozen=True)
class Line:
    """One model."""

    model: ModelScores
    key: str
    badge_class: str
    cells: list[Cell]


@dataclass(frozen=True)
class Column:
    """One measure and the address that sorts by it."""

    name: str
    title: str
    is_sorted: bool


@dataclass(frozen=True)
class Leaderboard:
    """The table of a results page."""

    columns: list[Column]
    lines: list[Line]
    sorted_by: str
    has_groups: bool

    @property
    def badges(self) -> set[str]:
        """The badges that occur."""
        return {line.model.badge for line in self.lines}

    @property
    def without_list(self) -> list[str]:
        """The models that score labelled pairs alone."""
        return [line.model.name for line in self.lines if not line.model.has_list]


def leaderboard(result: StoredResult, by: str = "") -> Leaderboard:
    """Return the table, best first.

    Args:
        result: stored.
        by: a name of COLUMNS; otherwise the column that all models may be compared by, which
            is the equal-outsider AUC as soon as one of them is not pooled.
    """
    names = [name for name in COLUMNS if name != EQUAL_OUTSIDER or result.report]
    if by not in names:
        is_mixed = any(model.badge != "pooled" for model in result.summary.models)
        by = EQUAL_OUTSIDER if is_mixed and EQUAL_OUTSIDER in names else names[0]
    return _table(result, names, by)


def coverage_table(result: StoredResult) -> Leaderboard:
    """Return how much of the top of each model’s lists is judged, the most first."""
    return _table(result, COVERAGE, COVERAGE[0])


def _table(result: StoredResult, names: Sequence[str], by: str) -> Leaderboard:
    cells = {name: _column(result, name) for name in names}
    lines = [
        Line(model, model_key(model.name), BADGES.get(model.badge, ""), list(row))
        for model, *row in zip(result.summary.models, *cells.values(), strict=True)
    ]
    lines.sort(key=lambda line: _falling(line.cells[names.index(by)].value))
    columns = [Column(name, HEADINGS.get(name, name), name == by) for name in names]
    return Leaderboard(columns, lines, by, any(c.letters for line in lines for c in line.cells))


def interval_chart(board: Leaderboard, method: str) -> Chart:
    """Return the sorted column as dots with intervals, made by one of `METHODS`."""
    at = next(place for place, column in enumerate(board.columns) if column.is_sorted)
    title = board.columns[at].title
    rows = [
        {"label": line.model.name, "badge": line.model.badge, "value": line.cells[at].value,
         "low": line.cells[at].low, "high": line.cells[at].high}
        for line in board.lines
    ]  # fmt: skip
    return Chart(
        key="leaderboard-chart",
        kind="intervals",
        title=f"{title} with 95 % intervals",
        about=f"Dots are means over queries, lines their intervals ({METHODS[method]}). "
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


def _column(result: StoredResult, name: str) -> list[Cell]:
    models = result.summary.models
    rows = [result.model_row(model.name) for model in models]
    values = [_value(model, row, name) for model, row in zip(models, rows, strict=True)]
    best = max((entry.value for entry in values if entry.value is not None), default=None)
    letters = _letters(
        result.tests(name), {m.name: v.value for m, v in zip(models, values, strict=True)}
    )
    cells = []
    for model, row, entry in zip(models, rows, values, strict=True):
        advice = _advice(row, name)
        low, high = entry.ends
        cells.append(
            Cell(
                value=entry.value,
                low=low,
                high=high,
                n_queries=entry.n_defined,
                letters=letters.get(model.name, ""),
                comparable_with=advice.comparable_with if advice else "",
                reason=advice.reason if advice else "",
                is_best=entry.value is not None and entry.value == best,
            )
        )
    return cells


def _value(model: ModelScores, row: ModelRow | None, name: str) -> MeasureValue:
    """Return one value of a model, from the summary or the report."""
    if name != EQUAL_OUTSIDER:
        return model.measures.get(name, MeasureValue(None))
    if row is None:
        return MeasureValue(None)
    column = row.equal_outsider_auc
    return MeasureValue(defined(column.value), column.n_queries, column.interval)


def _letters(tests: Sequence[PairedTest], values: Mapping[str, float | None]) -> dict[str, str]:
    if not tests:
        return {}
    ranked = sorted(values, key=lambda model: _falling(values[model]))
    order = [model for model in ranked if values[model] is not None]
    differs = {(test.first, test.second): test.p_holm < ALPHA for test in tests}
    return significance_letters(order, differs)


def _advice(row: ModelRow | None, name: str) -> ColumnAdvice | None:
    entries = row.advice if row else ()
    return next((entry for entry in entries if entry.column == ADVICE_COLUMN.get(name)), None)


def _falling(value: float | None) -> float:
    """Sort by falling value, the undefined last."""
    return float("inf") if value is None else -value

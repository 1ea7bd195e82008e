"""The leaderboard of a stored result: values, intervals, groups, and what may be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.models import Result
from evaluation.results.charts import Axis, Chart
from evaluation.results.presentation import BADGES, TITLES
from lookalike.bias.advice import NOBODY
from lookalike.metrics.uncertainty import ALPHA, significance_letters

EQUAL_OUTSIDER = "equal_outsider_auc"
CUTOFFS = ("vsd_hr@5", "Success@5", "MRR@5", "P@5")
ANNOTATED = ("macro_roc_auc", "AP'")
COLUMNS = (*CUTOFFS, *ANNOTATED, EQUAL_OUTSIDER)
HEADINGS = {EQUAL_OUTSIDER: "Equal-outsider AUC", "AP'": "AP′", **TITLES}
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

    name: str
    key: str
    family: str
    badge: str
    badge_class: str
    share_scored: float
    has_list: bool
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
        return {line.badge for line in self.lines}

    @property
    def without_list(self) -> list[str]:
        """The models that score labelled pairs alone."""
        return [line.name for line in self.lines if not line.has_list]


def leaderboard(result: Result, by: str = "") -> Leaderboard:
    """Return the table, best first.

    Args:
        result: stored.
        by: a name of COLUMNS; otherwise the column that all models may be compared by, which
            is the equal-outsider AUC as soon as one of them is not pooled.
    """
    models = result.summary["models"]
    names = [name for name in COLUMNS if name != EQUAL_OUTSIDER or result.bias]
    if by not in names:
        mixed = any(model["badge"] != "pooled" for model in models)
        by = EQUAL_OUTSIDER if mixed and EQUAL_OUTSIDER in names else names[0]
    cells = {name: _column(result, name) for name in names}
    order = sorted(range(len(models)), key=lambda m: _falling(cells[by][m].value))
    lines = [
        Line(
            name=models[m]["name"],
            key=model_key(models[m]["name"]),
            family=models[m]["family"],
            badge=models[m]["badge"],
            badge_class=BADGES.get(models[m]["badge"], ""),
            share_scored=_share(models[m]["coverage"]),
            has_list=models[m].get("has_list", True),
            cells=[cells[name][m] for name in names],
        )
        for m in order
    ]
    columns = [Column(name, HEADINGS.get(name, name), name == by) for name in names]
    return Leaderboard(columns, lines, by, any(c.letters for line in lines for c in line.cells))


def interval_chart(board: Leaderboard) -> Chart:
    """Return the sorted column as dots with intervals."""
    at = next(place for place, column in enumerate(board.columns) if column.is_sorted)
    title = board.columns[at].title
    rows = [
        {"label": line.name, "badge": line.badge, "value": line.cells[at].value,
         "low": line.cells[at].low, "high": line.cells[at].high}
        for line in board.lines
    ]  # fmt: skip
    return Chart(
        key="leaderboard-chart",
        kind="intervals",
        title=f"{title} with 95 % intervals",
        about="Dots are means over queries, lines their bootstrap intervals over queries. "
        "Overlapping lines are no test; the letters of the table are.",
        x=Axis(title),
        y=Axis("Model"),
        columns=[("label", "Model"), ("badge", "Badge"), ("value", title), ("low", "from"),
                 ("high", "to")],
        rows=rows,
    )  # fmt: skip


@dataclass(frozen=True)
class AreaLine:
    """The areas of one model with what must be read beside them."""

    name: str
    key: str
    micro_roc: float | None
    within: float | None
    across: float | None
    macro_pr: float | None
    macro_prevalence: float | None
    macro_gain: float | None
    micro_pr: float | None
    micro_prevalence: float | None
    micro_gain: float | None


def area_lines(result: Result) -> list[AreaLine]:
    """Return micro ROC with its two parts, and PR areas with prevalence and gain."""
    lines = []
    for model in result.summary["models"]:
        found = model["measures"]
        micro, macro_pr, micro_pr = (
            found.get(name, {}) for name in ("micro_roc_auc", "macro_pr_auc", "micro_pr_auc")
        )
        lines.append(
            AreaLine(
                model["name"], model_key(model["name"]), micro.get("value"),
                micro.get("within_queries"), micro.get("across_queries"),
                macro_pr.get("value"), macro_pr.get("prevalence"),
                macro_pr.get("normalised_gain"), micro_pr.get("value"),
                micro_pr.get("prevalence"), micro_pr.get("normalised_gain"),
            )
        )  # fmt: skip
    return sorted(lines, key=lambda line: _falling(line.micro_roc))


def share_within(result: Result) -> float | None:
    """Return which part of all positive-negative pairs lies within one query."""
    for model in result.summary["models"]:
        share = model["measures"].get("micro_roc_auc", {}).get("share_within")
        if share is not None:
            return float(share)
    return None


def stored_tests(result: Result, measure: str) -> list[dict[str, Any]]:
    """Return the stored paired tests of a measure, none if it was not tested."""
    if measure == EQUAL_OUTSIDER:
        stored = result.bias.get("tests", [])
    else:
        stored = result.summary.get("tests", [])
    return next((entry["tests"] for entry in stored if entry["measure"] == measure), [])


def _column(result: Result, name: str) -> list[Cell]:
    models = result.summary["models"]
    rows = {row["name"]: row for row in result.bias.get("model_rows", [])}
    found = [_value(model, rows.get(model["name"]), name) for model in models]
    known = [entry["value"] for entry in found if entry["value"] is not None]
    letters = _letters(
        result, name, [(m["name"], f["value"]) for m, f in zip(models, found, strict=True)]
    )
    cells = []
    for model, entry in zip(models, found, strict=True):
        advice = _advice(rows.get(model["name"]), name)
        cells.append(
            Cell(
                value=entry["value"],
                low=(entry.get("interval") or {}).get("low"),
                high=(entry.get("interval") or {}).get("high"),
                n_queries=entry.get("n_defined"),
                letters=letters.get(model["name"], ""),
                comparable_with=advice.get("comparable_with", ""),
                reason=advice.get("reason", ""),
                is_best=entry["value"] is not None and entry["value"] == max(known),
            )
        )
    return cells


def _value(model: Mapping[str, Any], row: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    """Return {value, interval, n_defined} of one measure, from the summary or the report."""
    if name != EQUAL_OUTSIDER:
        return dict(model["measures"].get(name) or {"value": None})
    if row is None:
        return {"value": None}
    column = row["equal_outsider_auc"]
    return {**column, "n_defined": column["n_queries"]}


def _letters(
    result: Result, name: str, values: Sequence[tuple[str, float | None]]
) -> dict[str, str]:
    tests = stored_tests(result, name)
    if not tests:
        return {}
    ranked = sorted(values, key=lambda pair: _falling(pair[1]))
    order = [model for model, value in ranked if value is not None]
    differs = {
        (test["first"], test["second"]): test["p_holm"] is not None and test["p_holm"] < ALPHA
        for test in tests
    }
    return significance_letters(order, differs)


def _advice(row: Mapping[str, Any] | None, name: str) -> Mapping[str, str]:
    wanted = ADVICE_COLUMN[name]
    entries = row["advice"] if row else []
    return next((entry for entry in entries if entry["column"] == wanted), {})


def _falling(value: float | None) -> float:
    """Sort by falling value, the undefined last."""
    return float("inf") if value is None else -value


def _share(coverage: Mapping[str, int]) -> float:
    return coverage["n_scored"] / coverage["n_pairs"] if coverage["n_pairs"] else 0.0

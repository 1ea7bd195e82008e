"""Stored results as tables for pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.models import Result
from lookalike.bias.measurements import MACRO_AUC

RANKED = ("vsd_hr@5", "vsd_mrr@5", "vsd_hr@9", "vsd_mrr@9", "Success@5", "MRR@5", "P@5")
AREAS = ("macro_roc_auc", "micro_roc_auc", "macro_pr_auc", "micro_pr_auc")
COVERAGE = ("judged@5", "hole@5", "P_max@5")
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
BADGES = {"pooled": "badge-info", "sibling": "badge-warn", "outsider": ""}


@dataclass(frozen=True)
class Cell:
    """A value with the number of queries that it is the mean of."""

    value: float | None
    n_defined: int | None
    is_best: bool = False


@dataclass(frozen=True)
class ModelLine:
    """One model's row in a table."""

    name: str
    badge: str
    badge_class: str
    cells: list[Cell]


@dataclass(frozen=True)
class MeasureTable:
    """Some measures of every model."""

    titles: list[str]
    lines: list[ModelLine]


def measure_table(result: Result, measures: Sequence[str]) -> MeasureTable:
    """Return the measures of all models, the best first by the last result of the first measure."""
    models = result.summary["models"]
    best = {name: _best(models, name) for name in measures}
    lines = [
        ModelLine(
            model["name"],
            model["badge"],
            BADGES.get(model["badge"], ""),
            [_cell(model["measures"].get(name), best[name]) for name in measures],
        )
        for model in models
    ]
    lines.sort(key=lambda line: -(line.cells[0].value or 0.0))
    return MeasureTable([TITLES.get(name, name) for name in measures], lines)


def _best(models: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [model["measures"].get(name, {}).get("value") for model in models]
    known = [value for value in values if value is not None]
    return max(known) if known else None


def _cell(found: dict[str, Any] | None, best: float | None) -> Cell:
    if found is None:
        return Cell(None, None)
    value = found["value"]
    return Cell(value, found["n_defined"], value is not None and value == best)


@dataclass(frozen=True)
class MeasureLine:
    """One measure of one model."""

    title: str
    value: float | None
    low: float | None
    high: float | None
    n_queries: int | None


def measure_lines(model: dict[str, Any]) -> list[MeasureLine]:
    """Return every stored measure of a model."""
    lines = []
    for name, found in model["measures"].items():
        ends = found.get("interval") or {}
        title = TITLES.get(name, name)
        lines.append(
            MeasureLine(
                title, found["value"], ends.get("low"), ends.get("high"), found["n_defined"]
            )
        )
    return lines


@dataclass(frozen=True)
class LeaveOneOutLine:
    """What leaving one model out of the pool does."""

    name: str
    n_pairs: int
    n_lost: int
    n_positive: int
    auc_before: float | None
    auc_after: float | None
    auc_delta: float | None
    rank_before: int | None
    rank_after: int | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    p: float | None


def leave_one_out(result: Result, kind: str = "uniques") -> list[LeaveOneOutLine]:
    """Return the leave-one-out table of macro ROC-AUC; empty without a pool."""
    if not result.bias:
        return []
    n_all = result.bias["pool"]["n_judged"]
    return [
        _leave_out_line(entry, n_all) for entry in result.bias["leave_out"] if entry["kind"] == kind
    ]


def _of_macro_auc(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return next((entry for entry in entries if entry["measure"] == MACRO_AUC), {})


def _leave_out_line(entry: dict[str, Any], n_all: int) -> LeaveOneOutLine:
    agreement = _of_macro_auc(entry["agreement"])
    own = _of_macro_auc(entry["self_deltas"])
    spearman = agreement.get("spearman", {})
    interval = spearman.get("interval") or {}
    return LeaveOneOutLine(
        name=entry["name"],
        n_pairs=entry["n_pairs"],
        n_lost=n_all - entry["n_pairs"],
        n_positive=entry["n_positive"],
        auc_before=own.get("before"),
        auc_after=own.get("after"),
        auc_delta=(own.get("delta") or {}).get("value"),
        rank_before=own.get("rank_before"),
        rank_after=own.get("rank_after"),
        spearman=spearman.get("value"),
        spearman_low=interval.get("low"),
        spearman_high=interval.get("high"),
        p=(agreement.get("p") or {}).get("value"),
    )

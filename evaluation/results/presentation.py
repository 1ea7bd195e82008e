"""Stored results as tables for pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.results.stored import MeasureValue, ModelScores, StoredResult

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


def measure_table(result: StoredResult, measures: Sequence[str]) -> MeasureTable:
    """Return some measures of all models, the best by the first measure first."""
    models = result.summary.models
    best = {name: max(_known(model.value(name) for model in models), default=None)
            for name in measures}  # fmt: skip
    lines = [
        ModelLine(
            model.name,
            model.badge,
            BADGES.get(model.badge, ""),
            [_cell(model.measures.get(name), best[name]) for name in measures],
        )
        for model in models
    ]
    lines.sort(key=lambda line: -(line.cells[0].value or 0.0))
    return MeasureTable([TITLES.get(name, name) for name in measures], lines)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _cell(stored: MeasureValue | None, best: float | None) -> Cell:
    if stored is None:
        return Cell(None, None)
    is_best = stored.value is not None and stored.value == best
    return Cell(stored.value, stored.n_defined, is_best)


@dataclass(frozen=True)
class MeasureLine:
    """One measure of one model."""

    title: str
    value: float | None
    low: float | None
    high: float | None
    n_queries: int | None


def measure_lines(model: ModelScores) -> list[MeasureLine]:
    """Return every stored measure of a model."""
    return [
        MeasureLine(TITLES.get(name, name), stored.value, *stored.ends, stored.n_defined)
        for name, stored in model.measures.items()
    ]

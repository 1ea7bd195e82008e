"""What the page of one model, and that of two models, show of a stored result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.charts import Axis, Chart
from evaluation.model_pages.query_rows import QueryRow, query_rows
from evaluation.results.details import Details
from evaluation.results.leaderboard import HEADINGS, board_tests, model_key
from evaluation.results.stored import ModelScores, StoredResult
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.overlap import GeneratorRow
from lookalike.core.arrays import Floats
from lookalike.metrics.curves import precision_recall_points, roc_points, thinned
from lookalike.stats.significance import PairedTest

PER_QUERY = (
    *("vsd_hr@5", "Success@5", "MRR@5", "P@5", "nDCG@5", "AP'", "macro_roc_auc"),
    EQUAL_OUTSIDER,
)
N_SHOWN = 6
N_BINS = 20


def find_model(result: StoredResult, key: str) -> ModelScores | None:
    """Return the scores of the model with this key."""
    return next((m for m in result.summary.models if model_key(m.name) == key), None)


def generator_row(result: StoredResult, name: str) -> GeneratorRow | None:
    """Return what a model brought to the pool, None if it did not build it."""
    rows = result.report.generators if result.report else ()
    return next((row for row in rows if row.name == name), None)


def measures_by_query(result: StoredResult) -> list[tuple[str, str]]:
    """Return (name, title) of the measures with a value per query."""
    stored = result.by_query.values
    return [(name, HEADINGS.get(name, name)) for name in PER_QUERY if name in stored]


def values_of(result: StoredResult, measure: str, name: str) -> Floats:
    """Return a model's value per query, NaN where undefined."""
    return np.array(result.by_query.values[measure][name], np.float64)


def curves(details: Details, name: str) -> list[Chart]:
    """Return the ROC and the precision-recall curve over all labelled pairs at once."""
    scores = details.scores[details.place(name)]
    kept = ~np.isnan(scores)
    scores, labels = scores[kept], details.labels[kept]
    prevalence = float(labels.mean()) if labels.size else 0.0
    roc, pr = thinned(roc_points(scores, labels)), thinned(precision_recall_points(scores, labels))
    unit = (0.0, 1.0)
    return [
        Chart(
            key="roc",
            kind="lines",
            title="ROC curve, all pairs at once",
            about="The dotted diagonal is what chance reaches. Pairs of different queries are "
            "compared too, so this also asks whether scores mean the same in every query.",
            x=Axis("Share of different pairs above the threshold", unit),
            y=Axis("Share of similar pairs above it", unit),
            columns=[("x", "False positive rate"), ("y", "True positive rate")],
            rows=_xy(roc),
            square=True,
            guide=[{"x": 0, "y": 0}, {"x": 1, "y": 1}],
        ),
        Chart(
            key="precision-recall",
            kind="lines",
            title="Precision and recall, all pairs at once",
            about="The dotted line is the share of similar pairs among the labels, which a "
            f"constant scorer reaches: {prevalence:.3f}.",
            x=Axis("Recall", unit),
            y=Axis("Precision", unit),
            columns=[("x", "Recall"), ("y", "Precision")],
            rows=_xy(pr),
            square=True,
            guide=[{"x": 0, "y": prevalence}, {"x": 1, "y": prevalence}],
        ),
    ]


def _xy(points: Floats) -> list[dict[str, float]]:
    return [{"x": x, "y": y} for x, y in points.tolist()]


def distribution(values: Floats, title: str) -> Chart:
    """Return how the queries are spread over the values of a measure."""
    defined = values[~np.isnan(values)]
    counts, edges = np.histogram(defined, bins=N_BINS, range=(0.0, 1.0))
    rows = [
        {"x1": low, "x2": high, "y": int(n), "bin": f"{low:.2f} to {high:.2f}"}
        for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), counts, strict=True)
    ]
    return Chart(
        key="distribution",
        kind="histogram",
        title=f"{title} per query",
        about=f"{defined.size} queries with a defined value; {values.size - defined.size} without "
        "one are left out.",
        x=Axis(title, (0.0, 1.0)),
        y=Axis("Queries"),
        columns=[("bin", title), ("y", "Queries")],
        rows=rows,
    )


def extremes(
    details: Details, name: str, values: Floats
) -> tuple[list[QueryRow], list[QueryRow]]:  # fmt: skip
    """Return a model's worst and best queries; a query is in one of the lists at most."""
    order = _by_value(values)
    worst = order[:N_SHOWN]
    best = [q for q in reversed(order) if q not in worst][:N_SHOWN]
    place = [details.place(name)]
    listed = [values.tolist()]
    return query_rows(details, worst, place, listed), query_rows(details, best, place, listed)


def _by_value(values: Floats) -> list[int]:
    defined = np.flatnonzero(~np.isnan(values))
    order: list[int] = defined[np.argsort(values[defined], kind="stable")].tolist()
    return order


@dataclass(frozen=True)
class DifferenceCounts:
    """On how many queries the first of two models does better, worse, and as well."""

    won: int
    lost: int
    equal: int

    @property
    def n(self) -> int:
        """Queries that both are defined on."""
        return self.won + self.lost + self.equal


def count_differences(differences: Floats) -> DifferenceCounts:
    """Count per-query differences; NaN where a model is undefined."""
    won, lost, equal = (differences > 0).sum(), (differences < 0).sum(), (differences == 0).sum()
    return DifferenceCounts(int(won), int(lost), int(equal))


def difference_chart(first: str, second: str, differences: Floats, title: str) -> Chart:
    """Return the per-query differences of two models, the largest first."""
    ordered = -np.sort(-differences[~np.isnan(differences)])
    return Chart(
        key="differences",
        kind="differences",
        title=f"{title}: {first} less {second}, query by query",
        about=f"A bar for each query: above zero {first} does better, below zero {second}.",
        x=Axis("Queries by difference", whole=True),
        y=Axis("Difference"),
        columns=[("x", "Place"), ("y", "Difference")],
        rows=[{"x": place, "y": value} for place, value in enumerate(ordered.tolist(), 1)],
    )


def largest_differences(
    details: Details, names: Sequence[str], values: Sequence[Floats]
) -> tuple[list[QueryRow], list[QueryRow]]:
    """Return the queries that the first model does much better, and those the second does."""
    differences = values[0] - values[1]
    order = _by_value(differences)
    lost = [q for q in order if differences[q] < 0][:N_SHOWN]
    won = [q for q in reversed(order) if differences[q] > 0][:N_SHOWN]
    places = [details.place(name) for name in names]
    listed = [row.tolist() for row in values]
    return query_rows(details, won, places, listed), query_rows(details, lost, places, listed)


def paired_test(result: StoredResult, measure: str, first: str, second: str) -> PairedTest | None:
    """Return the board's test of two models, its difference as first less second."""
    for test in board_tests(result, measure):
        if (test.first, test.second) == (first, second):
            return test
        if (test.first, test.second) == (second, first):
            return replace(
                test,
                first=first,
                second=second,
                difference=-test.difference,
                effect_size=-test.effect_size,
                interval=replace(test.interval, low=-test.interval.high, high=-test.interval.low),
            )
    return None

"""The page about a pool's bias: what its template shows of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from evaluation.bias_report.charts import (
    attribute_charts,
    depth_charts,
    fair_auc_chart,
    overlap_chart,
    panel_charts,
    self_delta_chart,
)
from lookalike.bias.judge_noise import judge_words
from lookalike.bias.report import BiasReport
from lookalike.bias.subsets import CONTRIBUTIONS, FAMILY, UNIQUES
from lookalike.bias.words.tables import (
    ATTRIBUTES,
    GENERATORS,
    JUDGED_ORDER,
    NEIGHBOURS,
    TESTS,
    Column,
    leave_out_columns,
    page_table,
    paper_columns,
)
from lookalike.core.dataclass_json import as_json

Row = TypeVar("Row")
MEANINGS = {
    UNIQUES: "Meaning “uniques”: the pairs that no other model proposed lose their label.",
    CONTRIBUTIONS: "Meaning “contributions”: all pairs that the model proposed lose theirs.",
    FAMILY: "The whole family at once, since relatives cover for each other.",
}


@dataclass(frozen=True)
class Table:
    """A table of words and numbers that are ready to be shown.

    Attributes:
        key: unique on the page.
        title, about: what it shows and how to read it.
        columns: titles; the first column names the row.
        rows: cells.
        headings: (title, how many columns) above the columns; none by default.
    """

    key: str
    title: str
    about: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    headings: Sequence[tuple[str, int]] = ()


def bias_context(report: BiasReport) -> dict[str, Any]:
    """Return what the template of the page shows."""
    charts = [self_delta_chart(report, kind) for kind in MEANINGS]
    return {
        "pool": as_json(report.pool),
        "findings": report.findings,
        "fair_auc": fair_auc_chart(report),
        "overlap": overlap_chart(report),
        "self_deltas": [chart for chart in charts if chart],
        "leave_out": [leave_out_table(report, kind) for kind in MEANINGS],
        "generators": _table(
            "brought",
            "What each model brought",
            "A model whose own finds are mostly different adds negatives that count against "
            "itself alone.",
            GENERATORS,
            report.generators,
        ),
        "depths": depth_charts(report),
        "panels": panel_charts(report),
        "unseen": as_json(report.discovery.next_model),
        "next_depth": as_json(report.discovery.next_depth),
        "attributes": list(attribute_charts(report)),
        "same_as_query": _table(
            "same-as-query",
            "Candidates with the query’s own value",
            "A share near 100 % among the similar ones where the catalog’s is low says that the "
            "pool can hardly judge a model that looks at other cues.",
            ATTRIBUTES,
            report.attributes,
        )
        if report.attributes
        else None,
        "order": _table(
            "neighbours",
            "How sure the order of neighbours is",
            "Share of bootstrap samples of the queries in which the better model stays above, by "
            "macro ROC-AUC. About 50 % is a coin toss.",
            NEIGHBOURS,
            report.order,
        ),
        "judged_order": judged_order_table(report),
        "power": _table(
            "power",
            "What the measures tell apart",
            "Share of the pairs of models with p below 5 % in the paired sign-flip test. Choose a "
            "measure or cut-off by it, not by taste. Holm’s correction is over the pairs of "
            "one measure: of several, expect the one that tells most apart by chance, too.",
            TESTS,
            report.tests,
        ),
        "paper": [paper_table(report, kind) for kind in (UNIQUES, CONTRIBUTIONS)],
    }


def judged_order_table(report: BiasReport) -> Table | None:
    """Return the order in view of who judged; None of reports that do not tell."""
    if report.judges is None:
        return None
    return _table(
        "judged-order",
        "Had others judged",
        judge_words(report.judges),
        JUDGED_ORDER,
        report.judges.rows,
    )


def leave_out_table(report: BiasReport, kind: str) -> Table:
    """Return what leaving a model or family out does to the order of all models."""
    title = "family out" if kind == FAMILY else f"model out: {kind}"
    return _table(
        f"order-{kind}",
        f"Order of all models, leaving one {title}",
        f"{MEANINGS[kind]} Correlations with the order on all labels by macro ROC-AUC; p is exact "
        "for few models. No interval stands beside them, because none that we tried covers.",
        leave_out_columns(report.pool.n_judged),
        [entry for entry in report.leave_out if entry.kind == kind],
    )


def paper_table(report: BiasReport, kind: str) -> Table:
    """Return Table 3 of the VSD paper on this pool."""
    return _table(
        f"paper-{kind}",
        f"As the VSD paper prints it: {kind}",
        "AUC averaged over the label sets that leave one model out (SC: Spearman with the order "
        "on all labels, among pooled models). Its p-values use the t approximation, which does "
        "not hold for so few models; the exact one stands beside it.",
        paper_columns(),
        report.paper[kind],
        headings=(("", 1), ("micro", 4), ("macro", 4)),
    )


def _table(
    key: str,
    title: str,
    about: str,
    columns: Sequence[Column[Row]],
    rows: Iterable[Row],
    *,
    headings: Sequence[tuple[str, int]] = (),
) -> Table:
    return Table(key, title, about, *page_table(columns, rows), headings)

"""The charts of the page about a pool's bias, from the stored report."""

from __future__ import annotations

import math
from collections.abc import Iterator

from catalog.charts import Axis, Chart
from lookalike.bias.comparison import Estimate
from lookalike.bias.measurements import MACRO_AUC
from lookalike.bias.model_rows import MacroColumn, ModelRow
from lookalike.bias.report import BiasReport
from lookalike.bias.words.tables import agreement_on_auc
from lookalike.stats.intervals import WHAT_VARIES

MOST_VALUES = 12
KINDS = {
    "uniques": "labels that it alone brought taken away",
    "contributions": "labels of everything it proposed taken away",
    "family": "labels that its family alone brought taken away",
}


def overlap_chart(report: BiasReport) -> Chart | None:
    """Return the overlap of every two generators; None with fewer than two."""
    names, share = report.overlap.generators, report.overlap.share
    if len(names) < 2:
        return None
    rows = [
        {"row": a, "column": b, "value": share[i][j]}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
    ]
    return Chart(
        key="overlap",
        kind="heat",
        title="Overlap of the models’ proposals",
        about="Percent of the proposals of one model that the other made too. Models that "
        "propose the same images find the same mistakes, and leave the same things out.",
        x=Axis("Model"),
        y=Axis("Model"),
        columns=[("row", "Model"), ("column", "Other model"), ("value", "Share in common")],
        rows=rows,
    )


def self_delta_chart(report: BiasReport, kind: str) -> Chart | None:
    """Return what leaving a model (or its family) out does to its own values."""
    shown = _shown_measures(report)
    deltas = [
        own
        for entry in report.leave_out
        if entry.kind == kind
        for own in entry.self_deltas
        if own.measure in shown
    ]
    if all(math.isnan(own.delta.value) for own in deltas):
        return None
    rows = [
        {"label": own.model, "series": shown[own.measure], **_estimate(own.delta),
         "before": own.before, "after": own.after,
         "rank_before": own.rank_before, "rank_after": own.rank_after}
        for own in deltas
    ]  # fmt: skip
    what = "family" if kind == "family" else "model"
    return Chart(
        key=f"self-{kind}",
        kind="intervals",
        title=f"A model without its {'family’s' if what == 'family' else 'own'} proposals: {kind}",
        about=f"Change of the left-out model’s own value, {KINDS[kind]}. Right of zero: taking "
        "part in the pool cost it that much. Left of zero: a newcomer like it would be punished. A "
        f"line across zero says neither. {WHAT_VARIES}",
        x=Axis("Change of its own value", rule=0.0),
        y=Axis("Left out"),
        columns=[("label", "Left out"), ("series", "Measure"), ("before", "with"),
                 ("after", "without"), ("value", "Change"), ("low", "from"), ("high", "to"),
                 ("rank_before", "Place with"), ("rank_after", "without")],
        rows=rows,
    )  # fmt: skip


def _shown_measures(report: BiasReport) -> dict[str, str]:
    k = min(report.settings.ks or (), default=5)
    return {MACRO_AUC: "macro ROC-AUC", f"p@{k}": f"P@{k}"}


def fair_auc_chart(report: BiasReport) -> Chart:
    """Return macro AUC on all labels beside the two that treat all models alike."""
    rows = [
        {"label": row.name, "series": words, "badge": row.badge, **_estimate(column)}
        for row in sorted(report.model_rows, key=_falling)
        for words, column in (
            ("on all labels", row.macro_auc),
            ("as equal outsiders", row.equal_outsider_auc),
            ("without whole families", row.family_matched_auc),
        )
    ]
    return Chart(
        key="fair-auc",
        kind="intervals",
        title="Macro ROC-AUC, and the same with every model an outsider",
        about="On all labels the pooled models meet their own mistakes and outsiders do not. "
        "The other two values take each model’s own labels, or its family’s, away first, so they "
        f"may be compared between any two models that are no undeclared relatives. {WHAT_VARIES}",
        x=Axis("ROC-AUC, mean over queries"),
        y=Axis("Model"),
        columns=[("label", "Model"), ("badge", "Badge"), ("series", "Labels"),
                 ("value", "ROC-AUC"), ("low", "from"), ("high", "to")],
        rows=rows,
    )  # fmt: skip


def depth_charts(report: BiasReport) -> list[Chart]:
    """Return the pool at every depth: what it finds and whether it orders models alike."""
    orders = [(depth, agreement_on_auc(depth.agreement)) for depth in report.depths]
    rows = [
        {"x": depth.depth, "y": estimate.value, "series": words, "n_pairs": depth.n_pairs}
        for depth, order in orders
        for words, estimate in (
            ("Spearman", order.spearman), ("Kendall tau_b", order.tau_b), ("tau_AP", order.tau_ap)
        )
    ]  # fmt: skip
    by_depth = report.discovery.by_depth
    yields = [
        {"x": row.depth, "y": row.n_new_positive, "series": "similar", "n_new": row.n_new}
        for row in by_depth
    ] + [
        {"x": row.depth, "y": row.n_new - row.n_new_positive, "series": "different",
         "n_new": row.n_new}
        for row in by_depth
    ]  # fmt: skip
    return [
        Chart(
            key="depth-order",
            kind="lines",
            title="Order of the models on a shallower pool",
            about="Agreement of the order by macro ROC-AUC with that of the whole pool, if every "
            "model had proposed only so many. A flat line means that fewer labels told the same.",
            x=Axis("Depth of the pool", whole=True),
            y=Axis("Agreement with the full depth"),
            columns=[("x", "Depth"), ("series", "Correlation"), ("y", "Value"),
                     ("n_pairs", "Labelled pairs")],
            rows=rows,
            dots=True,
        ),
        Chart(
            key="depth-yield",
            kind="lines",
            title="What each rank added",
            about="Labelled pairs that entered the pool at this rank, by their label. While "
            "similar ones keep coming, a deeper pool would find more.",
            x=Axis("Rank", whole=True),
            y=Axis("New pairs"),
            columns=[("x", "Rank"), ("series", "Label"), ("y", "New pairs"), ("n_new", "of")],
            rows=yields,
            dots=True,
        ),
    ]  # fmt: skip


def panel_charts(report: BiasReport) -> list[Chart]:
    """Return the sub-panels of the judges; none without votes."""
    if report.panels is None:
        return []
    panels = report.panels.rows
    columns = [("x", "Judges"), ("who", "Who")]
    return [
        Chart(
            key="panel-flips",
            kind="points",
            title="Labels that fewer judges would change",
            about="Every sub-panel’s majority against that of all judges. Even panels can tie, "
            "and a tie counts as different.",
            x=Axis("Judges", whole=True),
            y=Axis("Share of labels that differ"),
            columns=[*columns, ("y", "Share that differs")],
            rows=[{"x": row.n_annotators, "y": row.flip_rate,
                   "who": ", ".join(row.annotators)} for row in panels],
        ),
        Chart(
            key="panel-order",
            kind="points",
            title="Order of the models under fewer judges",
            about="Kendall’s tau_b between the order of the models on a sub-panel’s labels and "
            "on everybody’s, by macro ROC-AUC.",
            x=Axis("Judges", whole=True),
            y=Axis("Agreement of the order (tau_b)"),
            columns=[*columns, ("y", "tau_b")],
            rows=[{"x": row.n_annotators, "y": row.tau_b,
                   "who": ", ".join(row.annotators)} for row in panels],
        ),
    ]  # fmt: skip


def attribute_charts(report: BiasReport) -> Iterator[Chart]:
    """Yield one chart per attribute: its values among pooled positives and in the catalog."""
    for at, attribute in enumerate(report.attributes):
        values = attribute.values[:MOST_VALUES]
        if not values:
            continue
        rows: list[dict[str, object]] = []
        for value in values:
            rows.append(
                {"label": value.value, "series": "similar pairs of the pool",
                 "value": value.pooled, "low": value.interval.low, "high": value.interval.high}
            )  # fmt: skip
            rows.append({"label": value.value, "series": "catalog", "value": value.catalogue})
        left = len(attribute.values) - len(values)
        more = f" The {left} rarest values are left out." if left else ""
        yield Chart(
            key=f"attribute-{at}",
            kind="intervals",
            title=f"Similar pairs by {attribute.name}",
            about="Share of each value among the candidates judged similar, and in the catalog. "
            f"A value far to the right of the catalog’s is one that the pool favours. {WHAT_VARIES}"
            + more,
            x=Axis("Share"),
            y=Axis(attribute.name),
            columns=[("label", attribute.name), ("series", "Among"), ("value", "Share"),
                     ("low", "from"), ("high", "to")],
            rows=rows,
        )  # fmt: skip


def _estimate(estimate: Estimate | MacroColumn) -> dict[str, float]:
    ends = estimate.interval
    return {"value": estimate.value, "low": ends.low, "high": ends.high}


def _falling(row: ModelRow) -> float:
    value = row.equal_outsider_auc.value
    return 0.0 if math.isnan(value) else -value

"""The tables of the page about a pool's bias, from the stored report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.bias_report.charts import (
    attribute_charts,
    depth_charts,
    fair_auc_chart,
    overlap_chart,
    panel_charts,
    self_delta_chart,
)
from evaluation.results.leaderboard import HEADINGS
from lookalike.bias.measurements import MACRO_AUC

Report = Mapping[str, Any]
MEANINGS = ("uniques", "contributions", "family")


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


def bias_context(report: Report) -> dict[str, Any]:
    """Return what the template of the page shows."""
    return {
        "pool": report["pool"],
        "findings": report["findings"],
        "fair_auc": fair_auc_chart(report),
        "overlap": overlap_chart(report),
        "self_deltas": [c for c in (self_delta_chart(report, m) for m in MEANINGS) if c],
        "leave_out": [leave_out_table(report, meaning) for meaning in MEANINGS],
        "generators": generator_table(report),
        "depths": depth_charts(report),
        "panels": panel_charts(report),
        "unseen": report["discovery"]["next_model"],
        "next_depth": report["discovery"]["next_depth"],
        "attributes": list(attribute_charts(report)),
        "same_as_query": attribute_table(report),
        "order": order_table(report),
        "power": power_table(report),
        "paper": [paper_table(report, meaning) for meaning in MEANINGS[:2]],
    }


def leave_out_table(report: Report, kind: str) -> Table:
    """Return what leaving a model or family out does to the order of all models."""
    n_all = report["pool"]["n_judged"]
    rows = []
    for entry in report["leave_out"]:
        if entry["kind"] != kind:
            continue
        found = next((a for a in entry["agreement"] if a["measure"] == MACRO_AUC), None)
        if found is None:
            continue
        rows.append(
            (
                entry["name"],
                f"{n_all - entry['n_pairs']:,}",
                f"{number(found['spearman']['value'], 3)} {ends(found['spearman']['interval'])}",
                number(found["p"]["value"]),
                f"{number(found['tau_b']['value'], 3)} {ends(found['tau_b']['interval'])}",
                f"{number(found['tau_ap']['value'], 3)} {ends(found['tau_ap']['interval'])}",
                number(found["max_drop"]["value"], 0),
            )
        )
    about = {
        "uniques": "Meaning “uniques”: the pairs that no other model proposed lose their label.",
        "contributions": "Meaning “contributions”: all pairs that the model proposed lose theirs.",
        "family": "The whole family at once, since relatives cover for each other.",
    }[kind]
    return Table(
        key=f"order-{kind}",
        title=f"Order of all models, leaving one {'family' if kind == 'family' else 'model'} out"
        + ("" if kind == "family" else f": {kind}"),
        about=f"{about} Correlations with the order on all labels by macro ROC-AUC; p is exact "
        "for few models.",
        columns=("Left out", "Labels lost", "Spearman", "p", "tau_b", "tau_AP", "Most places lost"),
        rows=rows,
    )


def generator_table(report: Report) -> Table:
    """Return what each model brought to the pool."""
    return Table(
        key="brought",
        title="What each model brought",
        about="A model whose own finds are mostly different adds negatives that count against "
        "itself alone.",
        columns=("Model", "Proposed", "Similar", "Precision", "Only it proposed",
                 "of them similar", "Yield"),
        rows=[
            (row["name"], f"{row['n_proposed']:,}", f"{row['n_positive']:,}",
             percent(row["precision"]), f"{row['n_unique']:,}", f"{row['n_unique_positive']:,}",
             percent(row["unique_yield"]))
            for row in report["generators"]
        ],
    )  # fmt: skip


def attribute_table(report: Report) -> Table | None:
    """Return how often a candidate shares the query's value; None without attributes."""
    rows = [
        (row["name"], percent(row["same_as_query_positive"]),
         percent(row["same_as_query_negative"]), percent(row["same_as_query_catalogue"]),
         f"{row['n_known']:,}")
        for row in report["attributes"]
    ]  # fmt: skip
    if not rows:
        return None
    return Table(
        key="same-as-query",
        title="Candidates with the query’s own value",
        about="A share near 100 % among the similar ones where the catalog’s is low says that the "
        "pool can hardly judge a model that looks at other cues.",
        columns=("Attribute", "Similar", "Different", "Catalog", "Known pairs"),
        rows=rows,
    )


def order_table(report: Report) -> Table:
    """Return how sure the order of each two neighbours is."""
    return Table(
        key="neighbours",
        title="How sure the order of neighbours is",
        about="Share of bootstrap samples of the queries in which the better model stays above, "
        "by macro ROC-AUC. About 50 % is a coin toss.",
        columns=("Better", "Next", "Difference", "Order kept"),
        rows=[
            (row["better"], row["worse"], number(row["difference"]), percent(row["kept"]))
            for row in report["order"]
        ],
    )


def power_table(report: Report) -> Table:
    """Return how many pairs of models each measure tells apart."""
    return Table(
        key="power",
        title="What the measures tell apart",
        about="Share of the pairs of models with p below 5 % in the paired sign-flip test. "
        "Choose a measure or cut-off by it, not by taste.",
        columns=("Measure", "Pairs of models", "Told apart", "after Holm’s correction"),
        rows=[
            (HEADINGS.get(row["measure"], _title(row["measure"])), f"{len(row['tests']):,}",
             percent(row["discriminative_power"]), percent(row["discriminative_power_holm"]))
            for row in report["tests"]
        ],
    )  # fmt: skip


def paper_table(report: Report, kind: str) -> Table:
    """Return Table 3 of the VSD paper on this pool."""
    rows = []
    for row in report["paper"][kind]:
        cells = [row["generator"]]
        for half in ("micro", "macro"):
            cell = row[half]
            cells += [
                f"{number(cell['mean'])} ± {number(cell['spread'])}",
                number(cell["spearman"], 3),
                number(cell["p_t"]["value"]),
                number(cell["p"]["value"]),
            ]
        rows.append(cells)
    return Table(
        key=f"paper-{kind}",
        title=f"As the VSD paper prints it: {kind}",
        about="AUC averaged over the label sets that leave one model out (SC: Spearman with the "
        "order on all labels, among pooled models). Its p-values use the t approximation, which "
        "does not hold for so few models; the exact one stands beside it.",
        columns=("Model", "AUC", "SC", "p (t)", "p exact", "AUC", "SC", "p (t)", "p exact"),
        rows=rows,
        headings=(("", 1), ("micro", 4), ("macro", 4)),
    )


def number(value: float | None, digits: int = 4) -> str:
    """Return a number at a fixed number of digits, a dash if it is undefined."""
    return "–" if value is None else f"{value:.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share in percent, a dash if it is undefined."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def ends(interval: Mapping[str, float | None] | None) -> str:
    """Return "[low, high]", nothing if it is undefined."""
    if not interval or interval["low"] is None or interval["high"] is None:
        return ""
    return f"[{interval['low']:.2f}, {interval['high']:.2f}]"


def _title(measure: str) -> str:
    words = {"macro_auc": "macro ROC-AUC", "macro_ap": "AP′, mean over queries"}
    return words.get(measure, measure.upper() if measure.startswith("p@") else measure)

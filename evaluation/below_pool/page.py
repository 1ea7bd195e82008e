"""The estimates from a sample as tiles and a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.bias_report.tables import Table, number, percent
from evaluation.models import Sample


@dataclass(frozen=True)
class Tile:
    """One estimate with its interval in words."""

    title: str
    value: str
    note: str


def estimate_tiles(found: Mapping[str, Any]) -> list[Tile]:
    """Return the estimates over all pairs; none while a stratum has too few labels."""
    whole, weighted = found["stratified"], found["weighted"]
    if whole is None or weighted is None:
        return []
    total, recall = whole["total_interval"], whole["pool_recall_interval"]
    ends = weighted["interval"]
    tiles = [
        Tile(
            "of all pairs are similar",
            _share(whole["share"]),
            f"± {_share(whole['standard_error'])} standard error, by strata",
        ),
        Tile(
            "similar pairs in the whole catalog",
            f"{whole['total']:,.0f}",
            f"95 %: {total['low']:,.0f} to {total['high']:,.0f}, exact by stratum (Bonferroni)",
        ),
        Tile(
            "of all pairs, weighing each label by one over its chance",
            _share(weighted["share"]),
            f"95 %: {_share(ends['low'])} to {_share(ends['high'])}, bootstrap over "
            f"queries; worth {number(weighted['effective_size'], 0)} labels drawn with equal "
            "chances",
        ),
    ]
    if whole["pool_recall"] is not None:
        tiles.insert(
            0,
            Tile(
                "of the similar pairs are in the pool (recall)",
                percent(whole["pool_recall"]),
                f"95 %: {percent(recall['low'])} to {percent(recall['high'])}",
            ),
        )
    return tiles


def strata_table(sample: Sample, found: Mapping[str, Any] | None) -> Table:
    """Return the strata with what was drawn, and what the judges said if it is evaluated."""
    if found is not None:
        rows = [
            (row["name"], f"{row['n_pairs']:,}", f"{row['n_drawn']:,}", f"{row['n_labelled']:,}",
             f"{row['n_positive']:,}", percent(row["share"], 2), _ends(row["interval"]))
            for row in found["strata"]
        ]  # fmt: skip
    else:
        rows = [
            (s["name"], f"{s['n_pairs']:,}", f"{s['n_drawn']:,}", "–", "–", "–", "–")
            for s in sample.strata
        ]
    return Table(
        key="strata",
        title="By stratum",
        about="A pair’s stratum is the best rank that any model of the pool gives it. Within a "
        "stratum every pair had the same chance to be drawn. Shares of similar pairs with exact "
        "95 % intervals (Clopper-Pearson).",
        columns=("Stratum", "Pairs", "Drawn", "Labelled", "Similar", "Share", "95 % interval"),
        rows=rows,
    )


def _share(value: float | None) -> str:
    """Return a share in percent, with more digits where it is small."""
    return percent(value, 1 if value is None or value >= 0.01 else 3)


def _ends(interval: Mapping[str, float] | None) -> str:
    if interval is None:
        return "–"
    return f"{percent(interval['low'], 2)} to {percent(interval['high'], 2)}"

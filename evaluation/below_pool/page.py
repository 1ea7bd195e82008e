"""The estimates from a sample as tiles and a table."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.bias_report.tables import Table
from evaluation.models import Sample
from evaluation.results.stored import SampleEstimates
from lookalike.stats.proportion import Interval
from lookalike.stats.text_tables import PAGE


@dataclass(frozen=True)
class Tile:
    """One estimate with its interval in words."""

    title: str
    value: str
    note: str


def estimate_tiles(estimates: SampleEstimates) -> list[Tile]:
    """Return the estimates over all pairs; none while a stratum has too few labels."""
    whole, weighted = estimates.stratified, estimates.weighted
    if whole is None or weighted is None:
        return []
    total, recall = whole.total_interval, whole.pool_recall_interval
    n_pairs = sum(stratum.n_pairs for stratum in estimates.strata)
    tiles = [
        Tile(
            "of all pairs are similar",
            _share(whole.share),
            f"95 %: {_share(total.low / n_pairs)} to {_share(total.high / n_pairs)}",
        ),
        Tile(
            "similar pairs in the whole catalog",
            f"{whole.total:,.0f}",
            f"95 %: {total.low:,.0f} to {total.high:,.0f}",
        ),
        Tile(
            "of all pairs, weighing each label by one over its chance",
            _share(weighted.share),
            f"worth {PAGE.number(weighted.effective_size, 0)} labels drawn with equal chances; "
            "without an interval, because none that we tried covers",
        ),
    ]
    if estimates.is_recall_known:
        recall_tile = Tile(
            "of the similar pairs are in the pool (recall)",
            PAGE.share(whole.pool_recall),
            f"95 %: {PAGE.share(recall.low)} to {PAGE.share(recall.high)}, from no pair without "
            "a label being similar to all of them",
        )
        tiles.insert(0, recall_tile)
    return tiles


def strata_table(sample: Sample, estimates: SampleEstimates | None) -> Table:
    """Return the strata with what was drawn, and what the judges said if it is evaluated."""
    if estimates is not None:
        rows = [
            (row.name, f"{row.n_pairs:,}", f"{row.n_drawn:,}", f"{row.n_labelled:,}",
             f"{row.n_drawn - row.n_labelled:,}", f"{row.n_positive:,}",
             PAGE.share(row.share, 2), _ends(row.interval))
            for row in estimates.strata
        ]  # fmt: skip
    else:
        rows = [
            (s["name"], f"{s['n_pairs']:,}", f"{s['n_drawn']:,}", "–", "–", "–", "–", "–")
            for s in sample.strata
        ]
    return Table(
        key="strata",
        title="By stratum",
        about="A pair’s stratum is the best rank that any model of the pool gives it. Within a "
        "stratum every pair had the same chance to be drawn. Shares of similar pairs with "
        "95 % intervals (Wilson’s, modified), from no pair without a label being similar to all.",
        columns=(
            "Stratum",
            "Pairs",
            "Drawn",
            "Labelled",
            "Without label",
            "Similar",
            "Share",
            "95 % interval",
        ),
        rows=rows,
    )


def _share(value: float) -> str:
    """Return a share in percent, with more digits where it is small."""
    return PAGE.share(value, 3 if value < 0.01 else 1)


def _ends(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{PAGE.share(interval.low, 2)} to {PAGE.share(interval.high, 2)}"

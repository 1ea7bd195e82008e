"""The tables of a bias report, described once for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lookalike.bias.attributes import AttributeBias, ValueShare
from lookalike.bias.comparison import Estimate, RankAgreement, SelfDelta
from lookalike.bias.depth import DepthRow
from lookalike.bias.discovery import DepthYield, NextDepth
from lookalike.bias.judge_noise import JudgedOrder
from lookalike.bias.leave_out import LeaveOut
from lookalike.bias.measurements import MACRO_AUC
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.order import NeighbourOrder
from lookalike.bias.overlap import GeneratorRow
from lookalike.bias.panels import PanelRow
from lookalike.bias.paper_view import PaperCell, PaperRow
from lookalike.bias.words.titles import measure_title
from lookalike.stats.significance import MeasureTests
from lookalike.stats.text_tables import PAGE, TEXT, Style, table

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column.

    Attributes:
        text: its heading on the terminal, None where it is left out there.
        page: its heading on the page, None where it is left out there.
        cell: what it says of a row.
        page_cell: what it says on the page, None where that is the same.
    """

    text: str | None
    page: str | None
    cell: Callable[[Row, Style], str]
    page_cell: Callable[[Row, Style], str] | None = None


def text_table(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> list[str]:
    """Return the aligned lines of a table, its headings first."""
    shown = [column for column in columns if column.text is not None]
    cells = [[column.cell(row, TEXT) for column in shown] for row in rows]
    return table([[str(column.text) for column in shown], *cells])


def page_table(
    columns: Sequence[Column[Row]], rows: Iterable[Row]
) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells of a table on the page."""
    shown = [column for column in columns if column.page is not None]
    cells = [[(column.page_cell or column.cell)(row, PAGE) for column in shown] for row in rows]
    return [str(column.page) for column in shown], cells


def agreement_on_auc(agreements: Sequence[RankAgreement]) -> RankAgreement:
    """Return how a label set orders the models by macro ROC-AUC."""
    return next(entry for entry in agreements if entry.measure == MACRO_AUC)


GENERATORS: tuple[Column[GeneratorRow], ...] = (
    Column("model", "Model", lambda row, _: row.name),
    Column("family", None, lambda row, _: row.family),
    Column("proposed", "Proposed", lambda row, _: f"{row.n_proposed:,}"),
    Column("judged", None, lambda row, _: f"{row.n_judged:,}"),
    Column(None, "Similar", lambda row, _: f"{row.n_positive:,}"),
    Column("positive", "Precision", lambda row, s: s.share(row.precision)),
    Column("unique", "Only it proposed", lambda row, _: f"{row.n_unique:,}"),
    Column("positive", "of them similar", lambda row, _: f"{row.n_unique_positive:,}"),
    Column("yield", "Yield", lambda row, s: s.share(row.unique_yield)),
)
NEIGHBOURS: tuple[Column[NeighbourOrder], ...] = (
    Column("better", "Better", lambda row, _: row.better),
    Column("worse", "Next", lambda row, _: row.worse),
    Column("difference", "Difference", lambda row, s: s.number(row.difference)),
    Column("order kept", "Order kept", lambda row, s: s.share(row.kept)),
)
JUDGED_ORDER: tuple[Column[JudgedOrder], ...] = (
    Column("better", "Better", lambda row, _: row.better),
    Column("worse", "Next", lambda row, _: row.worse),
    Column("difference", "Difference", lambda row, s: s.number(row.difference)),
    Column("other queries", "95 %: other queries",
           lambda row, s: s.interval(row.over_queries, signed=True)),
    Column("and judges", "95 %: other queries and judges",
           lambda row, s: s.interval(row.over_judges, signed=True)),
    Column("labels redrawn", "Order kept if labels are redrawn", lambda row, s: s.share(row.kept)),
)  # fmt: skip
TESTS: tuple[Column[MeasureTests], ...] = (
    Column("measure", "Measure", lambda row, _: row.measure,
           lambda row, _: measure_title(row.measure)),
    Column("pairs", "Pairs of models", lambda row, _: str(len(row.tests)),
           lambda row, _: f"{len(row.tests):,}"),
    Column("p < .05", "Told apart", lambda row, s: s.number(row.discriminative_power),
           lambda row, s: s.share(row.discriminative_power)),
    Column("after Holm", "after Holm’s correction",
           lambda row, s: s.number(row.discriminative_power_holm),
           lambda row, s: s.share(row.discriminative_power_holm)),
    Column("queries", None, lambda row, _: str(row.tests[0].n_queries) if row.tests else "0"),
)  # fmt: skip
SELF_DELTAS: tuple[Column[SelfDelta], ...] = (
    Column("model", None, lambda row, _: row.model),
    Column("measure", None, lambda row, _: row.measure),
    Column("before", None, lambda row, s: s.number(row.before)),
    Column("after", None, lambda row, s: s.number(row.after)),
    Column("change", None, lambda row, s: s.number(row.delta.value, signed=True)),
    Column("interval", None, lambda row, s: s.interval(row.delta.interval, signed=True)),
    Column("place", None, lambda row, _: f"{row.rank_before or '-'} to {row.rank_after or '-'}"),
    Column("queries", None, lambda row, _: str(row.n_queries)),
    Column("", None, lambda row, _: "beyond the usual gap" if row.exceeds_gap else ""),
)
PANELS: tuple[Column[PanelRow], ...] = (
    Column("annotators", None, lambda row, _: " ".join(row.annotators)),
    Column("labelled", None, lambda row, _: f"{row.n_labelled:,}"),
    Column("ties", None, lambda row, _: f"{row.n_ties:,}"),
    Column("positive", None, lambda row, _: f"{row.n_positive:,}"),
    Column("flipped", None, lambda row, s: s.share(row.flip_rate)),
    Column("alpha", None, lambda row, s: s.number(row.alpha)),
    Column("tau_b", None, lambda row, s: s.number(row.tau_b)),
    Column("drop", None, lambda row, s: s.number(row.max_drop, 0)),
)
YIELDS: tuple[Column[DepthYield | NextDepth], ...] = (
    Column("rank", None, lambda row, _: f"{row.depth} (expected)" if isinstance(row, NextDepth)
           else str(row.depth)),
    Column("new pairs", None, lambda row, s: _count(row.n_new, s)),
    Column("new positives", None, lambda row, s: _count(row.n_new_positive, s)),
    Column("labels per positive", None, lambda row, s: s.number(row.labels_per_positive, 2)),
)  # fmt: skip
ATTRIBUTE_VALUES: tuple[Column[ValueShare], ...] = (
    Column("value", None, lambda row, _: row.value),
    Column("positives", None, lambda row, _: f"{row.n_positive:,}"),
    Column("pooled", None, lambda row, s: s.share(row.pooled)),
    Column("interval", None, lambda row, s: s.interval(row.interval)),
    Column("catalogue", None, lambda row, s: s.share(row.catalogue)),
    Column("deep sample", None, lambda row, s: s.share(row.deep)),
    Column("ratio", None, lambda row, s: s.number(row.ratio, 2)),
)
ATTRIBUTES: tuple[Column[AttributeBias], ...] = (
    Column(None, "Attribute", lambda row, _: row.name),
    Column(None, "Similar", lambda row, s: s.share(row.same_as_query_positive)),
    Column(None, "Different", lambda row, s: s.share(row.same_as_query_negative)),
    Column(None, "Catalog", lambda row, s: s.share(row.same_as_query_catalogue)),
    Column(None, "Known pairs", lambda row, _: f"{row.n_known:,}"),
)


def model_columns(rows: Sequence[ModelRow]) -> list[Column[ModelRow]]:
    """Return the columns of the models; cut-offs and random negatives where there are any."""
    columns: list[Column[ModelRow]] = [
        Column("model", None, lambda row, _: row.name),
        Column("badge", None, lambda row, _: row.badge),
        Column("AUC", None, lambda row, s: s.number(row.macro_auc.value)),
        Column("interval", None, lambda row, s: s.interval(row.macro_auc.interval)),
        Column("AP'", None, lambda row, s: s.number(row.macro_ap.value)),
        Column("micro AUC", None, lambda row, s: s.number(row.micro_auc.value)),
        Column("equal-outsider", None, lambda row, s: s.number(row.equal_outsider_auc.value)),
        Column("interval", None, lambda row, s: s.interval(row.equal_outsider_auc.interval)),
        Column("family-matched", None, lambda row, s: s.number(row.family_matched_auc.value)),
        Column("ceiling", None, lambda row, s: s.number(row.forced_loss_ceiling)),
    ]
    if rows[0].random_negative_auc is not None:
        columns += [
            Column("random", None, lambda row, s: s.number(
                row.random_negative_auc.value if row.random_negative_auc else None)),
            Column("corrected", None, lambda row, s: s.number(row.random_negative_corrected)),
        ]  # fmt: skip
    longest = max(rows, key=lambda row: len(row.cutoffs))
    for at, cutoff in enumerate(longest.cutoffs):
        columns += _cutoff_columns(at, cutoff.k)
    return columns


def _cutoff_columns(at: int, k: int) -> list[Column[ModelRow]]:
    """Return the columns of one cut-off, "–" for a model without a list."""
    return [
        Column(f"P@{k}", None, lambda row, s: s.number(row.cutoffs[at].precision.value)
               if row.cutoffs else "–"),
        Column("to", None, lambda row, s: s.number(row.cutoffs[at].upper)
               if row.cutoffs else "–"),
        Column(f"judged@{k}", None, lambda row, _: f"{row.cutoffs[at].judged:.1%}"
               if row.cutoffs else "–"),
    ]  # fmt: skip


def leave_out_columns(n_judged: int) -> list[Column[LeaveOut]]:
    """Return what leaving a model or family out does to the order of all models.

    Args:
        n_judged: judged pairs of the whole pool.
    """

    def correlation(heading: str, pick: Callable[[RankAgreement], Estimate]) -> Column[LeaveOut]:
        def estimate(row: LeaveOut) -> Estimate:
            return pick(agreement_on_auc(row.agreement))

        return Column(
            heading,
            heading,
            lambda row, s: s.number(estimate(row).value),
            lambda row, s: s.number(estimate(row).value, 3),
        )

    return [
        Column("left out", "Left out", lambda row, _: row.name),
        Column(None, "Labels lost", lambda row, _: f"{n_judged - row.n_pairs:,}"),
        Column("pairs", None, lambda row, _: f"{row.n_pairs:,}"),
        Column("positive", None, lambda row, _: f"{row.n_positive:,}"),
        correlation("Spearman", lambda order: order.spearman),
        Column("p", "p", _p_with_method,
               lambda row, s: s.p_value(agreement_on_auc(row.agreement).p.value)),
        correlation("tau_b", lambda order: order.tau_b),
        correlation("tau_AP", lambda order: order.tau_ap),
        Column("drop", "Most places lost",
               lambda row, s: s.number(agreement_on_auc(row.agreement).max_drop.value, 0)),
    ]  # fmt: skip


def paper_columns() -> list[Column[PaperRow]]:
    """Return Table 3 of the VSD paper: AUC in percent on the terminal, as there."""

    def half(name: str, pick: Callable[[PaperRow], PaperCell]) -> list[Column[PaperRow]]:
        return [
            Column(f"{name} AUC", "AUC",
                   lambda row, s: f"{s.number(100 * pick(row).mean, 1)} ± "
                   f"{s.number(100 * pick(row).spread, 1)}",
                   lambda row, s: f"{s.number(pick(row).mean)} ± {s.number(pick(row).spread)}"),
            Column("SC", "SC", lambda row, s: s.number(pick(row).spearman, 2),
                   lambda row, s: s.number(pick(row).spearman, 3)),
            Column("p (t)", "p (t)", lambda row, s: s.number(pick(row).p_t.value, 3),
                   lambda row, s: s.p_value(pick(row).p_t.value)),
            Column("p", "p exact", lambda row, s: s.p_value(pick(row).p.value)),
        ]  # fmt: skip

    first: Column[PaperRow] = Column("left out", "Model", lambda row, _: row.generator)
    return [first, *half("micro", lambda row: row.micro), *half("macro", lambda row: row.macro)]


def depth_columns(generators: Sequence[str]) -> list[Column[DepthRow]]:
    """Return size and agreement at each depth, and each generator's change of its own value."""

    def alone(name: str) -> Column[DepthRow]:
        return Column(
            f"{name} alone", None, lambda row, s: s.number(row.self_deltas[name], signed=True)
        )

    return [
        Column("depth", None, lambda row, _: str(row.depth)),
        Column("pairs", None, lambda row, _: f"{row.n_pairs:,}"),
        Column("positive", None, lambda row, _: f"{row.n_positive:,}"),
        Column("Spearman", None,
               lambda row, s: s.number(agreement_on_auc(row.agreement).spearman.value)),
        Column("tau_b", None, lambda row, s: s.number(agreement_on_auc(row.agreement).tau_b.value)),
        Column("tau_AP", None,
               lambda row, s: s.number(agreement_on_auc(row.agreement).tau_ap.value)),
        Column("drop", None,
               lambda row, s: s.number(agreement_on_auc(row.agreement).max_drop.value, 0)),
        *map(alone, generators),
    ]  # fmt: skip


def _p_with_method(row: LeaveOut, style: Style) -> str:
    p = agreement_on_auc(row.agreement).p
    return f"{style.p_value(p.value)} {p.method}"


def _count(n: float, style: Style) -> str:
    """Return a count with thousands apart, an expected one as a rounded number."""
    return f"{n:,}" if isinstance(n, int) else style.number(n, 0)

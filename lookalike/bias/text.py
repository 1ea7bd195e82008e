"""The bias report as plain text: what a person reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lookalike.bias.comparison import Estimate, RankAgreement
from lookalike.bias.leave_out import LeaveOut
from lookalike.bias.measurements import MACRO_AUC
from lookalike.bias.model_rows import MacroColumn, ModelRow
from lookalike.bias.paper_view import PaperCell, PaperRow
from lookalike.bias.report import BiasReport
from lookalike.bias.subsets import CONTRIBUTIONS, FAMILY, UNIQUES
from lookalike.bias.text_pool import (
    attribute_lines,
    depth_lines,
    discovery_lines,
    generator_lines,
    overlap_lines,
    panel_lines,
)
from lookalike.stats.text_tables import interval, number, p_value, share, table

_KINDS = {
    UNIQUES: "Without one model: labels that others would have brought stay",
    CONTRIBUTIONS: "Without one model: every label it asked for goes (the paper's words)",
    FAMILY: "Without one family",
}


def as_text(report: BiasReport) -> str:
    """Return the whole report as text, tables aligned, undefined values as a dash."""
    parts = [
        _pool_lines(report),
        _section("What this means", (f"- {text}" for text in report.findings)),
        _section("Models", _model_lines(report.model_rows)),
        *(
            _section(title, _leave_out_lines(report, kind))
            for kind, title in _KINDS.items()
            if any(entry.kind == kind for entry in report.leave_out)
        ),
        *(
            _section(f"The VSD paper's table, {kind}", _paper_lines(rows))
            for kind, rows in report.paper.items()
        ),
        _section("Neighbours in the order by macro AUC", _order_lines(report)),
        _section("Which measure tells models apart", _test_lines(report)),
        _section("Generators", generator_lines(report.generators)),
        _section("Overlap, share of k candidates a query", overlap_lines(report.overlap)),
        _section("Shallower pools", depth_lines(report.depths)),
        _section("What is still unseen", discovery_lines(report.discovery)),
    ]
    if report.panels is not None:
        parts.append(_section("Fewer annotators", panel_lines(report.panels)))
    parts += [_section(f"Attribute {a.name}", attribute_lines(a)) for a in report.attributes]
    return "\n".join(line for part in parts for line in part) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return ["", title, "=" * len(title), *lines]


def _pool_lines(report: BiasReport) -> list[str]:
    pool = report.pool
    lines = [
        f"Pool of {pool.n_generators} models to depth {pool.depth}: {pool.n_pairs:,} pairs of "
        f"{pool.n_queries:,} queries ({pool.pairs_per_query:.1f} each, {pool.duplication:.1%} of "
        "the proposals made twice)",
        f"Judged {pool.n_judged:,}, positive {pool.n_positive:,} ({pool.positive_share:.1%})",
    ]
    if pool.saving is not None and pool.positive_share_bound is not None:
        lines.append(
            f"Labels saved against judging everything: {pool.saving:,.1f} times; at least "
            f"{pool.positive_share_bound:.6f} of all pairs are positive"
        )
    s = report.settings
    lines.append(
        f"Intervals: {s.level:.0%} over queries, {s.n_bootstraps} bootstraps; "
        f"sign flips: {s.n_permutations}"
    )
    return lines


def _model_lines(rows: Sequence[ModelRow]) -> Iterator[str]:
    ks = [c.k for c in max((row.cutoffs for row in rows), key=len)]
    has_random = rows[0].random_negative_auc is not None
    header = ["model", "badge", "AUC", "interval", "AP'", "micro AUC", "equal-outsider", "interval"]
    header += ["family-matched", "ceiling"]
    header += ["random", "corrected"] if has_random else []
    header += [name for k in ks for name in (f"P@{k}", "to", f"judged@{k}")]
    cells = [header]
    for row in sorted(rows, key=lambda r: r.rank or len(rows)):
        line = [row.name, row.badge, number(row.macro_auc.value), interval(row.macro_auc.interval)]
        line += [number(row.macro_ap.value), number(row.micro_auc.value)]
        line += [number(row.equal_outsider_auc.value), interval(row.equal_outsider_auc.interval)]
        line += [number(row.family_matched_auc.value), number(row.forced_loss_ceiling)]
        if has_random:
            line += [_value(row.random_negative_auc), number(row.random_negative_corrected)]
        for c in row.cutoffs:
            line += [number(c.precision.value), number(c.upper), f"{c.judged:.1%}"]
        line += ["–"] * (len(header) - len(line))
        cells.append(line)
    yield from table(cells)
    first = rows[0]
    yield (
        f"AUC over {first.macro_auc.n_queries} queries, equal-outsider over "
        f"{first.equal_outsider_auc.n_queries}, family-matched over "
        f"{first.family_matched_auc.n_queries}."
    )
    yield from _advice_lines(rows)
    yield from _adjusted_lines(rows)


def _advice_lines(rows: Sequence[ModelRow]) -> Iterator[str]:
    """Yield what may be compared, once for all models it is true of, then each model's notes."""
    groups: dict[tuple[str, ...], list[ModelRow]] = {}
    for row in rows:
        key = (row.badge, row.notes[0], *(a.comparable_with for a in row.advice))
        groups.setdefault(key, []).append(row)
    for (badge, note, *_), members in groups.items():
        yield ""
        yield f"{', '.join(row.name for row in members)} ({badge})"
        yield f"  {note}"
        for columns in zip(*(row.advice for row in members), strict=True):
            reasons = {a.reason for a in columns}
            reason = f"; {reasons.pop()}" if len(reasons) == 1 else ""
            yield f"  {columns[0].column}: compare with {columns[0].comparable_with}{reason}"
        for row in members:
            yield from (f"  {row.name}: {note}" for note in row.notes[1:])


def _adjusted_lines(rows: Sequence[ModelRow]) -> Iterator[str]:
    adjusted = [row for row in rows if row.adjusted]
    if not adjusted:
        return
    measures = list(adjusted[0].adjusted)
    cells = [["adjusted for the pool", *measures]]
    for row in adjusted:
        scores = row.adjusted.values()
        cells.append([row.name, *(f"{number(s.value)}{'!' * s.is_clipped}" for s in scores)])
    added = [number(s.added, signed=True) for s in adjusted[0].adjusted.values()]
    yield ""
    yield from table([*cells, ["added to each", *added]])
    yield "A sensitivity, not an estimate; ! is cut off at 0 or 1, where it has broken down."


def _leave_out_lines(report: BiasReport, kind: str) -> Iterator[str]:
    entries = [entry for entry in report.leave_out if entry.kind == kind]
    cells = [
        ["left out", "pairs", "positive", "Spearman", "interval", "p", "tau_b", "tau_AP", "drop"]
    ]
    for entry in entries:
        a = _agreement(entry.agreement, MACRO_AUC)
        cells.append(
            [
                entry.name,
                f"{entry.n_pairs:,}",
                f"{entry.n_positive:,}",
                number(a.spearman.value),
                interval(a.spearman.interval),
                f"{p_value(a.p.value)} {a.p.method}",
                number(a.tau_b.value),
                number(a.tau_ap.value),
                number(a.max_drop.value, digits=0),
            ]
        )
    yield "Order of the models by macro AUC, against all labels:"
    yield from table(cells)
    yield ""
    yield "Change of the model left out itself:"
    yield from table(_delta_cells(entries))


def _delta_cells(entries: Sequence[LeaveOut]) -> list[list[str]]:
    cells = [["model", "measure", "before", "after", "change", "interval", "place", "queries", ""]]
    for entry in entries:
        for d in entry.self_deltas:
            cells.append(
                [
                    d.model,
                    d.measure,
                    number(d.before),
                    number(d.after),
                    number(d.delta.value, signed=True),
                    interval(d.delta.interval, signed=True),
                    f"{d.rank_before or '-'} to {d.rank_after or '-'}",
                    str(d.n_queries),
                    "beyond the usual gap" if d.exceeds_gap else "",
                ]
            )
    return cells


def _paper_lines(rows: Sequence[PaperRow]) -> Iterator[str]:
    cells = [["left out", "micro AUC", "SC", "p (t)", "p", "macro AUC", "SC", "p (t)", "p"]]
    cells += [[row.generator, *_paper_cells(row.micro), *_paper_cells(row.macro)] for row in rows]
    yield from table(cells)
    yield (
        "AUC: of this model, averaged over the label sets. SC: order of the generators without "
        "this one's labels against all. p (t) is the paper's approximation, p the permutation test."
    )


def _paper_cells(cell: PaperCell) -> list[str]:
    return [
        f"{number(100 * cell.mean, 1)} ± {number(100 * cell.spread, 1)}",
        number(cell.spearman, 2),
        number(cell.p_t.value, 3),
        p_value(cell.p.value),
    ]


def _order_lines(report: BiasReport) -> Iterator[str]:
    cells = [["better", "worse", "difference", "order kept"]]
    cells += [[n.better, n.worse, number(n.difference), share(n.kept)] for n in report.order]
    yield from table(cells)


def _test_lines(report: BiasReport) -> Iterator[str]:
    cells = [["measure", "pairs", "p < .05", "after Holm", "queries"]]
    for m in report.tests:
        n_queries = str(m.tests[0].n_queries) if m.tests else "0"
        cells.append(
            [
                m.measure,
                str(len(m.tests)),
                number(m.discriminative_power),
                number(m.discriminative_power_holm),
                n_queries,
            ]
        )
    yield from table(cells)
    yield "Sign-flip tests of every two models on the same queries; shares of the pairs."


def _agreement(agreements: Sequence[RankAgreement], measure: str) -> RankAgreement:
    return next(a for a in agreements if a.measure == measure)


def _value(column: MacroColumn | Estimate | None) -> str:
    return number(None if column is None else column.value)

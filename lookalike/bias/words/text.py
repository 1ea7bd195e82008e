"""The bias report as plain text: what a person reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lookalike.bias.attributes import AttributeBias
from lookalike.bias.discovery import DepthYield, Discovery, NextDepth
from lookalike.bias.judge_noise import judge_words
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.overlap import Overlap
from lookalike.bias.report import BiasReport
from lookalike.bias.subsets import CONTRIBUTIONS, FAMILY, UNIQUES
from lookalike.bias.words.tables import (
    ATTRIBUTE_VALUES,
    GENERATORS,
    JUDGED_ORDER,
    NEIGHBOURS,
    PANELS,
    SELF_DELTAS,
    TESTS,
    YIELDS,
    depth_columns,
    leave_out_columns,
    model_columns,
    paper_columns,
    text_table,
)
from lookalike.stats.intervals import METHODS, WHAT_VARIES
from lookalike.stats.text_tables import TEXT, table
from lookalike.stats.units import sample_words

_MOST_VALUES = 15

_KINDS = {
    UNIQUES: "Without one model: labels that others would have brought stay",
    CONTRIBUTIONS: "Without one model: every label it asked for goes (the paper's words)",
    FAMILY: "Without one family",
}
_PAPER_NOTE = (
    "AUC: of this model, averaged over the label sets. SC: order of the generators without this "
    "one's labels against all. p (t) is the paper's approximation, p the permutation test."
)


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
            _section(
                f"The VSD paper's table, {kind}", text_table(paper_columns(), rows), _PAPER_NOTE
            )
            for kind, rows in report.paper.items()
        ),
        _section("Neighbours in the order by macro AUC", text_table(NEIGHBOURS, report.order)),
        _section(
            "Which measure tells models apart",
            text_table(TESTS, report.tests),
            "Sign-flip tests of every two models on the same queries; shares of the pairs.",
        ),
        _section("Generators", text_table(GENERATORS, report.generators)),
        _section("Overlap, share of k candidates a query", _overlap_lines(report.overlap)),
        _section(
            "Shallower pools",
            text_table(depth_columns(list(report.depths[0].self_deltas)), report.depths),
            "Order by macro AUC against full depth; the last columns are each generator's own "
            "change of macro AUC when a pool of that depth is built without it.",
        ),
        _section("What is still unseen", _discovery_lines(report.discovery)),
    ]
    if report.panels is not None:
        is_all = report.panels.is_complete
        shown = "all panels" if is_all else "a seeded part of the panels of each size"
        ties = "Ties of even panels count as negative, so their labels lean to no."
        rows = text_table(PANELS, report.panels.rows)
        parts.append(_section("Fewer annotators", rows, f"Shown: {shown}. {ties}"))
    if report.judges is not None:
        rows = text_table(JUDGED_ORDER, report.judges.rows)
        parts.append(_section("The order under other judges", rows, judge_words(report.judges)))
    parts += [_section(f"Attribute {a.name}", _attribute_lines(a)) for a in report.attributes]
    return "\n".join(line for part in parts for line in part) + "\n"


def _section(title: str, lines: Iterable[str], *notes: str) -> list[str]:
    return ["", title, "=" * len(title), *lines, *notes]


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
        f"Intervals: {s.level:.0%}, {METHODS[report.intervals]}; {s.n_bootstraps} bootstraps, "
        f"{s.n_permutations} sign flips"
    )
    if report.units is not None and report.n_units is not None:
        sample = sample_words(pool.n_queries, report.n_units, report.units)
        lines.append(f"Independent units of intervals and tests: {sample}")
    lines.append(WHAT_VARIES)
    return lines


def _model_lines(rows: Sequence[ModelRow]) -> Iterator[str]:
    ranked = sorted(rows, key=lambda r: r.rank or len(rows))
    yield from text_table(model_columns(rows), ranked)
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
        cells.append([row.name, *(f"{TEXT.number(s.value)}{'!' * s.is_clipped}" for s in scores)])
    added = [TEXT.number(s.added, signed=True) for s in adjusted[0].adjusted.values()]
    yield ""
    yield from table([*cells, ["added to each", *added]])
    yield "A sensitivity, not an estimate; ! is cut off at 0 or 1, where it has broken down."


def _leave_out_lines(report: BiasReport, kind: str) -> Iterator[str]:
    entries = [entry for entry in report.leave_out if entry.kind == kind]
    yield "Order of the models by macro AUC, against all labels:"
    yield from text_table(leave_out_columns(report.pool.n_judged), entries)
    yield ""
    yield "Change of the model left out itself:"
    yield from text_table(SELF_DELTAS, [own for entry in entries for own in entry.self_deltas])


def _overlap_lines(overlap: Overlap) -> list[str]:
    cells = [["", *overlap.generators]]
    for i, name in enumerate(overlap.generators):
        both = enumerate(zip(overlap.share[i], overlap.jaccard[i], strict=True))
        cells.append([name, *("-" if i == j else f"{s:.1%} ({v:.3f})" for j, (s, v) in both)])
    return [
        *table(cells),
        f"Mean: {TEXT.share(overlap.mean_share)}; the Jaccard index in brackets.",
    ]


def _discovery_lines(discovery: Discovery) -> list[str]:
    unseen = discovery.next_model
    rows: list[DepthYield | NextDepth] = list(discovery.by_depth)
    if discovery.next_depth is not None:
        rows.append(discovery.next_depth)
    return [
        f"{unseen.n_seen:,} positives found, {unseen.n_once:,} by one model, "
        f"{unseen.n_twice:,} by two; coverage {TEXT.share(unseen.coverage)}",
        f"Still unseen by models like these (Chao): {TEXT.number(unseen.unseen, 1)}, corrected "
        f"{TEXT.number(unseen.unseen_corrected, 1)}, for few models "
        f"{TEXT.number(unseen.unseen_few_models, 1)}; models miss the same images, so expect more",
        *text_table(YIELDS, rows),
    ]


def _attribute_lines(attribute: AttributeBias) -> list[str]:
    """Return the values most frequent among pooled positives, and the query's own value."""
    return [
        *text_table(ATTRIBUTE_VALUES, attribute.values[:_MOST_VALUES]),
        f"The query's own value: {TEXT.share(attribute.same_as_query_positive)} of pooled "
        f"positives, {TEXT.share(attribute.same_as_query_negative)} of pooled negatives, "
        f"{TEXT.share(attribute.same_as_query_catalogue)} of the catalogue.",
    ]

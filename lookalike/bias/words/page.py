"""The bias report on one page of 100 columns: findings, models and fair comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.report import BiasReport
from lookalike.bias.words.advice import OUTSIDER_COLUMN, CutoffRow
from lookalike.metrics.leaderboard import NOBODY
from lookalike.stats.significance import PairedTest
from lookalike.stats.text_tables import TEXT, table

WIDTH = 100
_LONGEST_NAME = 28


def as_page(report: BiasReport, newcomers: Sequence[str] = ()) -> str:
    """Return the chief parts of a report as text of at most `WIDTH` columns.

    Args:
        report: the report.
        newcomers: names of models that get a section of their own.
    """
    names = short_names(report.models)
    lines = [*_pool(report), "", *_key(names)]
    lines += _section("What this means", _findings(report.findings))
    rows = {row.name: row for row in report.model_rows}
    for name in newcomers:
        lines += _section(f"Newcomer {names[name]}", _newcomer(report, rows[name], names))
    lines += _section("Models", _models(report, names))
    lines += _section("What may be compared", _advice(report.model_rows, names))
    lines += ["", "--full prints every table of the report."]
    return "\n".join(_without_double_gaps(lines)) + "\n"


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return the names themselves, or M1, M2, … where one is too long for a table."""
    if all(len(name) <= _LONGEST_NAME for name in models):
        return {name: name for name in models}
    return {name: f"M{number}" for number, name in enumerate(models, 1)}


def _key(names: dict[str, str]) -> Iterator[str]:
    for name, short in names.items():
        if name != short:
            yield from _wrapped(f"{short}  {name}", indent=4)


def _pool(report: BiasReport) -> Iterator[str]:
    pool = report.pool
    yield from _wrapped(
        f"Pool of {pool.n_generators} models to depth {pool.depth}: {pool.n_pairs:,} pairs of "
        f"{pool.n_queries:,} queries; judged {pool.n_judged:,}, similar {pool.n_positive:,} "
        f"({TEXT.share(pool.positive_share)})"
    )


def _findings(findings: Iterable[str]) -> Iterator[str]:
    for finding in findings:
        yield from _wrapped(f"- {finding}", indent=2)


def _models(report: BiasReport, names: dict[str, str]) -> Iterator[str]:
    depth = report.pool.depth
    rows = sorted(report.model_rows, key=lambda row: row.rank or len(report.model_rows) + 1)
    header = ["model", "part", "AUC", "95 % interval", "equal", "AP'", f"P@{depth}", "to", "judged"]
    cells = [header]
    for row in rows:
        cut = _at(row, depth)
        cells.append(
            [
                names[row.name],
                row.badge,
                TEXT.number(row.macro_auc.value, 3),
                TEXT.interval(row.macro_auc.interval, 3),
                TEXT.number(row.equal_outsider_auc.value, 3),
                TEXT.number(row.macro_ap.value, 3),
                TEXT.number(cut.precision.value if cut else None, 3),
                TEXT.number(cut.upper if cut else None, 3),
                TEXT.share(cut.judged if cut else None, 0),
            ]
        )
    yield from table(cells)
    yield from _wrapped(
        f"AUC: ROC-AUC of judged pairs, mean over queries. equal: the same with every model as an "
        f'outsider. P@{depth}: unjudged images count as misses; "to": as similar.'
    )


def _at(row: ModelRow, k: int) -> CutoffRow | None:
    return next((cut for cut in row.cutoffs if cut.k == k), None)


def _newcomer(report: BiasReport, row: ModelRow, names: dict[str, str]) -> Iterator[str]:
    """Yield the holes of its lists, its equal-outsider AUC, and its tests with other models."""
    if row.cutoffs:
        cells = [["", *(f"k = {cut.k}" for cut in row.cutoffs)]]
        cells.append(["judged of its first k", *(TEXT.share(c.judged, 0) for c in row.cutoffs)])
        cells.append(["holes", *(TEXT.share(c.hole, 0) for c in row.cutoffs)])
        cells.append(
            ["P@k, holes as misses", *(TEXT.number(c.precision.value, 3) for c in row.cutoffs)]
        )
        cells.append(["P@k, holes as similar", *(TEXT.number(c.upper, 3) for c in row.cutoffs)])
        yield from table(cells)
    else:
        yield "It scores the judged pairs alone, so it has no P@k and no holes."
    advice = next(one for one in row.advice if one.column == OUTSIDER_COLUMN)
    column = row.equal_outsider_auc
    ends = TEXT.interval(column.interval, 3)
    if not column.interval.is_defined:
        ends = f"(no interval: {column.interval.reason or 'undefined'})"
    yield ""
    yield from _wrapped(
        f"Equal-outsider AUC {TEXT.number(column.value, 3)} {ends} over {column.n_queries} "
        f"queries; compare with {advice.comparable_with}: {advice.reason}."
    )
    if advice.comparable_with != NOBODY:
        yield from _tests_of(report, row, names)


def _tests_of(report: BiasReport, row: ModelRow, names: dict[str, str]) -> Iterator[str]:
    """Yield the tests of a newcomer by equal-outsider AUC with the models of no relatives."""
    alone = {
        one.name
        for one in report.model_rows
        for advice in one.advice
        if advice.column == OUTSIDER_COLUMN and advice.comparable_with == NOBODY
    }
    [tests] = [one.tests for one in report.tests if one.measure == EQUAL_OUTSIDER]
    cells = [["minus", "difference", "95 % interval", "p", "p Holm"]]
    for test in tests:
        if row.name in (test.first, test.second):
            other, sign = (test.second, 1) if test.first == row.name else (test.first, -1)
            if other not in alone:
                cells.append([names[other], *_test_cells(test, sign)])
    if len(cells) > 1:
        yield from table(cells)


def _test_cells(test: PairedTest, sign: int) -> list[str]:
    low, high = sorted((sign * test.interval.low, sign * test.interval.high))
    ends = "-" if math.isnan(low) else f"[{low:+.3f}, {high:+.3f}]"
    return [
        TEXT.number(sign * test.difference, 3, signed=True),
        ends,
        TEXT.p_value(test.p),
        TEXT.p_value(test.p_holm),
    ]


def _advice(rows: Sequence[ModelRow], names: dict[str, str]) -> Iterator[str]:
    """Yield for each column with whom models may be compared, models alike together."""
    columns = dict.fromkeys(advice.column for row in rows for advice in row.advice)
    for column in columns:
        groups: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            for advice in row.advice:
                if advice.column == column:
                    key = (advice.comparable_with, advice.reason)
                    groups.setdefault(key, []).append(names[row.name])
        yield column
        for (whom, reason), members in groups.items():
            group = "all" if len(members) == len(rows) else ", ".join(members)
            yield from _wrapped(f"  {group}: with {whom}; {reason}", indent=4)


def _wrapped(text: str, indent: int = 0) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent=" " * indent, break_long_words=True)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return ["", title, "=" * len(title), *lines]


def _without_double_gaps(lines: Sequence[str]) -> Iterator[str]:
    for line, before in zip(lines, ["", *lines], strict=False):
        if line or before:
            yield line

"""`lookalike compare --release X.zip --run a --run b`: what tells models apart."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from lookalike.cli.options import comma_list
from lookalike.cli.output import Report, format_option
from lookalike.cli.run_options import (
    RUNS,
    add_missing,
    add_runs,
    check_runs,
    hint_at_missing,
    require_runs,
)
from lookalike.cli.unit_option import add_unit
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Cell, Table
from lookalike.io.errors import InputError
from lookalike.io.interval_svg import IntervalRow, interval_svg
from lookalike.metrics.uncertainty import ALPHA
from lookalike.release.compare import Difference, ModelComparison, compare
from lookalike.stats.text_tables import TEXT, table
from lookalike.stats.units import PRODUCT, QUERY

DESCRIPTION = (
    "Compare models on a release, each two of them, by the tests of its board: difference, "
    "interval, effect size, p, p after Holm's correction, and the board's letters."
)
EXAMPLE = "lookalike compare --release luma-1.0.0.zip --run timm-resnet50 --run mine.parquet"
WIDTH = 100
ENDING = ".svg"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--release", type="input", required=True, metavar="RELEASE", help="folder or zip"
    )
    add_runs(parser, f"a model of the release by id or name, or {RUNS}", "MODEL")
    parser.add_argument("--measures", metavar="A,B", help="default: all of the board")
    add_missing(parser)
    parser.add_argument(
        "--complete",
        action="store_true",
        help="the pairs put to the judges are all there is to rank",
    )
    add_unit(parser, "the release's attributes")
    parser.add_argument("--svg", type=_svg_file, metavar="FILE", help="write a chart there")
    format_option(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Compare the models, and write the chart if one is asked for.

    Raises:
        InputError: a release, model, file or measure that cannot be used; or a chart of nothing.
        OSError: a file cannot be read or written.
    """
    require_runs(arguments)
    with hint_at_missing():
        found = compare(
            arguments.release,
            arguments.run,
            None if arguments.measures is None else comma_list(arguments.measures),
            ids=check_runs(arguments),
            missing=arguments.missing,
            complete=arguments.complete,
            unit=arguments.unit,
        )
    if arguments.svg is not None:
        arguments.svg.write_text(comparison_svg(found), encoding="utf-8")
    return Report(
        title=f"{found.release}: {', '.join(found.models)}",
        text=comparison_text(found),
        data=comparison_data(found),
        table=numbers_table(found),
        words=words_table(found),
        notes=found.notes,
        below=list(_legend(found)),
    )


def comparison_text(found: ModelComparison) -> str:
    """Return a comparison as text of at most `WIDTH` columns."""
    letter_of = _capitals(found.models)
    badge_of = {line.model.name: line.model.badge for line in found.board.lines}
    lines = [f"Release: {found.release} (seal {found.seal[:16]})"]
    lines += [f"{letter_of[name]}  {name} ({badge_of[name]})" for name in found.models]
    reasons: list[str] = []
    for pair in _pairs(found):
        first, second = letter_of[pair[0].first], letter_of[pair[0].second]
        header = [
            *("measure", first, second, f"{first} - {second}", "95 % interval"),
            *("d_z", "n", "p", "p Holm"),
        ]
        lines += ["", *table([header, *(_text_row(one, reasons) for one in pair)])]
    lines.append("")
    lines += [line for text in _legend(found) for line in wrap(text, WIDTH)]
    for number, reason in enumerate(reasons, 1):
        lines += wrap(f"({number}) {reason}", WIDTH, subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def _text_row(one: Difference, reasons: list[str]) -> list[str]:
    values = [
        f"{TEXT.number(cell.value, 3)} {cell.letters}".rstrip()
        for cell in (one.first_cell, one.second_cell)
    ]
    if one.test is None:
        if one.reason not in reasons:
            reasons.append(one.reason)
        return [one.measure, *values, f"({reasons.index(one.reason) + 1})", *["-"] * 5]
    test = one.test
    n_units = test.n_units if test.n_units is not None else test.n_queries
    n = f"{test.n_queries}/{n_units}" if n_units < test.n_queries else str(test.n_queries)
    return [
        one.measure,
        *values,
        TEXT.number(test.difference, 3, signed=True),
        TEXT.interval(test.interval, 3, signed=True),
        TEXT.number(test.effect_size, 2, signed=True),
        n,
        TEXT.p_value(test.p),
        TEXT.p_value(test.p_holm),
    ]


def _legend(found: ModelComparison) -> Iterator[str]:
    """Yield the words below a comparison, whatever its form."""
    unit = found.unit
    yield (
        "n: queries of both models"
        + (f" / {_units(unit)}, which intervals and tests take as independent" * (unit != QUERY))
        + ". d_z: mean over standard deviation of the differences."
    )
    flips = f" that flip queries of one {unit} together" if unit != QUERY else ""
    yield (
        f"Two-sided paired sign-flip tests{flips}; p Holm is corrected over all models of the "
        "board that may be compared in a measure. Models that share a letter are not told apart "
        f"({ALPHA:.0%})."
    )


def _units(unit: str) -> str:
    return "their products" if unit == PRODUCT else f"their groups by {unit}"


def _capitals(models: Sequence[str]) -> dict[str, str]:
    """Return A, B, … Z, AA, … for the models."""
    names = [chr(ord("A") + at) for at in range(26)]
    names += [a + b for a in names[:26] for b in names[:26]]
    return dict(zip(models, names, strict=False))


def _pairs(found: ModelComparison) -> Iterator[list[Difference]]:
    """Yield the differences of each two models."""
    n = len(found.board.columns)
    for start in range(0, len(found.differences), n):
        yield list(found.differences[start : start + n])


def numbers_table(found: ModelComparison) -> Table:
    """Return a row for each two models and measure, at full precision."""
    header = (
        *("measure", "first", "second", "first_value", "second_value", "difference", "low"),
        *("high", "effect_size", "n_queries", "unit", "n_units", "p", "p_holm"),
        *("first_letters", "second_letters", "reason"),
    )
    rows: list[list[Cell]] = []
    for one in found.differences:
        test = one.test
        tested: list[Cell] = [None] * 8
        if test is not None:
            tested = [
                *(test.difference, test.interval.low, test.interval.high, test.effect_size),
                *(test.n_queries, found.unit, test.n_units, test.p),
            ]
        rows.append(
            [
                *(one.measure, one.first, one.second),
                *(one.first_cell.value, one.second_cell.value),
                *tested,
                None if test is None else test.p_holm,
                *(one.first_cell.letters, one.second_cell.letters, one.reason),
            ]
        )
    return Table(header, rows)


def words_table(found: ModelComparison) -> Table:
    """Return the table of a paper: each two models under a heading of their own."""
    header = (
        *("Measure", "First", "Second", "Difference", "95 % interval", "d_z", "n"),
        *("p", "p (Holm)"),
    )
    rows: list[list[Cell]] = []
    for pair in _pairs(found):
        rows.append([f"{pair[0].first} – {pair[0].second}"])
        rows += [[*_text_row(one, [])] for one in pair]
        for row, one in zip(rows[-len(pair) :], pair, strict=True):
            if one.test is None:
                row[3] = "not compared"
    return Table(header, rows)


def comparison_data(found: ModelComparison) -> dict[str, Any]:
    """Return a comparison as JSON has it."""
    rows = numbers_table(found)
    return {
        "release": found.release,
        "seal": found.seal,
        "models": list(found.models),
        "unit": found.unit,
        "differences": [dict(zip(rows.header, row, strict=True)) for row in rows.rows],
        "board": as_json(found.board),
    }


def comparison_svg(found: ModelComparison) -> str:
    """Return the differences with their intervals as a chart.

    Raises:
        InputError: no two of the models may be compared by any measure.
    """
    tested = [one for one in found.differences if one.test is not None]
    if not tested:
        raise InputError("--svg: no two of these models may be compared by any of these measures")
    letter_of = _capitals(found.models)
    rows = [
        IntervalRow(
            f"{letter_of[one.first]} - {letter_of[one.second]}  {one.measure}",
            one.test.difference,
            one.test.interval.low,
            one.test.interval.high,
            one.test.p_holm < ALPHA,
        )
        for one in tested
        if one.test is not None
    ]
    return interval_svg(
        f"Differences on {found.release}",
        "Difference with 95 % interval; filled: told apart after Holm's correction",
        rows,
        [f"{letter_of[name]}  {name}" for name in found.models],
    )


def _svg_file(text: str) -> Path:
    path = Path(text)
    if path.suffix != ENDING:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {ENDING}")
    return path

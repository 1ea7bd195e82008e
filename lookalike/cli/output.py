"""What a command has to say, and the one way in which all of them say it."""

from __future__ import annotations

import argparse
import html
import io
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.core.dataclass_json import as_json
from lookalike.io.errors import InputError
from lookalike.io.writers import write_csv

Cell = str | int | float | None
ENDINGS = (".json", ".csv", ".md", ".html")
WANTING = 1  # the exit status for what was checked and found wanting


@dataclass(frozen=True)
class Table:
    """Rows under a header; None and NaN are undefined."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Report:
    """What a command found.

    Attributes:
        title: a heading for documents.
        text: for a person at a terminal, ending with a line break.
        data: for `--json`; undefined values are None or NaN, and become null.
        table: for CSV, and in documents in place of the text.
        status: 0, or `WANTING`.
        notes: remarks, which go to stderr, and into JSON and documents.
        indent: of the JSON; None puts it on one line.
    """

    title: str
    text: str
    data: Any
    table: Table | None = None
    status: int = 0
    notes: Sequence[str] = ()
    indent: int | None = 1


def output_options() -> argparse.ArgumentParser:
    """Return a parent parser with the options `--json` and `--out`."""
    parent = argparse.ArgumentParser(add_help=False)
    group = parent.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="one JSON object on stdout")
    group.add_argument(
        "--out",
        type=_out_file,
        metavar="FILE",
        help="write the report there, by its ending as json, csv, md or html",
    )
    return parent


def write_report(report: Report, arguments: argparse.Namespace, shown: Callable[[str], str]) -> int:
    """Write a report where the arguments want it, remarks to stderr, and return its status.

    Args:
        report: what was found.
        arguments: with `json`, and `out` where the report may go to a file.
        shown: puts the names of inputs as the user gave them.

    Raises:
        InputError: a CSV is wanted of a report without a table.
        OSError: the file cannot be written.
    """
    path: Path | None = getattr(arguments, "out", None)
    if path is not None:
        path.write_text(shown(_rendered(report, path.suffix)), encoding="utf-8")
    for note in report.notes:
        sys.stderr.write(f"note: {shown(note)}\n")
    if arguments.json:
        sys.stdout.write(shown(_json(report)))
    elif path is None:
        sys.stdout.write(shown(report.text))
    return report.status


def _out_file(text: str) -> Path:
    path = Path(text)
    if path.suffix not in ENDINGS:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(ENDINGS)}")
    return path


def _json(report: Report) -> str:
    data = as_json(report.data)
    if report.notes and isinstance(data, dict):
        data = {**data, "notes": list(report.notes)}
    return json.dumps(data, indent=report.indent, allow_nan=False, ensure_ascii=False) + "\n"


def _rendered(report: Report, ending: str) -> str:
    if ending == ".json":
        return _json(report)
    if ending == ".csv":
        if report.table is None:
            raise InputError("this report is no table; --out takes a .json, .md or .html file")
        out = io.StringIO()
        rows = [["" if _cell(c) == "" else c for c in row] for row in report.table.rows]
        write_csv(out, rows, report.table.header)
        return out.getvalue()
    return _markdown(report) if ending == ".md" else _page(report)


def _markdown(report: Report) -> str:
    notes = "".join(f"\nNote: {note}\n" for note in report.notes)
    if report.table is None:
        return f"# {report.title}\n\n```\n{report.text.strip()}\n```\n{notes}"
    lines = [report.table.header, ["---"] * len(report.table.header)]
    lines += [[_cell(cell).replace("|", "\\|") for cell in row] for row in report.table.rows]
    rows = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"# {report.title}\n\n{rows}{notes}"


def _page(report: Report) -> str:
    title = html.escape(report.title)
    if report.table is None:
        body = f"<pre>{html.escape(report.text.strip())}</pre>"
    else:
        lines = [_html_row("th", report.table.header)]
        lines += [_html_row("td", [_cell(cell) for cell in row]) for row in report.table.rows]
        body = "<table>\n" + "\n".join(lines) + "\n</table>"
    body += "".join(f"\n<p>Note: {html.escape(note)}</p>" for note in report.notes)
    head = f'<!doctype html>\n<meta charset="utf-8">\n<title>{title}</title>\n'
    return f"{head}<h1>{title}</h1>\n{body}\n"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _cell(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)

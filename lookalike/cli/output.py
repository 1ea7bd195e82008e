"""What a command has to say, and the one way in which all of them say it."""

from __future__ import annotations

import argparse
import html
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table, as_csv, as_html, as_latex, as_markdown, markdown_text
from lookalike.io.errors import InputError

ENDINGS = (".json", ".csv", ".md", ".tex", ".html")
FORMATS = {"text": "", "latex": ".tex", "markdown": ".md", "csv": ".csv", "json": ".json"}
_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
body {{ max-width: 75rem; margin: 2rem auto; padding: 0 1rem }}
li, p {{ max-width: 70ch }}
table {{ display: block; overflow-x: auto; border-collapse: collapse }}
th, td {{ padding: .3rem .7rem; border-bottom: 1px solid #8886 }}
th, td {{ text-align: right; white-space: nowrap }}
th:first-child, td:first-child {{ text-align: left }}
pre {{ overflow-x: auto }}
</style>"""
WANTING = 1  # the exit status for what was checked and found wanting


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
        findings: the main points, a sentence each; in documents above the table, below which the
            text then stands as well.
        words: the table as a paper has it, with numbers rounded; in documents in place of
            `table`, which then is for CSV alone.
        below: sentences below that table; the text has them already.
        full: the whole report where `text` is one page of it; documents hold it.
    """

    title: str
    text: str
    data: Any
    table: Table | None = None
    status: int = 0
    notes: Sequence[str] = ()
    indent: int | None = 1
    findings: Sequence[str] = ()
    words: Table | None = None
    below: Sequence[str] = ()
    full: str = ""

    @property
    def shown_table(self) -> Table | None:
        """The table of documents."""
        return self.words or self.table


def output_options() -> argparse.ArgumentParser:
    """Return a parent parser with the options `--json` and `--out`."""
    parent = argparse.ArgumentParser(add_help=False)
    group = parent.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="one JSON object on stdout")
    group.add_argument(
        "--out",
        type=_out_file,
        metavar="FILE",
        help="write the report there, by its ending as json, csv, md, tex or html",
    )
    return parent


def format_option(parser: argparse.ArgumentParser) -> None:
    """Add the option `--format`, for commands with a table that papers print."""
    parser.add_argument(
        "--format",
        dest="printed_as",
        choices=tuple(FORMATS),
        default="text",
        help="what is printed (default: %(default)s)",
    )


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
    ending = ".json" if arguments.json else FORMATS[getattr(arguments, "printed_as", "text")]
    if ending:
        sys.stdout.write(shown(_rendered(report, ending)))
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
    if ending in (".csv", ".tex"):
        table = report.table if ending == ".csv" else report.shown_table
        if table is None:
            raise InputError("this report is no table; --out takes a .json, .md or .html file")
        if ending == ".csv":
            return as_csv(table)
        return as_latex(table) + "".join(f"% {line}\n" for line in report.below)
    return _markdown(report) if ending == ".md" else _page(report)


def _markdown(report: Report) -> str:
    text = f"```\n{(report.full or report.text).strip()}\n```\n"
    parts = [f"# {markdown_text(report.title)}\n"]
    if report.findings:
        findings = "".join(f"- {markdown_text(one)}\n" for one in report.findings)
        parts.append(f"## In plain words\n\n{findings}")
    parts.append(as_markdown(report.shown_table) if report.shown_table else text)
    parts += [f"{markdown_text(line)}\n" for line in report.below]
    parts += [f"Note: {markdown_text(note)}\n" for note in report.notes]
    if report.findings and report.table:
        parts.append(f"## In full\n\n{text}")
    return "\n".join(parts)


def _page(report: Report) -> str:
    title = html.escape(report.title)
    text = f"<pre>{html.escape((report.full or report.text).strip())}</pre>"
    parts = [f"<h1>{title}</h1>"]
    if report.findings:
        items = "".join(f"\n<li>{html.escape(one)}</li>" for one in report.findings)
        parts.append(f"<h2>In plain words</h2>\n<ul>{items}\n</ul>")
    parts.append(as_html(report.shown_table) if report.shown_table else text)
    parts += [f"<p>{html.escape(line)}</p>" for line in report.below]
    parts += [f"<p>Note: {html.escape(note)}</p>" for note in report.notes]
    if report.findings and report.table:
        parts.append(f"<details><summary>In full</summary>\n{text}\n</details>")
    return "\n".join([_HEAD.format(title=title), *parts]) + "\n"

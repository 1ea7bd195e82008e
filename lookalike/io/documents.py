"""A table written as a document: CSV, Markdown, LaTeX, HTML."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lookalike.io.writers import write_csv

Cell = str | int | float | None
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "′": "$'$",
    "’": "'",
}
_MARKDOWN = re.compile(
    r"(?P<interval>\[[-−+\d., ]+\](?![(\[]))|[\\`*|\[\]]|(?<!\w)_|_(?!\w)"
    r"|<(?=[a-zA-Z/!?])|&(?=#?\w+;)"
)


@dataclass(frozen=True)
class Table:
    """Rows under a header; None and NaN are undefined. A row of one cell alone is a heading."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def as_csv(table: Table) -> str:
    """Return comma-separated values; numbers keep all their digits."""
    out = io.StringIO()
    rows = [["" if _text(cell) == "" else cell for cell in row] for row in table.rows]
    write_csv(out, rows, table.header)
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """Return a Markdown table.

    >>> print(as_markdown(Table(["model", "P@5"], [["a|b", 0.25]])), end="")
    | model | P@5 |
    | --- | --- |
    | a\\|b | 0.2500 |
    """
    lines = [[markdown_text(name) for name in table.header], ["---"] * len(table.header)]
    for row in table.rows:
        cells = [markdown_text(_text(cell)) for cell in row]
        is_heading = len(cells) == 1 < len(table.header)
        lines.append([f"**{cells[0]}**", *[""] * (len(table.header) - 1)] if is_heading else cells)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown_text(text: str) -> str:
    """Return a text as one line of Markdown that shows it as it is: no link, HTML or code.

    >>> print(markdown_text("[a](b)|<i>c</i> 0.90 [0.85, 0.95], p < .05"))
    \\[a\\](b)\\|&lt;i>c&lt;/i> 0.90 [0.85, 0.95], p < .05
    """

    def escaped(sign: re.Match[str]) -> str:
        if sign[0] in "<&":  # not every program knows these with a backslash
            return html.escape(sign[0])
        return sign["interval"] or f"\\{sign[0]}"

    return _MARKDOWN.sub(escaped, re.sub(r"\s*[\r\n]+\s*", " ", text))


def as_html(table: Table) -> str:
    """Return an HTML table."""
    lines = [_html_row("th", table.header)]
    lines += [_html_row("td", [_text(cell) for cell in row]) for row in table.rows]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def as_latex(table: Table) -> str:
    """Return a LaTeX table for the package booktabs; the first column stands to the left.

    >>> print(as_latex(Table(["model", "P@5"], [["lite_0", 0.25]])), end="")
    \\begin{tabular}{lr}
    \\toprule
    model & P@5 \\\\
    \\midrule
    lite\\_0 & 0.2500 \\\\
    \\bottomrule
    \\end{tabular}
    """
    width = len(table.header)
    lines = [[latex_text(_text(cell)) for cell in row] for row in [table.header, *table.rows]]
    head, *rows = (
        rf"\multicolumn{{{width}}}{{l}}{{\emph{{{cells[0]}}}}} \\"
        if len(cells) == 1 < width
        else " & ".join(cells) + r" \\"
        for cells in lines
    )
    columns = "l" + "r" * (len(table.header) - 1)
    begin = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*begin, *rows, r"\bottomrule", r"\end{tabular}"]) + "\n"


def latex_notes(notes: Iterable[str]) -> str:
    """Return sentences in small print, to stand below a LaTeX table."""
    text = " ".join(map(latex_text, notes))
    return f"\\par\\smallskip\\noindent{{\\footnotesize {text}}}\n"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def latex_text(text: str) -> str:
    """Return a text that LaTeX prints as it is."""
    return re.sub("|".join(map(re.escape, _LATEX)), lambda match: _LATEX[match[0]], text)


def _text(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float):
        is_count = cell.is_integer() and abs(cell) > 1
        return str(int(cell)) if is_count else f"{cell:.4f}"
    return str(cell)

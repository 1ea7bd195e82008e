"""CSV lines, and cells that no spreadsheet runs as formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from lookalike.io.errors import FormatError
from lookalike.io.text_files import (
    EXCEL_HINT,
    MAX_LINE,
    head_lines,
    not_decodable,
    open_text,
    separator_of,
    text_lines,
    too_long,
)

# A cell that a spreadsheet would run as a formula, with the marks that already protect it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def protected(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; `unprotected` undoes it."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unprotected(cell: str) -> str:
    """Return what `protected` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_lines(path: Path, separator: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of each line that is not blank.

    Comma, semicolon, tab or bar separate cells, as the first line does; spaces around names of
    columns are dropped.

    Args:
        path: UTF-8, or UTF-16 or UTF-32 with a mark.
        separator: between cells; None: detect it from the first line.

    Raises:
        FormatError: broken quoting, named by the line where its row begins; a row of endless
            length; or text in another encoding.
    """
    begins = 1  # line on which the row begins that is being read
    n_read = 0  # characters of it

    def lines() -> Iterator[str]:
        nonlocal n_read
        for line, text in text_lines(path, file):
            n_read += len(text)
            if n_read > MAX_LINE:
                raise too_long(path, begins)
            if line > 1 or not EXCEL_HINT.match(text):
                yield text
            else:
                yield "\n"

    with open_text(path) as file:
        try:
            delimiter = separator or separator_of(next(iter(head_lines(path)), ""))
            reader = csv.reader(lines(), delimiter=delimiter, strict=True)
            is_header = True
            for cells in reader:
                if cells:
                    yield reader.line_num, [c.strip() for c in cells] if is_header else cells
                    is_header = False
                n_read, begins = 0, reader.line_num + 1
        except csv.Error as error:
            reason = f"{error} (a quote that opens here may never close)"
            raise FormatError(path, begins, reason) from error
        except UnicodeDecodeError as error:
            raise not_decodable(path) from error

"""CSV lines, cells that no spreadsheet runs as formulas, and the byte that is not UTF-8."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from lookalike.io.errors import FormatError

# A cell that a spreadsheet would run as a formula, with the marks that already protect it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def protected(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; `unprotected` undoes it."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unprotected(cell: str) -> str:
    """Return what `protected` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of each line that is not blank.

    Raises:
        FormatError: broken quoting, or not UTF-8.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            for cells in reader:
                if cells:
                    yield reader.line_num, cells
        except csv.Error as error:
            raise FormatError(path, reader.line_num, str(error)) from error
        except UnicodeDecodeError as error:
            raise not_utf8(path) from error


def not_utf8(path: Path) -> FormatError:
    """Return the error for the first line that is not UTF-8 (text is decoded in large blocks)."""
    with path.open("rb") as file:
        for line, raw in enumerate(file, 1):
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                byte = raw[error.start]
                return FormatError(path, line, f"byte 0x{byte:02x} is not UTF-8")
    return FormatError(path, None, "the file is not UTF-8")

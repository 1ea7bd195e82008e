"""CSV lines, cells that no spreadsheet runs as formulas, and the byte that is not UTF-8."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from lookalike.io.errors import FormatError

MAX_LINE = 2**20  # characters; a row of CSV may have no more in all its lines
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
        FormatError: broken quoting, a row of endless length, or not UTF-8.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        n_read = 0  # characters of the row that is being read

        def lines() -> Iterator[str]:
            nonlocal n_read
            for line, text in text_lines(path, file):
                n_read += len(text)
                if n_read > MAX_LINE:
                    raise _endless(path, line)
                yield text

        reader = csv.reader(lines(), strict=True)
        try:
            for cells in reader:
                n_read = 0
                if cells:
                    yield reader.line_num, cells
        except csv.Error as error:
            raise FormatError(path, reader.line_num, str(error)) from error
        except UnicodeDecodeError as error:
            raise not_utf8(path) from error


def text_lines(path: Path, file: TextIO) -> Iterator[tuple[int, str]]:
    """Yield (line number, line with its end) of an open file; no line is held without bounds.

    Raises:
        FormatError: a line of more than MAX_LINE characters.
        UnicodeDecodeError: as the file does.
    """
    number = 0
    while text := file.readline(MAX_LINE + 1):
        number += 1
        if len(text) > MAX_LINE:
            raise _endless(path, number)
        yield number, text


def _endless(path: Path, line: int) -> FormatError:
    return FormatError(path, line, f"the line has more than {MAX_LINE:,} characters")


def not_utf8(path: Path) -> FormatError:
    """Return the error for the first line that is not UTF-8 (text is decoded in large blocks)."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with path.open("rb") as file:
        try:
            while block := file.read(MAX_LINE):
                line += decoder.decode(block).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            byte = error.object[error.start]
            return FormatError(path, line, f"byte 0x{byte:02x} is not UTF-8")
    return FormatError(path, None, "the file is not UTF-8")

"""Read a table of text as spreadsheets write it: its encoding and separator are detected."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from lookalike.io.encodings import OF_TABLES, can_decode, guess_encoding
from lookalike.io.errors import InputError
from lookalike.io.text_files import EXCEL_HINT, HEAD, SEPARATORS, encoding_of

SEPARATOR_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SAMPLE = 64  # rows to tell the separator by


class TextTableError(InputError):
    """The file is no table; the message names it, the line where the fault began, and a remedy."""


@dataclass(frozen=True)
class DecodedText:
    """The text of a file.

    Attributes:
        text: without a byte order mark. Bytes that are not of the encoding are lone surrogates.
        encoding: such as "utf-8" or "cp1252".
        is_guess: neither a mark nor the bytes themselves decide it.
    """

    text: str
    encoding: str
    is_guess: bool = False


@dataclass(frozen=True)
class TextRow:
    """One row with any content.

    Attributes:
        number: as a spreadsheet counts: rows, the first being 1.
        line: on which it begins, as an editor counts.
        cells: as they stand.
    """

    number: int
    line: int
    cells: list[str]


def decode_text(content: bytes) -> DecodedText:
    """Decode the bytes of a table.

    UTF-16 and UTF-32 as `text_files.encoding_of` tells them, else UTF-8. Of a file that is UTF-8
    but for some lines, these keep surrogates for their wrong bytes. A file without any line of
    UTF-8 beyond ASCII is of an older encoding, which is guessed: Windows' first.

    >>> decode_text("grün".encode("cp1252")).encoding
    'cp1252'
    """
    encoding = encoding_of(content[:HEAD])
    if encoding != "utf-8-sig":
        is_guess = encoding.endswith(("-le", "-be"))  # without a mark
        return DecodedText(content.decode(encoding, "replace"), encoding, is_guess)
    has_mark = content.startswith(codecs.BOM_UTF8)
    content = content.removeprefix(codecs.BOM_UTF8)
    if has_mark:
        return DecodedText(content.decode("utf-8", "surrogateescape"), "utf-8")
    if can_decode(content, "utf-8"):
        return DecodedText(content.decode(), "utf-8")
    foreign = [line for line in content.splitlines() if not line.isascii()]
    if any(can_decode(line, "utf-8") for line in foreign) or b"\0" in content:
        return DecodedText(content.decode("utf-8", "surrogateescape"), "utf-8")
    encoding = guess_encoding(content, OF_TABLES)
    return DecodedText(content.decode(encoding), encoding, is_guess=True)


def detect_separator(text: str) -> tuple[str, str]:
    """Return the separator of a table's columns, and the text without a line that states it.

    Excel writes it into a first line such as `sep=;`. Else it is the one by which most of the
    first rows have the same number of cells, of several the one with most cells.
    """
    first, _, rest = text.partition("\n")
    if hint := EXCEL_HINT.match(first.strip(' \r\n"')):
        return hint[1], rest
    best, most = ",", (0.0, 1)
    for separator in SEPARATORS:
        widths = Counter(_widths(text, separator))
        if not widths:
            continue
        width, n = max(widths.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))
        rank = (round(n / sum(widths.values()), 1) if width > 1 else 0.0, width)
        if rank > most:
            best, most = separator, rank
    return best, text


def _widths(text: str, separator: str) -> Iterator[int]:
    reader = csv.reader(io.StringIO(text[: 2**20], newline=""), delimiter=separator)
    try:
        for cells in reader:
            if any(cells):
                yield len(cells)
            if reader.line_num >= _SAMPLE:
                return
    except csv.Error:
        return


def text_rows(text: str, separator: str, name: str, n_before: int = 0) -> Iterator[TextRow]:
    """Yield the rows of a table that hold anything.

    Args:
        text: of the table.
        separator: of its columns.
        name: of the file, for messages.
        n_before: lines of the file before the text.

    Raises:
        TextTableError: broken quoting; names the line on which the row begins.
    """
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    number, start = n_before, n_before + 1
    try:
        for cells in reader:
            number += 1
            if any(cells):
                yield TextRow(number, start, cells)
            start = n_before + reader.line_num + 1
    except csv.Error as problem:
        end = n_before + reader.line_num
        noticed = f" (noticed on line {end})" if end > start else ""
        raise TextTableError(
            f"{name} line {start} is not proper CSV: {_quoting(str(problem))}{noticed}. "
            "Close or remove the quotation mark there, or double those inside a cell."
        ) from problem


def _quoting(problem: str) -> str:
    if "unexpected end of data" in problem:
        return "a quotation mark that is opened there is never closed"
    if "field larger than field limit" in problem:
        return "a cell has more than 131,072 characters, as where a quotation mark is not closed"
    return f"a quotation mark ends before its cell does: {problem}"

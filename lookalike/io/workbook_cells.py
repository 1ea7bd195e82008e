"""Cells of a sheet of .xlsx that hold an error, or a formula without its value.

The reader of workbooks gives both as empty cells, which would lose products without a word.
Source: ECMA-376, part 1, sections 18.2.19 (sheets) and 18.3.1.4 (cells).
"""

from __future__ import annotations

import html
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

_BOOK, _TARGETS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_TAG = re.compile(rb"<(?:\w+:)?(sheet|Relationship)\s([^>]*)>")
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*[^>/])>(.*?)</(?:\w+:)?c>", re.DOTALL)
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?(?:/>|>(.*?)</(?:\w+:)?v>)", re.DOTALL)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_ERROR = re.compile(rb'\bt="e"')
_REFERENCE = re.compile(r"([A-Z]+)([0-9]+)\Z")


class OddCell(NamedTuple):
    """A cell that a reader takes for empty.

    Attributes:
        row: from 1.
        column: from 1.
        error: such as "#N/A"; "" for a formula without its value.
    """

    row: int
    column: int
    error: str


def odd_cells(content: bytes, title: str) -> list[OddCell]:
    """Return the odd cells of a sheet, none of a file that is no .xlsx.

    Args:
        content: of the workbook.
        title: of the sheet.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        part = _part(archive, title)
        sheet = archive.read(part) if part in archive.namelist() else b""
    if not _ERROR.search(sheet) and not _FORMULA.search(sheet):
        return []
    return list(_odd(sheet))


def _part(archive: zipfile.ZipFile, title: str) -> str:
    """Return the name of the part of the archive that holds a sheet, "" where none is stated."""
    if not {_BOOK, _TARGETS} <= set(archive.namelist()):
        return ""
    targets = {one.get("Id"): one.get("Target", "") for one in _tags(archive.read(_TARGETS))}
    for one in _tags(archive.read(_BOOK)):
        if one.get("name") == title:
            return posixpath.normpath(posixpath.join("/xl", targets.get(one.get("id"), "")))[1:]
    return ""


def _tags(part: bytes) -> Iterator[dict[str, str]]:
    for tag in _TAG.finditer(part):
        pairs = re.findall(r'(?:\w+:)?(\w+)="([^"]*)"', tag[2].decode("utf-8", "replace"))
        yield {name: html.unescape(value) for name, value in pairs}


def _odd(sheet: bytes) -> Iterator[OddCell]:
    for cell in _CELL.finditer(sheet):
        is_error = _ERROR.search(cell[1]) is not None
        if not is_error and not _FORMULA.search(cell[2]):
            continue
        value = _VALUE.search(cell[2])
        has_value = value is not None and (value[1] or b't="str"' in cell[1])  # an empty text
        if is_error or not has_value:
            names = re.search(rb'\br="([A-Z]+[0-9]+)"', cell[1])
            place = _REFERENCE.match(names[1].decode()) if names else None
            if place:
                error = html.unescape((value[1] or b"").decode("utf-8", "replace")) if value else ""
                yield OddCell(int(place[2]), _column(place[1]), error if is_error else "")


def _column(letters: str) -> int:
    """Return the number of a column, from 1.

    >>> [_column(letters) for letters in ("A", "Z", "AA")]
    [1, 26, 27]
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number

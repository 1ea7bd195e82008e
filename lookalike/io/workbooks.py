"""Read the first filled sheet of a workbook: Excel (.xlsx, .xlsb, .xls) or OpenDocument (.ods)."""

from __future__ import annotations

import datetime
import io
import zipfile
from dataclasses import dataclass

from lookalike.core.unpacking import DAMAGES, why_too_much
from lookalike.io.errors import InputError
from lookalike.io.text_tables import TextRow
from lookalike.io.workbook_cells import odd_cells

OLE = b"\xd0\xcf\x11\xe0"
ZIP = b"PK\x03\x04"
_PARTS = {"xl/workbook.xml": "Excel", "xl/workbook.bin": "Excel", "content.xml": "OpenDocument"}
MOST_DIGITS = 15  # that a spreadsheet keeps of a number


class WorkbookError(InputError):
    """The file is no workbook that can be read; the message names it, and what to do."""


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet as text.

    Attributes:
        title: its name.
        kind: "Excel" or "OpenDocument".
        rows: those that hold anything, numbered as the spreadsheet does.
        others: names of other sheets that hold anything, which were not read.
    """

    title: str
    kind: str
    rows: list[TextRow]
    others: tuple[str, ...]


def is_workbook(content: bytes) -> bool:
    """Whether bytes begin as workbooks do: as a zip file or an older Office document."""
    return content.startswith((ZIP, OLE))


def read_workbook(content: bytes, name: str) -> Sheet:
    """Return the first sheet that holds anything.

    Whole numbers have no decimal places, dates are written as 2026-01-31, formulas as the value
    that was stored with them. Every row of a merged range has its value. Errors of .xlsx stand as
    they are shown, such as `#N/A`.

    Raises:
        WorkbookError: no workbook, protected by a password, damaged, empty, far larger than its
            file, or with formulas whose values were not stored.
    """
    from python_calamine import (  # noqa: PLC0415  (of the extras, as few need it)
        CalamineError,
        CalamineWorkbook,
        PasswordError,
    )

    kind = _kind(content, name)
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = {title: _rows(workbook, title) for title in workbook.sheet_names}
    except PasswordError:
        raise WorkbookError(f"{name} is protected by a password. Save it without one.") from None
    except (CalamineError, OSError, ValueError) as problem:
        raise WorkbookError(
            f"{name} is no {kind} workbook that can be read ({problem}). Open it in the "
            "spreadsheet and save it again as .xlsx or CSV."
        ) from problem
    filled = [title for title, rows in sheets.items() if rows]
    if not filled:
        raise WorkbookError(f"{name} is empty: no sheet holds anything.")
    title = filled[0]
    rows = sheets[title] if content.startswith(OLE) else _with_errors(content, name, title, sheets)
    return Sheet(title, kind, rows, tuple(filled[1:]))


def _with_errors(
    content: bytes, name: str, title: str, sheets: dict[str, list[TextRow]]
) -> list[TextRow]:
    """Return the rows of a sheet with the errors of its cells, which the reader leaves empty.

    Raises:
        WorkbookError: formulas have no values.
    """
    odd = odd_cells(content, title)
    lost = [cell for cell in odd if not cell.error]
    if lost:
        rows = ", ".join(str(row) for row in sorted({cell.row for cell in lost})[:5])
        raise WorkbookError(
            f"{name}: {len(lost):,} formulas of the sheet “{title}” have no value (rows {rows}). "
            "Open it in the spreadsheet, which computes them, and save it again."
        )
    by_number = {row.number: row for row in sheets[title]}
    for cell in odd:
        row = by_number.setdefault(cell.row, TextRow(cell.row, cell.row, []))
        row.cells.extend([""] * (cell.column - len(row.cells)))
        row.cells[cell.column - 1] = cell.error
    return [by_number[number] for number in sorted(by_number)]


def _kind(content: bytes, name: str) -> str:
    if content.startswith(OLE):
        return "Excel"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
    except (*DAMAGES, OSError) as problem:
        raise WorkbookError(
            f"{name} begins like an Excel workbook or a zip file, but is damaged or cut short "
            f"({problem}). Copy or save it again."
        ) from problem
    if reason := why_too_much(sum(part.file_size for part in parts), len(content)):
        raise WorkbookError(f"{name}: {reason}")
    names = {part.filename for part in parts}
    found = next((kind for part, kind in _PARTS.items() if part in names), None)
    if found is None:
        raise WorkbookError(
            f"{name} is a zip file and no workbook. Unpack it, and give the table itself."
        )
    return found


def _rows(workbook: object, title: str) -> list[TextRow]:
    sheet = workbook.get_sheet_by_name(title)  # type: ignore[attr-defined]
    table = [
        [cell_text(value) for value in values] for values in sheet.to_python(skip_empty_area=False)
    ]
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        if top < len(table) and left < len(table[top]):
            for row in table[top + 1 : bottom + 1]:
                row[left] = table[top][left]
    return [TextRow(number, number, cells) for number, cells in enumerate(table, 1) if any(cells)]


def cell_text(value: object) -> str:
    """Return a cell's value as a person would write it.

    >>> [cell_text(value) for value in (3.0, 2.5, True, None, datetime.date(2026, 1, 31))]
    ['3', '2.5', 'true', '', '2026-01-31']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        is_exact = value.is_integer() and abs(value) < 10**MOST_DIGITS
        return str(int(value)) if is_exact else repr(value)
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return value.date().isoformat() if is_day else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)

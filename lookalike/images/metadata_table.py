"""Open a table of metadata in any form that people have, and say how it was read."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.core.unpacking import why_too_much
from lookalike.images.formats import other_file, sniffed_format
from lookalike.images.metadata_columns import is_path_name, plain, share_of_files
from lookalike.images.problems import Problem
from lookalike.images.rows import MetadataError, as_text
from lookalike.io.arrow_text import column_texts
from lookalike.io.errors import InputError
from lookalike.io.parquet import MAGIC
from lookalike.io.text_tables import (
    SEPARATOR_NAMES,
    TextRow,
    decode_text,
    detect_separator,
    text_rows,
)
from lookalike.io.workbooks import is_workbook, read_workbook

MAX_BYTES = 256 * 2**20
MAX_ROWS = 2_000_000
_TITLE_ROWS = 10  # above a header, as exports have them
_PACKED = ("a gzip archive", "a RAR archive", "a 7z archive")


@dataclass
class MetadataTable:
    """A table as rows of text.

    Attributes:
        header: names of the columns.
        rows: below the header.
        format: "CSV", "Excel", "OpenDocument", "JSON lines" or "parquet".
        details: how it was read, such as "semicolons" or "encoding cp1252 (a guess)", for people.
        problems: rows that cannot be used.
    """

    name: str
    header: list[str]
    rows: list[TextRow]
    format: str
    details: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_table(content: bytes, name: str) -> MetadataTable:
    """Read a table: CSV in any usual encoding and separator, a workbook, JSON lines or parquet.

    Raises:
        MetadataError: too large, empty, no table, broken; names file, line and remedy.
    """
    if len(content) > MAX_BYTES:
        raise MetadataError(f"{name} is larger than {MAX_BYTES // 2**20} MB. Split it.")
    if not content.strip(b" \t\r\n\xef\xbb\xbf"):
        raise MetadataError(f"{name} is empty.")
    try:
        if content.startswith(MAGIC):
            return _of_parquet(content, name)
        if is_workbook(content):
            return _of_workbook(content, name)
        what = sniffed_format(content[:64])
        other = f"a picture ({what})" if what not in {None, "SVG"} else other_file(content[:512])
        if other is not None:
            remedy = "Unpack it, and give" if other in _PACKED else "Give"
            raise MetadataError(f"{name} is {other}. {remedy} a table: CSV, .xlsx or JSON lines.")
        decoded = decode_text(content)
        if decoded.text.lstrip()[:1] == "{":
            return _of_json_lines(decoded.text, name)
        table = _of_text(decoded.text, name)
    except MetadataError:
        raise
    except InputError as problem:
        raise MetadataError(str(problem)) from problem
    guess = " (a guess)" if decoded.is_guess else ""
    table.details.append(f"encoding {decoded.encoding}{guess}")
    return table


def _of_text(text: str, name: str) -> MetadataTable:
    separator, rest = detect_separator(text)
    n_before = 1 if rest is not text else 0
    rows = _limited(text_rows(rest, separator, name, n_before), name)
    table = _with_header(rows, name, "CSV")
    table.details.insert(0, f"separated by {SEPARATOR_NAMES.get(separator, separator)}s")
    return table


def _of_workbook(content: bytes, name: str) -> MetadataTable:
    sheet = read_workbook(content, name)
    table = _with_header(_limited(sheet.rows, name), name, sheet.kind)
    table.details.insert(0, f"sheet “{sheet.title}”")
    if sheet.others:
        table.details.append(f"sheets that were not read: {', '.join(sheet.others)}")
    return table


def _limited(rows: Iterable[TextRow], name: str) -> list[TextRow]:
    found: list[TextRow] = []
    for row in rows:
        if len(found) > MAX_ROWS:
            raise MetadataError(f"{name} has more than {MAX_ROWS:,} rows. Split it.")
        found.append(row)
    return found


def _with_header(rows: list[TextRow], name: str, kind: str) -> MetadataTable:
    """Find the header: the first row that names a column of files, after at most some titles."""
    first = 0
    for at, row in enumerate(rows[:_TITLE_ROWS]):
        if any(is_path_name(cell) for cell in row.cells) and len(row.cells) > 1:
            first = at
            break
    header = [_clean(cell) for cell in rows[first].cells]
    _check_utf8(header, f"{name} line {rows[first].line}")
    titles = [f"{first} title rows left out"] if first else []
    if not any(is_path_name(cell) for cell in header) and share_of_files(header) > 0:
        made_up = _made_up_header(rows)
        return MetadataTable(name, made_up, rows, kind, ["no header"])
    while header and not header[-1] and all(len(row.cells) < len(header) or not row.cells[-1]
                                            for row in rows[first + 1 :]):  # fmt: skip
        header.pop()
    width = len(header)
    table = MetadataTable(name, header, [], kind, [*titles, f"header in row {rows[first].number}"])
    for row in rows[first + 1 :]:
        table_row = _trimmed(row, width)
        problem = _row_problem(table_row, header, name)
        if problem is None:
            table.rows.append(table_row)
        else:
            table.problems.append(problem)
    return table


def _made_up_header(rows: Sequence[TextRow]) -> list[str]:
    width = max(len(row.cells) for row in rows)
    places = [
        at for at in range(width)
        if share_of_files([row.cells[at] for row in rows if at < len(row.cells)]) > 0.5
    ]  # fmt: skip
    header = [f"column {at + 1}" for at in range(width)]
    if len(places) == 1:
        header[places[0]] = "path"
        if width == 2:
            header[1 - places[0]] = "product_id"
    return header


def _trimmed(row: TextRow, width: int) -> TextRow:
    """Return a row without empty cells beyond the header, as spreadsheets write them."""
    cells = row.cells
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return TextRow(row.number, row.line, cells)


def _row_problem(row: TextRow, header: list[str], name: str) -> Problem | None:
    try:
        _check_utf8(row.cells, f"{name} line {row.line}")
    except MetadataError as problem:
        return Problem(name, f"Row {row.number} was left out: {problem}")
    if len(row.cells) == len(header):
        return None
    reason = f"it has {len(row.cells)} cells where the header has {len(header)}"
    at = next((at for at, column in enumerate(header) if plain(column) in {"path", "url"}), None)
    called = row.cells[at] if at is not None and at < len(row.cells) else ""
    return Problem(called or name, f"{name} row {row.number} was left out: {reason}.")


def _clean(cell: str) -> str:
    return cell.strip(" \t\r\n\u00a0\ufeff\u200b")


def _check_utf8(cells: Sequence[str], place: str) -> None:
    for text in cells:
        bad = next((c for c in text if "\udc80" <= c <= "\udcff"), None)
        if bad is not None:
            readable = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            raise MetadataError(
                f"{place} is not UTF-8 (byte 0x{ord(bad) - 0xDC00:02x} in “{readable[:80]}”) "
                "though other lines are: save the file as UTF-8."
            )


# ---- JSON lines, parquet ----
def _of_json_lines(text: str, name: str) -> MetadataTable:
    entries: list[tuple[int, dict[str, Any]]] = []
    problems = []
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as problem:
            reason = f"it is not a JSON object ({getattr(problem, 'msg', 'nested too deeply')})"
            problems.append(Problem(name, f"{name} line {number} was left out: {reason}."))
            continue
        if isinstance(entry, dict):
            entries.append((number, entry))
        else:
            problems.append(Problem(name, f"{name} line {number} was left out: not an object."))
    table = table_of_entries(entries, name, "JSON lines")
    table.problems += problems
    return table


def table_of_entries(
    entries: Sequence[tuple[int, dict[str, Any]]], name: str, kind: str
) -> MetadataTable:
    """Return objects as a table: a column for each key, in the order in which they come."""
    header = list(dict.fromkeys(str(key) for _, entry in entries for key in entry))
    rows = [
        TextRow(number, number, [as_text(entry.get(key)) for key in header])
        for number, entry in entries
    ]
    return MetadataTable(name, header, rows, kind)


def _stated_bytes(stated: pq.FileMetaData) -> int:
    groups = map(stated.row_group, range(stated.num_row_groups))
    columns = (group.column(at) for group in groups for at in range(group.num_columns))
    return sum(max(one.total_uncompressed_size, 8 * one.num_values) for one in columns)


def _of_parquet(content: bytes, name: str) -> MetadataTable:
    try:
        with pq.ParquetFile(io.BytesIO(content)) as file:
            if reason := why_too_much(_stated_bytes(file.metadata), len(content)):
                raise MetadataError(f"{name}: {reason}.")
            table = file.read()
    except (pa.ArrowException, OSError) as problem:
        raise MetadataError(f"{name} is not readable as parquet: {problem}.") from problem
    read = {column: column_texts(table[column]) for column in table.column_names}
    header = [column for column, texts in read.items() if texts is not None]
    lists = [texts for texts in read.values() if texts is not None]
    rows = [TextRow(n, n, list(cells)) for n, cells in enumerate(zip(*lists, strict=True), 1)]
    lost = [column for column, texts in read.items() if texts is None]
    details = [f"columns left out, as they hold no text: {', '.join(lost)}"] if lost else []
    return MetadataTable(name, header, rows, "parquet", details)

"""Read the metadata of a catalog: CSV, or the JSON of the VSD benchmark.

CSV: UTF-8, commas, a header with `path` and `product_id`; each further column is an attribute,
and an empty cell means that it is not known. JSON: `{"images": [{"id", "path", ...}]}`, where
`id` is the product (Barkan et al., VSD benchmark, 2023) and further keys are attributes.

A row that is wrong is left out and reported; a file that is wrong as a whole is refused.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lookalike.images.paths import UnsafePathError, clean_path, shown
from lookalike.images.problems import Problem

MAX_BYTES = 256 * 2**20
MAX_ROWS = 2_000_000
MAX_PRODUCT = 200
MAX_ATTRIBUTE_NAME = 100
MAX_ATTRIBUTE = 2000
MAX_COLUMNS = 200
CSV_COLUMNS = ("path", "product_id")


class MetadataError(Exception):
    """The metadata file cannot be used at all; the message names file, line and remedy."""


class _RowError(Exception):
    """One row cannot be used; the message says why."""


@dataclass(frozen=True)
class Row:
    """What the metadata say of one file."""

    path: str
    product_id: str
    attributes: dict[str, str]
    number: int


@dataclass
class Metadata:
    """The usable rows by path, and what was wrong with the others.

    Attributes:
        notes: what is to be known of it, though nothing is wrong.
        names_all: only files with a row are wanted.
    """

    name: str
    rows: dict[str, Row] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    names_all: bool = False

    def where(self, condition: str) -> Metadata:
        """Return the rows of one value of an attribute, files without a row left out.

        Args:
            condition: `attribute=value`, such as split=test.

        Raises:
            MetadataError: no row has it.
        """
        name, _, value = (part.strip() for part in condition.partition("="))
        kept = {path: row for path, row in self.rows.items() if row.attributes.get(name) == value}
        if not kept:
            values = sorted({row.attributes.get(name, "") for row in self.rows.values()} - {""})
            known = f"it is {', '.join(values[:10])}" if values else "no row says it"
            raise MetadataError(f"{self.name}: no row has {name}={value}; {known}.")
        return Metadata(self.name, kept, self.problems, self.notes, names_all=True)


def read_metadata(content: bytes, name: str, *, with_products: bool = True) -> Metadata:
    """Read a metadata file of either format.

    Rows are numbered as a spreadsheet shows them: the header of a CSV is row 1. The entries of
    a JSON list are counted from 1. Of rows with one path the first is used.

    Args:
        content: the file's bytes.
        name: its file name, for messages; `.json` tells the format.
        with_products: a CSV without the column product_id is refused.

    Raises:
        MetadataError: not UTF-8 in header or JSON, columns missing or doubled, not CSV or
            JSON, too large, or of too many rows.
    """
    if len(content) > MAX_BYTES:
        raise MetadataError(f"{name} is larger than {MAX_BYTES // 2**20} MB.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MetadataError(f"{name} line 1 is not UTF-8 but UTF-16: save the file as UTF-8.")
    body = content.removeprefix(b"\xef\xbb\xbf")
    if not body.strip():
        raise MetadataError(f"{name} is empty.")
    is_json = name.lower().endswith(".json") or body.lstrip()[:1] in {b"{", b"["}
    wanted = CSV_COLUMNS if with_products else CSV_COLUMNS[:1]
    found = _json_rows(body, name) if is_json else _csv_rows(body, name, wanted)
    metadata = Metadata(name)
    for number, row in found:
        if number > MAX_ROWS:
            raise MetadataError(f"{name} has more than {MAX_ROWS:,} rows. Split it.")
        _add(metadata, number, row)
    return metadata


def make_row(
    path: str, product_id: str, attributes: dict[str, str], number: int, name: str
) -> Row | Problem:
    """Return a row, or what is wrong with it.

    Args:
        path: of the image.
        product_id: "" where unknown.
        attributes: name to text.
        number: of the row.
        name: of the list that it is in, for messages.
    """
    try:
        return _row(path, product_id, attributes, number)
    except _RowError as problem:
        return Problem(shown(path) or name, f"{name} row {number} was left out: {problem}.")


def _add(metadata: Metadata, number: int, row: Row | Problem) -> None:
    if isinstance(row, Problem):
        metadata.problems.append(row)
    elif (first := metadata.rows.get(row.path)) is not None:
        reason = f"{metadata.name} row {number} repeats row {first.number}, which is used."
        metadata.problems.append(Problem(row.path, reason))
    else:
        metadata.rows[row.path] = row


# ---- CSV ----
def _csv_rows(body: bytes, name: str, wanted: Sequence[str]) -> Iterator[tuple[int, Row | Problem]]:
    for number, texts in csv_cells(body, name, wanted):
        if isinstance(texts, Problem):
            yield number, texts
        else:
            path, product_id = texts.pop("path"), texts.pop("product_id", "")
            yield number, make_row(path, product_id, texts, number, name)


def csv_cells(
    body: bytes, name: str, wanted: Sequence[str]
) -> Iterator[tuple[int, dict[str, str] | Problem]]:
    """Yield the number of each row with its cells by column, or with what is wrong with it.

    Raises:
        MetadataError: a wanted column is absent, or the file as a whole cannot be used.
    """
    # Bytes that are no UTF-8 become lone surrogates, which mark the rows to refuse.
    text = io.StringIO(body.decode("utf-8", "surrogateescape"), newline="")
    reader = csv.reader(text, strict=True, skipinitialspace=True)
    try:
        header = [column.strip() for column in next(reader)]
        _check_header(header, name, wanted)
        start = reader.line_num + 1
        for number, cells in enumerate(reader, start=2):
            if any(cells):
                place = f"{name} line {start}"
                yield number, _cells(header, cells, number, name, place)
            start = reader.line_num + 1
    except csv.Error as problem:
        raise MetadataError(
            f"{name} line {reader.line_num} is not proper CSV: {problem}. "
            "Check the quotes there, and save again."
        ) from problem


def _check_header(header: list[str], name: str, wanted: Sequence[str]) -> None:
    for column in header:
        _check_utf8(column, f"{name} line 1")
    found = ", ".join(f"“{column}”" for column in header[:20])
    missing = [column for column in wanted if column not in header]
    if missing:
        hint = ""
        if len(header) == 1 and any(sign in header[0] for sign in ";\t|"):
            hint = " Separate the columns by commas."
        raise MetadataError(
            f"{name} has no column {' and no column '.join(missing)}. Its header is: {found}.{hint}"
        )
    if len(header) > MAX_COLUMNS:
        raise MetadataError(f"{name} has {len(header)} columns; at most {MAX_COLUMNS} are read.")
    for position, column in enumerate(header, start=1):
        if not column:
            raise MetadataError(f"{name}: column {position} has no name. Name or delete it.")
        if header.index(column) != position - 1:
            raise MetadataError(f"{name} has two columns named “{column}”. Rename one.")
        if len(column) > MAX_ATTRIBUTE_NAME:
            raise MetadataError(f"{name}: the name of column {position} is too long.")


def _cells(
    header: list[str], cells: list[str], number: int, name: str, place: str
) -> dict[str, str] | Problem:
    try:
        for cell in cells:
            _check_utf8(cell, place)
    except MetadataError as problem:
        return Problem(name, f"Row {number} was left out: {problem}")
    if len(cells) != len(header):
        reason = f"it has {len(cells)} cells where the header has {len(header)}"
        first = dict(zip(header, cells, strict=False))
        called = first.get("path") or first.get("url") or name
        return Problem(shown(called), f"{name} row {number} was left out: {reason}.")
    return {column: cell.strip() for column, cell in zip(header, cells, strict=True)}


def _check_utf8(text: str, place: str) -> None:
    bad = next((c for c in text if "\udc80" <= c <= "\udcff"), None)
    if bad is not None:
        byte = ord(bad) - 0xDC00
        readable = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        raise MetadataError(
            f"{place} is not UTF-8 (byte 0x{byte:02x} in “{readable[:80]}”): "
            "save the file as UTF-8."
        )


# ---- JSON ----
def _json_rows(body: bytes, name: str) -> Iterator[tuple[int, Row | Problem]]:
    try:
        document = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as problem:
        line = body.count(b"\n", 0, problem.start) + 1
        raise MetadataError(
            f"{name} line {line} is not UTF-8 (byte 0x{body[problem.start]:02x}): "
            "save the file as UTF-8."
        ) from None
    except json.JSONDecodeError as problem:
        raise MetadataError(
            f"{name} line {problem.lineno} is not proper JSON: {problem.msg}."
        ) from None
    except (RecursionError, ValueError):  # ValueError: a number of thousands of digits
        raise MetadataError(f"{name} is nested too deeply, or a number is too long.") from None
    images = document.get("images") if isinstance(document, dict) else document
    if not isinstance(images, list):
        raise MetadataError(f'{name} must be an object {{"images": [...]}}.')
    for number, entry in enumerate(images, start=1):
        yield number, _json_row(entry, number, name)


def _json_row(entry: Any, number: int, name: str) -> Row | Problem:
    path = entry.get("path") if isinstance(entry, dict) else None
    try:
        if not isinstance(entry, dict):
            raise _RowError("it is not an object")
        for key in ("path", "id"):
            if key not in entry:
                raise _RowError(f"it has no “{key}”")
        if not isinstance(path, str):
            raise _RowError("its “path” is not text")
        texts = {str(k): as_text(v) for k, v in entry.items() if k not in {"path", "id"}}
        return _row(path, as_text(entry["id"]), texts, number)
    except _RowError as problem:
        subject = shown(path) if isinstance(path, str) and path else name
        return Problem(subject, f"{name} entry {number} was left out: {problem}.")


def as_text(value: Any) -> str:
    """Return a JSON value as an attribute's text: "" for null, lists and objects as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# ---- both ----
def _row(path: str, product_id: str, texts: dict[str, str], number: int) -> Row:
    try:
        cleaned = clean_path(path)
    except UnsafePathError as problem:
        raise _RowError(str(problem)) from None
    if len(product_id) > MAX_PRODUCT:
        raise _RowError(f"its product has more than {MAX_PRODUCT} characters")
    attributes = {name: text for name, text in texts.items() if text}
    if len(attributes) > MAX_COLUMNS:
        raise _RowError(f"it has more than {MAX_COLUMNS} attributes")
    for name, text in {"product_id": product_id, **attributes}.items():
        if not _is_storable(name) or not _is_storable(text):
            raise _RowError(f"“{shown(name)}” has characters that cannot be stored")
        if len(text) > MAX_ATTRIBUTE or len(name) > MAX_ATTRIBUTE_NAME:
            raise _RowError(f"“{shown(name)[:40]}” is longer than {MAX_ATTRIBUTE:,} characters")
    return Row(cleaned, product_id, attributes, number)


def _is_storable(text: str) -> bool:
    """Whether PostgreSQL can store it: no NUL and no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)

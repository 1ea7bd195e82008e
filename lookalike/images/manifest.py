"""Read a manifest: a list of pictures that stay where they are, one address a row.

CSV with a header, JSON lines of objects, or parquet. `url` (http, https or s3://bucket/key) must
be there; `product_id`, `sha256` (of the picture's bytes) and `path` (the name under which it goes
into the catalog, by default made of its address) may be; every further column is an attribute.
A row that is wrong is left out and reported; a file that is wrong as a whole is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.images.decode import MAX_BYTES as MAX_PICTURE
from lookalike.images.metadata import (
    MAX_BYTES,
    MAX_COLUMNS,
    Metadata,
    MetadataError,
    as_text,
    make_row,
)
from lookalike.images.metadata_columns import check_header
from lookalike.images.metadata_table import read_table
from lookalike.images.paths import shown
from lookalike.images.problems import Problem
from lookalike.images.remote import Remote, RemoteError
from lookalike.images.sources import MAX_FILES, Source, UnreadableFileError
from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import storage_key
from lookalike.io.parquet import MAGIC, n_values

URL, PATH, PRODUCT, SHA256 = "url", "path", "product_id", "sha256"
_HEXADECIMAL = frozenset("0123456789abcdef")
Cells = dict[str, str]


class RemoteSource(Source):
    """The pictures of a manifest, read one at a time from where they are.

    Attributes:
        metadata: what the manifest says of them.
        urls: path to address.
        sha256_of: path to what its bytes must hash to, where the manifest says.
    """

    def __init__(self, manifest: Path, name: str, remote: Remote) -> None:
        super().__init__(name)
        self._remote = remote
        self.metadata = Metadata(name, names_all=True)
        self.urls: dict[str, str] = {}
        self.sha256_of: dict[str, str] = {}
        for number, cells in _rows(manifest, name):
            if number > MAX_FILES:
                raise MetadataError(f"{name} has more than {MAX_FILES:,} rows. Split it.")
            self._add(number, cells)
        self.metadata.repair(PRODUCT)
        self.paths = sorted(self.urls)

    def read(self, path: str) -> bytes:
        """Return the bytes of a picture, as its host gives them."""
        try:
            return self._remote.read(self.urls[path], MAX_PICTURE)
        except RemoteError as problem:
            raise UnreadableFileError(f"{self.place(path)}: {problem}.") from problem

    def place(self, path: str) -> str:
        """Return where the manifest names a picture, for messages."""
        return f"{self.name} row {self.metadata.rows[path].number}"

    def opened(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """Open nothing: there are no other files."""
        raise UnreadableFileError(f"There is no file {path}.")

    def close(self) -> None:
        """Do nothing: no connection is held."""

    def _head(self, path: str) -> bytes:
        return b""

    def _add(self, number: int, cells: Cells | Problem) -> None:
        problem = cells if isinstance(cells, Problem) else self._add_row(number, dict(cells))
        if problem is not None:
            self.metadata.problems.append(problem)

    def _add_row(self, number: int, cells: Cells) -> Problem | None:
        url, sha256 = cells.pop(URL), cells.pop(SHA256, "").lower()
        path, product = cells.pop(PATH, ""), cells.pop(PRODUCT, "")
        try:
            self._remote.check(url)
            if sha256 and (len(sha256) != 64 or set(sha256) - _HEXADECIMAL):
                raise RemoteError("its sha256 is not 64 hexadecimal digits")
        except RemoteError as problem:
            return Problem(_safe(url), f"{self.name} row {number} was left out: {problem}.")
        row = make_row(path or path_of(url), product, cells, number, self.name)
        if isinstance(row, Problem):
            return row
        if (first := self.metadata.rows.get(row.path)) is not None:
            reason = f"{self.name} row {number} repeats row {first.number}, which is used."
            return Problem(row.path, reason)
        self.metadata.rows[row.path] = row
        self.urls[row.path] = url
        if sha256:
            self.sha256_of[row.path] = sha256
        return None


def path_of(url: str) -> str:
    """Return the name under which a picture of a plain address goes into a catalog.

    >>> path_of("https://img.example.org/a%20b/1.jpg?w=800")
    'img.example.org/a b/1.jpg?w=800'
    >>> path_of("s3://shop/a%20b/what?#1.jpg")
    'shop/a b/what?#1.jpg'
    """
    if url.lower().startswith("s3://"):
        return "/".join(storage_key(url))
    parts = urlsplit(url)
    return unquote(parts.netloc + parts.path) + (f"?{parts.query}" if parts.query else "")


def _safe(url: str) -> str:
    """Return as much of an address as may be told: no password, and nothing behind the path."""
    try:
        parts = urlsplit(url)
        return shown(f"{parts.scheme}://{parts.hostname or ''}{parts.path}")
    except ValueError:
        return "an address"


def _rows(manifest: Path, name: str) -> Iterator[tuple[int, Cells | Problem]]:
    """Yield the rows; the header of a CSV is row 1, entries of other files count from 1."""
    try:
        with manifest.open("rb") as file:
            is_parquet = file.read(4) == MAGIC
        content = b"" if is_parquet else manifest.read_bytes()
    except OSError as problem:
        raise MetadataError(f"{name} cannot be read: {problem.strerror}.") from problem
    if is_parquet:
        yield from _parquet_rows(manifest, name)
        return
    if len(content) > MAX_BYTES:
        raise MetadataError(f"{name} is larger than {MAX_BYTES // 2**20} MB. Split it.")
    body = content.removeprefix(b"\xef\xbb\xbf")
    if not body.strip():
        raise MetadataError(f"{name} is empty.")
    if body.lstrip()[:1] == b"{":
        yield from _json_rows(body, name)
    else:
        yield from _table_rows(content, name)


def _table_rows(content: bytes, name: str) -> Iterator[tuple[int, Cells | Problem]]:
    table = read_table(content, name)
    check_header(table.header, name)
    if URL not in table.header:
        listed = ", ".join(f"“{column}”" for column in table.header[:20])
        raise MetadataError(f"{name} has no column {URL}. Its header is: {listed}.")
    for row in table.rows:
        yield row.number, dict(zip(table.header, row.cells, strict=True))
    yield from ((0, problem) for problem in table.problems)


def _json_rows(body: bytes, name: str) -> Iterator[tuple[int, Cells | Problem]]:
    for number, line in enumerate(body.splitlines(), start=1):
        if line.strip():
            try:
                entry = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError):
                yield number, Problem(name, f"Row {number} was left out: it is not a JSON object.")
                continue
            yield number, _cells_of(entry, number, name)


def _parquet_rows(manifest: Path, name: str) -> Iterator[tuple[int, Cells | Problem]]:
    try:
        with pq.ParquetFile(manifest) as file:
            columns = file.schema_arrow.names
            if URL not in columns or len(set(columns)) < len(columns):
                listed = ", ".join(f"“{column}”" for column in columns[:20])
                raise MetadataError(f"{name} needs one column url. Its columns are: {listed}.")
            if len(columns) > MAX_COLUMNS:
                raise MetadataError(
                    f"{name} has {len(columns)} columns; at most {MAX_COLUMNS} are read."
                )
            n_values(manifest, file.metadata, columns)
            number = 0
            for batch in file.iter_batches(batch_size=10_000):
                for entry in batch.to_pylist():
                    number += 1
                    yield number, _cells_of(entry, number, name)
    except FormatError as problem:
        raise MetadataError(f"{name}: {problem.reason}.") from problem
    except (pa.ArrowException, OSError) as problem:
        raise MetadataError(f"{name} is not readable as parquet: {problem}.") from problem


def _cells_of(entry: Any, number: int, name: str) -> Cells | Problem:
    reason = ""
    if not isinstance(entry, dict):
        reason = "it is not an object"
    elif not isinstance(entry.get(URL), str) or not entry[URL].strip():
        reason = "it has no “url” of text"
    if reason:
        return Problem(name, f"{name} row {number} was left out: {reason}.")
    try:
        return {str(key): as_text(value) for key, value in entry.items()}
    except (TypeError, ValueError):
        return Problem(name, f"{name} row {number} was left out: a value is no text or number.")

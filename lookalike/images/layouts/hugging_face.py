"""Data sets of Hugging Face on disk: pictures in columns of parquet or Arrow files.

Parquet as the Hub lays it out (`data/train-00000-of-00002.parquet`), Arrow as
`datasets.Dataset.save_to_disk` writes it (`train/data-00000-of-00001.arrow`).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.client.desktop_junk import is_junk
from lookalike.core.unpacking import why_too_much
from lookalike.images.decode import MAX_BYTES
from lookalike.images.formats import ENDINGS, sniffed_format
from lookalike.images.layouts.layout import SPLIT, Layout, LayoutImage
from lookalike.images.source import MAX_FILES, ONLY_ZIPS, Source, SourceError, UnreadableFileError
from lookalike.io.errors import InputError

MAX_GROUP = 2 * 2**30  # bytes of pictures that are unpacked at once
PRODUCT = "product_id"
_SPLIT = re.compile(r"(?:^|/)(train|test|validation|val|dev)(?=[-_./]|$)")


class HuggingFaceSource(Source):
    """The pictures in the tables of a folder, each under the name of its table and row."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(name)
        if not folder.is_dir():
            raise SourceError("A Hugging Face data set is read from a folder, not from a zip.")
        self._root = folder.resolve()
        self.tables = [_Table(self._root, path) for path in self._files()]
        self.images: dict[str, LayoutImage] = {}
        self._places: dict[str, tuple[int, int, str, int]] = {}
        self._lock = threading.Lock()
        self._group = lru_cache(maxsize=2)(self._read_group)
        try:
            for at in range(len(self.tables)):
                self._list(at)
        except (pa.ArrowException, OSError) as problem:
            raise SourceError(f"{name}: not readable as parquet or Arrow: {problem}") from problem
        if not self._places:
            raise SourceError(f"{name} holds no parquet or Arrow file with a column of pictures.")
        self.paths = sorted(self._places)

    def read(self, path: str) -> bytes:
        """Return the bytes of a picture."""
        at, group, column, row = self._places[path]
        try:
            with self._lock:
                content = self._group(at, group)[column][row]["bytes"].as_py()
        except (pa.ArrowException, OSError) as problem:
            raise UnreadableFileError(f"It cannot be read: {problem}.") from problem
        return bytes(content[: MAX_BYTES + 1])

    def opened(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """Open nothing: there are no other files."""
        raise UnreadableFileError(f"There is no file {path}.")

    def close(self) -> None:
        """Let go of what was read last."""
        self._group.cache_clear()

    def _head(self, path: str) -> bytes:
        return self.read(path)[:64]

    def _files(self) -> Iterator[Path]:
        found = sorted([*self._root.rglob("*.parquet"), *self._root.rglob("*.arrow")])
        for path in found:
            relative = path.relative_to(self._root).as_posix()
            if is_junk(relative) or path.name.startswith("cache-"):
                self.n_junk += 1
            elif not path.resolve().is_relative_to(self._root):
                self._refuse(relative, "It is a link that leads out of the folder.")
            else:
                yield path

    def _list(self, at: int) -> None:
        """Note the pictures of a table, and what its other columns say of them."""
        table = self.tables[at]
        if not table.image_columns:
            self._refuse(table.name, "It has no column of pictures (structs of bytes and path).")
            return
        number = 0
        for group in range(table.n_groups):
            rows = table.group(group)
            texts = {name: table.texts(name, rows[name]) for name in table.text_columns}
            for row in range(rows.num_rows):
                number += 1
                known = {name: column[row] for name, column in texts.items() if column[row]}
                for column in table.image_columns:
                    self._note((at, group, column, row), rows[column][row], known, number)

    def _note(
        self, place: tuple[int, int, str, int], cell: Any, known: Mapping[str, str], number: int
    ) -> None:
        table, column = self.tables[place[0]], place[2]
        content = cell["bytes"] if cell.is_valid else None
        mark = f"-{column}" if len(table.image_columns) > 1 else ""
        stem = f"{PurePosixPath(table.name).with_suffix('')}/{number:08d}{mark}"
        if content is None or not content.is_valid:
            self._refuse(f"{table.name} row {number}", f"It holds no bytes in “{column}”.")
            return
        if len(self._places) >= MAX_FILES:
            raise SourceError(f"{self.name} holds more than {MAX_FILES:,} pictures.")
        kind = sniffed_format(content.as_buffer().slice(0, min(64, len(content.as_buffer())))
                              .to_pybytes())  # fmt: skip
        path = stem + (ENDINGS[kind][0] if kind in ENDINGS else "")
        split = _SPLIT.search(table.name)
        attributes = {name: text for name, text in known.items() if name != PRODUCT}
        if split:
            attributes.setdefault(
                SPLIT, {"validation": "val", "dev": "val"}.get(split[1], split[1])
            )
        file = cell["path"].as_py() if "path" in cell.type.names else None
        if file:
            attributes.setdefault("file", str(file))
        if mark:
            attributes.setdefault("column", column)
        self._places[path] = place
        self.images[path] = LayoutImage(path, known.get(PRODUCT, ""), attributes, number)

    def _read_group(self, at: int, group: int) -> pa.Table:
        table = self.tables[at]
        return table.group(group, table.image_columns)


@dataclass(frozen=True)
class _Table:
    """One parquet or Arrow file, read a group of rows at a time."""

    root: Path
    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(self.root).as_posix()

    @cached_property
    def _parquet(self) -> pq.ParquetFile | None:
        return pq.ParquetFile(self.path) if self.path.suffix == ".parquet" else None

    @cached_property
    def _batches(self) -> list[pa.RecordBatch]:
        """The batches of an Arrow file: a map of the file, not in memory."""
        with pa.memory_map(str(self.path)) as file:
            return list(pa.ipc.open_stream(file))

    @cached_property
    def schema(self) -> pa.Schema:
        if self._parquet is not None:
            return self._parquet.schema_arrow
        with pa.memory_map(str(self.path)) as file:
            return pa.ipc.open_stream(file).schema

    @property
    def n_groups(self) -> int:
        return self._parquet.num_row_groups if self._parquet else len(self._batches)

    def group(self, number: int, columns: list[str] | None = None) -> pa.Table:
        """Return some columns of a group of rows, by default all that are used.

        Raises:
            SourceError: it would unpack to far more than the file is.
        """
        columns = [*self.image_columns, *self.text_columns] if columns is None else columns
        if self._parquet is None:
            return pa.Table.from_batches([self._batches[number]]).select(columns)
        stated = self._parquet.metadata.row_group(number)
        n_bytes = sum(stated.column(at).total_uncompressed_size for at in range(stated.num_columns))
        reason = why_too_much(n_bytes, self.path.stat().st_size)
        if reason or n_bytes > MAX_GROUP:
            raise SourceError(f"{self.name}: {reason or 'its groups of rows are too large'}.")
        return self._parquet.read_row_group(number, columns=columns)

    @cached_property
    def image_columns(self) -> list[str]:
        """Columns of structs with the bytes of a file."""
        return [
            field.name
            for field in self.schema
            if pa.types.is_struct(field.type)
            and field.type.get_field_index("bytes") >= 0
            and field.type.field("bytes").type in (pa.binary(), pa.large_binary())
        ]

    @cached_property
    def text_columns(self) -> list[str]:
        """Columns of one value a row."""
        kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer,
                 pa.types.is_floating, pa.types.is_boolean)  # fmt: skip
        return [field.name for field in self.schema if any(kind(field.type) for kind in kinds)]

    @cached_property
    def _class_names(self) -> dict[str, list[str]]:
        """Names of the classes of columns that are ClassLabel."""
        try:
            about = json.loads((self.schema.metadata or {}).get(b"huggingface", b"{}"))
            features = about["info"]["features"]
            return {name: feature["names"] for name, feature in features.items()
                    if feature.get("_type") == "ClassLabel"}  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def texts(self, name: str, column: pa.ChunkedArray) -> list[str]:
        """Return the values of a column as texts, classes by name, "" where there is none."""
        names = self._class_names.get(name)
        values = column.to_pylist()
        if isinstance(names, list) and pa.types.is_integer(column.type):
            known = [v is not None and 0 <= v < len(names) for v in values]
            values = [str(names[v]) if is_known else "" for v, is_known in
                      zip(values, known, strict=True)]  # fmt: skip
        return ["" if value is None else str(value) for value in values]


def open_hugging_face(path: Path, name: str | None = None, names_encoding: str = "") -> Source:
    """Open a data set's folder.

    Raises:
        SourceError: no folder, no column of pictures, or a file that cannot be read; an encoding
            of names, which only zips need.
    """
    if names_encoding:
        raise SourceError(ONLY_ZIPS)
    return HuggingFaceSource(path, name or path.name)


def read_hugging_face(source: Source) -> Layout:
    """Return the pictures of a data set: `product_id`, columns of one value, split, file.

    Raises:
        InputError: the source was not opened by `open_hugging_face`.
    """
    if not isinstance(source, HuggingFaceSource):
        raise InputError(f"{source.name}: a Hugging Face data set is a folder of tables")
    return Layout("the Hugging Face data set", source.images, {"images": len(source.images)})

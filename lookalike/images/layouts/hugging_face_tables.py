"""One table of a Hugging Face data set: which columns are pictures, and what the others say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.core.unpacking import why_too_much
from lookalike.images.formats import sniffed_format
from lookalike.images.source import SourceError
from lookalike.io.arrow_text import column_texts, may_be_text

MAX_GROUP = 2 * 2**30  # bytes of pictures that are unpacked at once


@dataclass(frozen=True)
class HuggingFaceTable:
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
        columns = self.columns if columns is None else columns
        if self._parquet is None:
            return pa.Table.from_batches([self._batches[number]]).select(columns)
        stated = self._parquet.metadata.row_group(number)
        n_bytes = sum(stated.column(at).total_uncompressed_size for at in range(stated.num_columns))
        reason = why_too_much(n_bytes, self.path.stat().st_size)
        if reason or n_bytes > MAX_GROUP:
            raise SourceError(f"{self.name}: {reason or 'its groups of rows are too large'}.")
        return self._parquet.read_row_group(number, columns=columns)

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [*self.image_columns, *self.text_columns]

    @cached_property
    def image_columns(self) -> list[str]:
        """Columns of structs with the bytes of a file; or of bytes alone that are pictures."""
        structs = [field.name for field in self.schema if _is_file_struct(field.type)]
        return structs or [field.name for field in self.schema if self._are_pictures(field)]

    def _are_pictures(self, field: pa.Field) -> bool:
        if not _is_binary(field.type) or not self.n_groups:
            return False
        for cell in self.group(0, [field.name])[field.name]:
            if cell.is_valid:
                return sniffed_format(cell.as_buffer()[:64].to_pybytes()) is not None
        return False

    @cached_property
    def text_columns(self) -> list[str]:
        """The other columns, but for files, vectors and all that has no text."""
        others = [field for field in self.schema if field.name not in self.image_columns]
        return [field.name for field in others if may_be_text(field.type)]

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

    def texts(self, name: str, column: pa.ChunkedArray) -> list[str] | None:
        """Return the values of a column as texts, classes by name, "" where there is none."""
        names = self._class_names.get(name)
        if isinstance(names, list) and pa.types.is_integer(column.type):
            values = column.to_pylist()
            known = [v is not None and 0 <= v < len(names) for v in values]
            return [str(names[v]) if is_known else "" for v, is_known in
                    zip(values, known, strict=True)]  # fmt: skip
        return column_texts(column)


def bytes_and_path(cell: Any) -> tuple[pa.Buffer | None, str]:
    """Return the bytes of a file in a cell, if it has any, and the path that it states."""
    if not cell.is_valid:
        return None, ""
    if not pa.types.is_struct(cell.type):
        return cell.as_buffer(), ""
    content = cell["bytes"]
    path = cell["path"].as_py() if cell.type.get_field_index("path") >= 0 else None
    return (content.as_buffer() if content.is_valid else None), str(path or "")


def _is_file_struct(kind: pa.DataType) -> bool:
    if not pa.types.is_struct(kind) or kind.get_field_index("bytes") < 0:
        return False
    return _is_binary(kind.field("bytes").type)


def _is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)

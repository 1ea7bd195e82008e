"""Vectors in files of rows: parquet with a column of lists, and JSON lines."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalike.io.errors import FormatError
from lookalike.io.parquet import checked_names, n_values, texts_in, values_of
from lookalike.io.text_files import not_decodable, open_text, text_lines
from lookalike.io.vector_arrays import (
    FINGERPRINT,
    ID_NAMES,
    VECTOR_NAMES,
    Array,
    Named,
    check_size,
    most_bytes,
    one_of,
)

BLOCK = 2**20  # numbers of a parquet file that are read at a time


def parquet_names(path: Path) -> list[str]:
    """Return the columns of a parquet file.

    Raises:
        FormatError: not readable.
    """
    try:
        with pq.ParquetFile(path) as file:
            names: list[str] = file.schema_arrow.names
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        raise FormatError(path, None, f"not readable as parquet: {problem}") from problem
    return names


def read_parquet(path: Path) -> Named:
    """Return the vectors of a parquet file: a column of ids, and one of lists of numbers."""
    names = parquet_names(path)
    id_name, vector_name = one_of(names, ID_NAMES), one_of(names, VECTOR_NAMES)
    if id_name is None or vector_name is None:
        reason = f"the columns are {','.join(names)!r}; needed: id,vector"
        raise FormatError(path, None, reason)
    try:
        with pq.ParquetFile(path) as file:
            stated, schema = file.metadata, file.schema_arrow
        kind = schema.field(vector_name).type
        is_list = pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)
        is_list = is_list or pa.types.is_large_list(kind)
        if not is_list or not pa.types.is_floating(kind.value_type):
            raise FormatError(path, None, f"{vector_name} must be lists of floating-point numbers")
        n_numbers = n_values(path, stated, (id_name, vector_name))[vector_name]
        check_size(path, 4 * n_numbers, path.stat().st_size)
        n_rows = max(1, BLOCK * stated.num_rows // max(1, n_numbers))
        with pq.ParquetFile(path, read_dictionary=texts_in(schema, [id_name])) as file:
            batches = file.iter_batches(min(n_rows, BLOCK), columns=[id_name, vector_name])
            blocks = ((b.column(id_name), b.column(vector_name)) for b in batches)
            stored = (schema.metadata or {}).get(FINGERPRINT.encode(), b"")
            return *_filled(path, blocks, n_numbers), stored.decode("ascii", "replace")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        raise FormatError(path, None, f"not readable as parquet: {problem}") from problem


def are_json_lines(path: Path, head: bytes) -> bool:
    """Say whether the first line of a file is an object with an id and a vector."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    try:
        with open_text(path) as file:
            first = next((text for _, text in text_lines(path, file) if text.strip()), "")
        held = json.loads(first)
    except (ValueError, RecursionError):
        return False
    if not isinstance(held, dict):
        return False
    vector_name = one_of([*held], VECTOR_NAMES)
    has_id = one_of([*held], ID_NAMES) is not None
    return has_id and vector_name is not None and isinstance(held[vector_name], list)


def read_json_lines(path: Path) -> Named:
    """Return the vectors of a file with one JSON object a line: an id, and a list of numbers.

    Raises:
        FormatError: a line that is no such object, or has another number of numbers than the
            first; not UTF-8; or more than `most_bytes`.
    """
    ids: list[str] = []
    numbers, dim, most = array("f"), 0, most_bytes()
    try:
        with open_text(path) as file:
            for line, text in text_lines(path, file):
                if not text.strip():
                    continue
                name, vector = _json_vector(path, line, text)
                dim = dim or len(vector)
                if len(vector) != dim:
                    reason = f"{len(vector)} numbers where the first vector has {dim}"
                    raise FormatError(path, line, reason)
                ids.append(name)
                numbers.extend(vector)
                if 4 * len(numbers) > most:
                    raise FormatError(path, line, f"at most {most:,} bytes are read")
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error
    return ids, np.frombuffer(numbers, np.float32).reshape(len(ids), dim), ""


def _json_vector(path: Path, line: int, text: str) -> tuple[str, list[float]]:
    try:
        held = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise FormatError(path, line, f"not JSON: {error}") from error
    if not isinstance(held, dict):
        raise FormatError(path, line, "it is no JSON object")
    id_name, vector_name = one_of([*held], ID_NAMES), one_of([*held], VECTOR_NAMES)
    if id_name is None or vector_name is None:
        raise FormatError(path, line, f"its keys are {','.join(held)!r}; needed: id,vector")
    name, vector = held[id_name], held[vector_name]
    if not isinstance(name, (str, int)) or isinstance(name, bool) or name == "":
        raise FormatError(path, line, f"the id is {name!r}, no name")
    if not isinstance(vector, list) or not vector:
        raise FormatError(path, line, f"the vector of {name!r} is no list of numbers")
    for number in vector:
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            raise FormatError(path, line, f"the vector of {name!r} holds {number!r}, no number")
    try:
        return str(name), [float(number) for number in vector]
    except OverflowError as error:
        raise FormatError(path, line, f"the vector of {name!r} holds an infinity") from error


def _filled(
    path: Path, blocks: Iterator[tuple[pa.Array, pa.Array]], n_numbers: int
) -> tuple[list[str], Array]:
    """Return ids and vectors that come block by block, `n_numbers` of them in all."""
    ids: list[str] = []
    vectors: NDArray[np.float32] = np.zeros((0, 1), np.float32)
    for names, column in blocks:
        found = checked_names(path, len(ids), "id", values_of(names))
        if None in found:
            row = len(ids) + found.index(None) + 1
            raise FormatError(path, row, "the id is empty", unit="row")
        if not ids:
            dim = len(column[0].values or ())
            vectors = np.empty((n_numbers // max(1, dim), dim), np.float32)
        block = _block(path, len(ids), column, vectors.shape[1])
        if len(ids) + len(block) > len(vectors):
            reason = "more numbers than the footer of the file states"
            raise FormatError(path, len(vectors) + 1, reason, unit="row")
        with np.errstate(over="ignore"):
            vectors[len(ids) : len(ids) + len(block)] = block
        ids += map(str, found)
    return ids, vectors[: len(ids)]


def _block(path: Path, n_before: int, column: pa.Array, dim: int) -> Array:
    """Return a column of lists of `dim` numbers as an array.

    Raises:
        FormatError: a list of another length, or without a number.
    """
    values = column.flatten()
    lengths = pc.fill_null(pc.list_value_length(column), -1).to_numpy(zero_copy_only=False)
    if not values.null_count and (lengths == dim).all():
        block: Array = values.to_numpy(zero_copy_only=False).reshape(len(column), dim)
        return block
    for row, vector in enumerate(column, n_before + 1):
        if vector.values is None or vector.values.null_count:
            raise FormatError(path, row, "the vector, or a number of it, is empty", unit="row")
        if len(vector.values) != dim:
            reason = f"{len(vector.values)} numbers where row 1 has {dim}"
            raise FormatError(path, row, reason, unit="row")
    raise AssertionError("no row is wrong")

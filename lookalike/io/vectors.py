"""Embeddings in files: .npy with a list of ids, .npz, parquet; nothing in them is ever executed."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalike.io.csv_text import not_utf8
from lookalike.io.errors import FormatError
from lookalike.io.parquet import MAGIC

Array = NDArray[np.generic]
NPY, NPZ = b"\x93NUMPY", b"PK\x03\x04"
ID_NAMES = ("ids", "id", "names", "paths")
VECTOR_NAMES = ("vectors", "vector", "embeddings", "embedding")
MAX_BYTES = 8 * 2**30


@dataclass(frozen=True)
class VectorTable:
    """Named vectors.

    Attributes:
        ids: one per row, none empty; a name may occur twice.
        vectors: shape (n, d), float32, finite, none of length zero.
    """

    ids: list[str]
    vectors: NDArray[np.float32]


def holds_vectors(path: str | Path) -> bool:
    """Say by a file's first bytes and columns whether it holds vectors rather than scores.

    Raises:
        FormatError: a broken parquet file.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(MAGIC):
        names = _parquet_names(path)
        return _one_of(names, VECTOR_NAMES) is not None and "score" not in names
    return head.startswith((NPY, NPZ))


def read_vectors(path: str | Path, ids_path: str | Path | None = None) -> VectorTable:
    """Return the vectors of a file with their ids.

    Args:
        path: a .npy of shape (n, d); a .npz with the arrays ids and vectors; or a parquet with
            the columns id and vector (a list of numbers).
        ids_path: for a .npy, a text file with one id a line in the order of the rows.

    Raises:
        FormatError: another format, pickled objects, another shape or dtype, a number of ids
            that is not that of the rows, an empty id, or a row with NaN, infinity or length 0.
        OSError: if a file cannot be opened.
    """
    path = Path(path)
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(NPY):
        if ids_path is None:
            raise FormatError(path, None, "a .npy file has no ids: give a file with one id a line")
        ids, vectors = read_ids(ids_path), _array(path)
    elif ids_path is not None:
        raise FormatError(path, None, "a separate file of ids belongs to a .npy file only")
    elif head.startswith(NPZ):
        ids, vectors = _from_npz(path)
    elif head.startswith(MAGIC):
        ids, vectors = _from_parquet(path)
    else:
        raise FormatError(path, None, "not a .npy, .npz or parquet file")
    return VectorTable(ids, _checked(path, ids, vectors))


def read_ids(path: str | Path) -> list[str]:
    """Return the lines of a text file.

    Raises:
        FormatError: an empty line before the end, or not UTF-8.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").rstrip("\r\n").split("\n")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    ids = [line.rstrip("\r") for line in lines]
    for number, name in enumerate(ids, 1):
        if not name.strip():
            raise FormatError(path, number, "the id is empty")
    return ids


def _array(path: Path) -> Array:
    try:
        found: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as problem:
        raise FormatError(path, None, _why(problem)) from problem
    return found


def _from_npz(path: Path) -> tuple[list[str], Array]:
    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(entry.file_size for entry in archive.infolist())
        if n_bytes > MAX_BYTES:
            reason = f"it unpacks to {n_bytes:,} bytes; at most {MAX_BYTES:,} are read"
            raise FormatError(path, None, reason)
        with np.load(path, allow_pickle=False) as arrays:
            id_name = _one_of(arrays.files, ID_NAMES)
            vector_name = _one_of(arrays.files, VECTOR_NAMES)
            if id_name is None or vector_name is None:
                held = ", ".join(arrays.files) or "nothing"
                reason = f"it holds {held}; needed: the arrays ids and vectors"
                raise FormatError(path, None, reason)
            names, vectors = arrays[id_name], arrays[vector_name]
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(path, None, _why(problem)) from problem
    if names.ndim != 1 or names.dtype.kind not in "US":
        raise FormatError(path, None, f"ids must be a list of strings, not {_shape(names)}")
    try:
        texts = np.char.decode(names) if names.dtype.kind == "S" else names
        return texts.tolist(), vectors
    except UnicodeDecodeError as problem:
        raise FormatError(path, None, "an id is not UTF-8") from problem


def _from_parquet(path: Path) -> tuple[list[str], Array]:
    names = _parquet_names(path)
    id_name, vector_name = _one_of(names, ID_NAMES), _one_of(names, VECTOR_NAMES)
    if id_name is None or vector_name is None:
        reason = f"the columns are {','.join(names)!r}; needed: id,vector"
        raise FormatError(path, None, reason)
    try:
        table = pq.read_table(path, columns=[id_name, vector_name])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        raise FormatError(path, None, f"not readable as parquet: {problem}") from problem
    column = table.column(vector_name)
    kind = column.type
    is_list = pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)
    if not (is_list or pa.types.is_large_list(kind)) or not pa.types.is_floating(kind.value_type):
        raise FormatError(path, None, f"{vector_name} must be lists of floating-point numbers")
    ids = table.column(id_name).to_pylist()
    if None in ids:
        raise FormatError(path, ids.index(None) + 1, "the id is empty", unit="row")
    rows: list[Array] = []
    for row, vector in enumerate(column, 1):
        values = vector.values
        if values is None or values.null_count:
            raise FormatError(path, row, "the vector, or a number of it, is empty", unit="row")
        if rows and len(values) != len(rows[0]):
            reason = f"{len(values)} numbers where row 1 has {len(rows[0])}"
            raise FormatError(path, row, reason, unit="row")
        rows.append(values.to_numpy(zero_copy_only=False))
    return list(map(str, ids)), np.stack(rows) if rows else np.zeros((0, 1))


def _checked(path: Path, ids: list[str], vectors: Array) -> NDArray[np.float32]:
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise FormatError(
            path, None, f"vectors must be floats of shape (n, d), not {_shape(vectors)}"
        )
    if len(ids) != len(vectors):
        raise FormatError(path, None, f"{len(ids):,} ids for {len(vectors):,} vectors")
    if vectors.size == 0:
        raise FormatError(path, None, "the file holds no vectors")
    if vectors.nbytes > MAX_BYTES:
        raise FormatError(path, None, f"at most {MAX_BYTES:,} bytes of vectors are read")
    for row, name in enumerate(ids, 1):
        if not name:
            raise FormatError(path, row, "the id is empty", unit="row")
    with np.errstate(over="ignore"):
        floats: NDArray[np.float32] = np.asarray(vectors, np.float32)
    for reason, bad in (
        ("the vector holds NaN", np.isnan(floats).any(axis=1)),
        ("the vector holds an infinity", np.isinf(floats).any(axis=1)),
        ("the vector has length 0, so no cosine", ~floats.any(axis=1)),
    ):
        rows = np.flatnonzero(bad)
        if rows.size:
            more = f" ({rows.size:,} such rows)" if rows.size > 1 else ""
            first = int(rows[0])
            raise FormatError(path, first + 1, f"{reason}: {ids[first]!r}{more}", unit="row")
    return floats


def _parquet_names(path: Path) -> list[str]:
    try:
        with pq.ParquetFile(path) as file:
            names: list[str] = file.schema_arrow.names
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        raise FormatError(path, None, f"not readable as parquet: {problem}") from problem
    return names


def _one_of(held: list[str], wanted: tuple[str, ...]) -> str | None:
    return next((name for name in wanted if name in held), None)


def _shape(array: Array) -> str:
    return f"{array.dtype} of shape {array.shape}"


def _why(problem: Exception) -> str:
    if "pickle" in str(problem).lower() or "python objects" in str(problem).lower():
        return "it holds Python objects, which are never loaded; save plain arrays"
    return f"not readable: {problem}"

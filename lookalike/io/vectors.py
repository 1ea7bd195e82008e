"""Embeddings in files: .npy with a list of ids, .npz, parquet; nothing in them is ever executed."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalike.core.unpacking import DAMAGES, why_too_much
from lookalike.io.errors import FormatError, InputError
from lookalike.io.parquet import MAGIC, checked_names, n_values, texts_in, values_of
from lookalike.io.text_files import not_decodable, text_lines

Array = NDArray[np.generic]
NPY, NPZ = b"\x93NUMPY", b"PK\x03\x04"
ID_NAMES = ("ids", "id", "names", "paths")
VECTOR_NAMES = ("vectors", "vector", "embeddings", "embedding")
MAX_BYTES = 8 * 2**30
FINGERPRINT = "fingerprint"  # array of a .npz, or metadata of a parquet schema
MAX_FINGERPRINT_BYTES = 2**12
BLOCK = 2**20  # numbers of a parquet file that are read at a time


@dataclass(frozen=True)
class VectorTable:
    """Named vectors.

    Attributes:
        ids: one per row, none empty; a name may occur twice.
        vectors: shape (n, d), float32, finite, none of length zero.
        fingerprint: of the model that made them, as `lookalike embed` writes it; "" if unknown.

    Raises:
        InputError: another number of ids than of vectors, or another shape.
    """

    ids: list[str]
    vectors: NDArray[np.float32]
    fingerprint: str = ""

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2:
            raise InputError(f"vectors must have the shape (n, d), not {self.vectors.shape}")
        if len(self.ids) != len(self.vectors):
            raise InputError(f"{len(self.ids):,} ids for {len(self.vectors):,} vectors")


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
            that is not that of the rows, an empty id, a row with NaN, infinity or length 0, or
            by what the file states of itself more than MAX_BYTES or far more than its size.
        OSError: if a file cannot be opened.
    """
    path = Path(path)
    fingerprint = ""
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(NPY):
        if ids_path is None:
            raise FormatError(path, None, "a .npy file has no ids: give a file with one id a line")
        vectors = _array(path)
        ids = read_ids(ids_path, len(vectors))
    elif ids_path is not None:
        raise FormatError(path, None, "a separate file of ids belongs to a .npy file only")
    elif head.startswith(NPZ):
        ids, vectors, fingerprint = _from_npz(path)
    elif head.startswith(MAGIC):
        ids, vectors, fingerprint = _from_parquet(path)
    else:
        raise FormatError(path, None, "not a .npy, .npz or parquet file")
    return VectorTable(ids, _checked(path, ids, vectors), fingerprint)


def write_vectors(
    path: str | Path, ids: Sequence[str], vectors: NDArray[np.float32], fingerprint: str = ""
) -> None:
    """Write vectors with their ids and the fingerprint of their model, as `read_vectors` reads it.

    Args:
        path: ends in .npz or .parquet.
        ids: one per row.
        vectors: shape (n, d).
        fingerprint: of the model; "" to leave it out.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    if path.suffix == ".npz":
        made_by = {FINGERPRINT: np.array(fingerprint)} if fingerprint else {}
        np.savez(path, ids=np.array(ids), vectors=vectors, **made_by)  # type: ignore[arg-type]
        return
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    table = pa.table({"id": pa.array(ids), "vector": column})
    if fingerprint:
        table = table.replace_schema_metadata({FINGERPRINT: fingerprint})
    pq.write_table(table, path)


def read_ids(path: str | Path, at_most: int | None = None) -> list[str]:
    """Return the lines of a text file.

    Args:
        path: the file.
        at_most: how many ids there can be; one more is read, so that it is missed.

    Raises:
        FormatError: an empty line before the end, or not UTF-8.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    ids: list[str] = []
    n_blank = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            for _, text in text_lines(path, file):
                name = text.rstrip("\r\n")
                if not name:
                    n_blank += 1  # no offence at the end of the file
                    continue
                if n_blank or not name.strip():
                    raise FormatError(path, len(ids) + 1, "the id is empty")
                ids.append(name)
                if at_most is not None and len(ids) > at_most:
                    break
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error
    if not ids:
        raise FormatError(path, 1, "the id is empty")
    return ids


def _array(path: Path) -> Array:
    try:
        found: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as problem:
        raise FormatError(path, None, _why(problem)) from problem
    return found


def _from_npz(path: Path) -> tuple[list[str], Array, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            held = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            id_name, vector_name = _one_of([*held], ID_NAMES), _one_of([*held], VECTOR_NAMES)
            if id_name is None or vector_name is None:
                reason = (
                    f"it holds {', '.join(held) or 'nothing'}; needed: the arrays ids and vectors"
                )
                raise FormatError(path, None, reason)
            entries = held[id_name], held[vector_name]
            n_bytes = sum(entry.file_size for entry in entries)
            _check_size(path, n_bytes, path.stat().st_size)
            names, vectors = (_member(path, archive, entry) for entry in entries)
            fingerprint = _fingerprint(path, archive, held.get(FINGERPRINT))
    except FormatError:
        raise
    except (*DAMAGES, OSError) as problem:
        raise FormatError(path, None, _why(problem)) from problem
    if names.ndim != 1 or names.dtype.kind not in "US":
        raise FormatError(path, None, f"ids must be a list of strings, not {_shape(names)}")
    try:
        texts = np.char.decode(names.astype(np.bytes_)) if names.dtype.kind == "S" else names
        return texts.tolist(), vectors, fingerprint
    except UnicodeDecodeError as problem:
        raise FormatError(path, None, "an id is not UTF-8") from problem


def _fingerprint(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo | None) -> str:
    if entry is None or entry.file_size > MAX_FINGERPRINT_BYTES:
        return ""
    text = _member(path, archive, entry)
    return str(text) if text.ndim == 0 and text.dtype.kind == "U" else ""


def _member(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    """Return an array of a .npz whose header agrees with how much the zip says it holds."""
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
        n_stated, n_held = math.prod(shape) * dtype.itemsize, entry.file_size - file.tell()
    if n_stated != n_held and not dtype.hasobject:
        reason = f"{entry.filename} states {n_stated:,} bytes and holds {n_held:,}"
        raise FormatError(path, None, reason)
    with archive.open(entry) as file:
        array: Array = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _from_parquet(path: Path) -> tuple[list[str], Array, str]:
    names = _parquet_names(path)
    id_name, vector_name = _one_of(names, ID_NAMES), _one_of(names, VECTOR_NAMES)
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
        _check_size(path, 4 * n_numbers, path.stat().st_size)
        n_rows = max(1, BLOCK * stated.num_rows // max(1, n_numbers))
        with pq.ParquetFile(path, read_dictionary=texts_in(schema, [id_name])) as file:
            batches = file.iter_batches(min(n_rows, BLOCK), columns=[id_name, vector_name])
            blocks = ((b.column(id_name), b.column(vector_name)) for b in batches)
            stored = (schema.metadata or {}).get(FINGERPRINT.encode(), b"")
            return *_filled(path, blocks, n_numbers), stored.decode("ascii", "replace")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        raise FormatError(path, None, f"not readable as parquet: {problem}") from problem


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


def _check_size(path: Path, n_bytes: int, n_packed: int) -> None:
    if reason := why_too_much(n_bytes, n_packed):
        raise FormatError(path, None, reason)
    if n_bytes > MAX_BYTES:
        reason = f"it would unpack to {n_bytes:,} bytes; at most {MAX_BYTES:,} are read"
        raise FormatError(path, None, reason)


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
        squares = np.einsum("nd,nd->n", floats, floats)
    for reason, bad in (
        ("the vector holds NaN", np.isnan(floats).any(axis=1)),
        ("the vector holds an infinity", np.isinf(floats).any(axis=1)),
        ("the vector has length 0, so no cosine", ~floats.any(axis=1)),
        ("the vector is too long or too short for cosines in float32", ~_is_length(squares)),
    ):
        rows = np.flatnonzero(bad)
        if rows.size:
            more = f" ({rows.size:,} such rows)" if rows.size > 1 else ""
            first = int(rows[0])
            raise FormatError(path, first + 1, f"{reason}: {ids[first]!r}{more}", unit="row")
    return floats


def _is_length(squares: NDArray[np.float32]) -> NDArray[np.bool_]:
    is_length: NDArray[np.bool_] = (squares >= np.finfo(np.float32).tiny) & np.isfinite(squares)
    return is_length


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

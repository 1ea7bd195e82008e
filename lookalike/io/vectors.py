"""Vectors in files, whichever of the known formats they are in; nothing in them is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalike.io.array_runs import holds_run_arrays
from lookalike.io.errors import FormatError, InputError
from lookalike.io.parquet import MAGIC
from lookalike.io.text_files import not_decodable, text_lines
from lookalike.io.vector_arrays import (
    FINGERPRINT,
    NPY,
    NPZ,
    VECTOR_NAMES,
    Array,
    Named,
    is_safetensors,
    most_bytes,
    one_of,
    read_npy,
    read_npz,
    read_safetensors,
    shape_of,
)
from lookalike.io.vector_rows import are_json_lines, parquet_names, read_json_lines, read_parquet

Format = Literal["npy", "npz", "parquet", "safetensors", "jsonl"]
BLOCK = 2**20  # numbers that are checked at a time
HEAD = 64  # bytes that tell a format
_READERS: dict[Format, Callable[[Path], Named]] = {
    "npy": lambda path: (None, read_npy(path), ""),
    "npz": read_npz,
    "parquet": read_parquet,
    "safetensors": read_safetensors,
    "jsonl": read_json_lines,
}


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
    """Say by a file's first bytes, arrays and columns whether it holds vectors, not scores.

    Raises:
        FormatError: a broken parquet or .npz file.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    kind = _format(path)
    if kind == "parquet":
        names = parquet_names(path)
        return one_of(names, VECTOR_NAMES) is not None and "score" not in names
    return kind is not None and not (kind == "npz" and holds_run_arrays(path))


def read_vectors(path: str | Path, ids_path: str | Path | None = None) -> VectorTable:
    """Return the vectors of a file with their ids.

    The format is told by the content: .npy of shape (n, d); .npz or safetensors with ids and
    vectors, or with one vector for each id; parquet or JSON lines with an id and a vector (a list
    of numbers) in each row. Arrays and columns of ids are called id, name, path or image_id, those
    of vectors vector or embedding, as `ID_NAMES` and `VECTOR_NAMES` list them.

    Args:
        path: the file.
        ids_path: for vectors without ids, a text file with one id a line in the order of the rows.

    Raises:
        FormatError: another format, pickled objects, another shape or dtype, a number of ids
            that is not that of the rows, an empty id, a row with NaN, infinity or length 0, or
            by what the file states of itself more than `most_bytes` or far more than its size.
        OSError: if a file cannot be opened.
    """
    path = Path(path)
    kind = _format(path)
    if kind is None:
        reason = "not a .npy, .npz or parquet file, nor safetensors or JSON lines of vectors"
        raise FormatError(path, None, reason)
    if kind == "npy" and ids_path is None:
        reason = "a .npy file has no ids: give a file with one id a line (--ids)"
        raise FormatError(path, None, reason)
    ids, vectors, fingerprint = _READERS[kind](path)
    if ids is not None and ids_path is not None:
        reason = f"it has ids of its own, so that {Path(ids_path).name} cannot name its vectors"
        raise FormatError(path, None, reason)
    if ids is None:
        if ids_path is None:
            reason = "its vectors have no ids: give a file with one id a line (--ids)"
            raise FormatError(path, None, reason)
        ids = read_ids(ids_path, len(vectors) if vectors.ndim else 0)
    return VectorTable(ids, _checked(path, ids, vectors), fingerprint)


def _format(path: Path) -> Format | None:
    """Tell the format of vectors by a file's first bytes."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith(NPY):
        return "npy"
    if head.startswith(NPZ):
        return "npz"
    if head.startswith(MAGIC):
        return "parquet"
    if is_safetensors(path, head):
        return "safetensors"
    return "jsonl" if are_json_lines(path, head) else None


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


def _checked(path: Path, ids: list[str], vectors: Array) -> NDArray[np.float32]:
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise FormatError(
            path, None, f"vectors must be floats of shape (n, d), not {shape_of(vectors)}"
        )
    if len(ids) != len(vectors):
        raise FormatError(path, None, f"{len(ids):,} ids for {len(vectors):,} vectors")
    if vectors.size == 0:
        raise FormatError(path, None, "the file holds no vectors")
    if 4 * vectors.size > (most := most_bytes()):
        raise FormatError(path, None, f"at most {most:,} bytes of vectors are read")
    for row, name in enumerate(ids, 1):
        if not name:
            raise FormatError(path, row, "the id is empty", unit="row")
    with np.errstate(over="ignore"):
        floats: NDArray[np.float32] = np.asarray(vectors, np.float32)
    for reason, rows in _bad_rows(floats).items():
        if rows:
            more = f" ({len(rows):,} such rows)" if len(rows) > 1 else ""
            raise FormatError(path, rows[0] + 1, f"{reason}: {ids[rows[0]]!r}{more}", unit="row")
    return floats


def _bad_rows(vectors: NDArray[np.float32]) -> dict[str, list[int]]:
    """Return the rows that have no cosine, by reason; looks at a block at a time."""
    found: dict[str, list[int]] = {}
    step = max(1, BLOCK // vectors.shape[1])
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        with np.errstate(over="ignore"):
            squares = np.einsum("nd,nd->n", block, block)
        for reason, bad in (
            ("the vector holds NaN", np.isnan(block).any(axis=1)),
            ("the vector holds an infinity", np.isinf(block).any(axis=1)),
            ("the vector has length 0, so no cosine", ~block.any(axis=1)),
            ("the vector is too long or too short for cosines in float32", ~_is_length(squares)),
        ):
            found.setdefault(reason, []).extend((start + np.flatnonzero(bad)).tolist())
    return found


def _is_length(squares: NDArray[np.float32]) -> NDArray[np.bool_]:
    is_length: NDArray[np.bool_] = (squares >= np.finfo(np.float32).tiny) & np.isfinite(squares)
    return is_length

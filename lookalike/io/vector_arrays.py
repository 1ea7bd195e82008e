"""Vectors in files of arrays: .npy, .npz and safetensors; nothing in them is ever executed."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from lookalike.core.unpacking import DAMAGES, why_too_much
from lookalike.io.errors import FormatError
from lookalike.io.pair_columns import plain_column

Array = NDArray[np.generic]
NPY, NPZ = b"\x93NUMPY", b"PK\x03\x04"
ID_NAMES = (
    *("ids", "id", "names", "paths", "image_id", "image_ids", "path", "image", "images"),
    *("filepath", "filepaths", "file_name", "filename", "filenames", "file", "name", "keys"),
)
VECTOR_NAMES = ("vectors", "vector", "embeddings", "embedding", "features", "feature")
MAX_BYTES = 8 * 2**30
FINGERPRINT = "fingerprint"  # array of a .npz, or metadata of a parquet schema
MAX_FINGERPRINT_BYTES = 2**12
MAX_HEADER = 100_000_000  # bytes of a safetensors file; its own package reads no longer one
BLOCK_BYTES = 2**24
Header = tuple[tuple[int, ...], bool, np.dtype[np.generic]]
Named = tuple[list[str] | None, Array, str]  # ids, or None; vectors; fingerprint


def one_of(held: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return the name of the first wanted array or column that a file has, in any spelling."""
    by_name = {plain_column(name): name for name in reversed(held)}
    return next((by_name[name] for name in wanted if name in by_name), None)


def most_bytes() -> int:
    """Return how many bytes of vectors are read: VECTORS_MEMORY_MIB of the environment, or 8 GiB.

    Raises:
        ValueError: The variable is no number.
    """
    stated = os.environ.get("VECTORS_MEMORY_MIB")
    return MAX_BYTES if stated is None else int(stated) * 2**20


def check_size(path: Path, n_bytes: int, n_packed: int) -> None:
    """Refuse a file that unpacks to more than `most_bytes`, or to far more than its size."""
    if reason := why_too_much(n_bytes, n_packed):
        raise FormatError(path, None, reason)
    if n_bytes > (most := most_bytes()):
        reason = f"it would unpack to {n_bytes:,} bytes; at most {most:,} are read"
        raise FormatError(path, None, reason)


def check_shape(path: Path, shape: Sequence[int]) -> None:
    """Refuse a negative dimension."""
    if any(length < 0 for length in shape):
        raise FormatError(path, None, f"an array has the shape {shape}, which is negative")


def shape_of(array: Array) -> str:
    """Return type and shape of an array, for messages."""
    return f"{array.dtype} of shape {array.shape}"


def read_npy(path: Path) -> Array:
    """Return the array of a .npy file, mapped into memory.

    Raises:
        FormatError: not readable, or pickled objects.
    """
    try:
        with path.open("rb") as file:
            check_shape(path, _header(file)[0])
        found: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FormatError:
        raise
    except (ValueError, EOFError, OSError) as problem:
        raise FormatError(path, None, _why(problem)) from problem
    return found


class NpzFile:
    """The arrays of an open .npz file, read by name."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._archive = path, archive
        self._entries = {e.filename.removesuffix(".npy"): e for e in archive.infolist()}
        if len(self._entries) < len(archive.infolist()):
            names = [entry.filename for entry in archive.infolist()]
            twice = next(name for name in names if names.count(name) > 1)
            raise FormatError(path, None, f"the array {twice!r} stands twice in it")

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return [*self._entries]

    def read(self, names: Sequence[str]) -> list[Array]:
        """Return arrays whose headers agree with how much the zip says they hold.

        Raises:
            FormatError: they are too large, or not what their headers say.
        """
        entries = [self._entries[name] for name in names]
        n_bytes = sum(entry.file_size for entry in entries)
        check_size(self._path, n_bytes, self._path.stat().st_size)
        return [self._member(entry) for entry in entries]

    def read_matrix(self, name: str) -> Array:
        """Return an array; a matrix of floats is read in blocks, as float32.

        A matrix takes the memory of the result and of a block.

        Raises:
            FormatError: As `read`.
        """
        entry = self._entries[name]
        check_size(self._path, entry.file_size, self._path.stat().st_size)
        shape, is_by_column, dtype = self._checked_header(entry)
        if len(shape) != 2 or dtype.kind != "f":
            return self._member(entry)
        check_size(self._path, 4 * math.prod(shape), self._path.stat().st_size)
        matrix = np.empty(shape, np.float32)
        lines = matrix.T if is_by_column else matrix  # as they follow one another in the file
        line_bytes = lines.shape[1] * dtype.itemsize
        step = max(1, BLOCK_BYTES // max(1, line_bytes))
        with self._archive.open(entry) as file:
            _header(file)
            for start in range(0, len(lines), step):
                part = lines[start : start + step]
                content = file.read(part.shape[0] * line_bytes)
                with np.errstate(over="ignore"):
                    part[:] = np.frombuffer(content, dtype).reshape(part.shape)
        return matrix

    def fingerprint(self) -> str:
        """Return the fingerprint of the model; "" if there is none."""
        entry = self._entries.get(FINGERPRINT)
        if entry is None or entry.file_size > MAX_FINGERPRINT_BYTES:
            return ""
        text = self._member(entry)
        return str(text) if text.ndim == 0 and text.dtype.kind == "U" else ""

    def _member(self, entry: zipfile.ZipInfo) -> Array:
        self._checked_header(entry)
        with self._archive.open(entry) as file:
            array: Array = np.lib.format.read_array(file, allow_pickle=False)
        return array

    def _checked_header(self, entry: zipfile.ZipInfo) -> Header:
        """Return shape, order and type of an array, which the zip holds whole."""
        with self._archive.open(entry) as file:
            shape, is_by_column, dtype = _header(file)
            n_stated, n_held = math.prod(shape) * dtype.itemsize, entry.file_size - file.tell()
        check_shape(self._path, shape)
        if n_stated != n_held and not dtype.hasobject:
            reason = f"{entry.filename} states {n_stated:,} bytes and holds {n_held:,}"
            raise FormatError(self._path, None, reason)
        return shape, is_by_column, dtype


def _header(file: IO[bytes]) -> Header:
    """Read shape, order (by column or not) and type of a .npy; the values follow.

    Raises:
        ValueError: It is no .npy.
    """
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


@contextmanager
def open_npz(path: Path) -> Iterator[NpzFile]:
    """Open a .npz file.

    Raises:
        FormatError: damaged, or it holds Python objects; also while its arrays are read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield NpzFile(path, archive)
    except FormatError:
        raise
    except (*DAMAGES, OSError) as problem:
        raise FormatError(path, None, _why(problem)) from problem


def ids_of(path: Path, names: Array) -> list[str]:
    """Return an array of ids as text.

    Raises:
        FormatError: no list of strings or whole numbers.
    """
    if names.ndim != 1 or names.dtype.kind not in "USiu":
        raise FormatError(path, None, f"ids must be a list of strings, not {shape_of(names)}")
    if names.dtype.kind in "iu":
        return [str(name) for name in names.tolist()]
    try:
        texts = np.char.decode(names.astype(np.bytes_)) if names.dtype.kind == "S" else names
    except UnicodeDecodeError as problem:
        raise FormatError(path, None, "an id is not UTF-8") from problem
    ids: list[str] = texts.tolist()
    return ids


def read_npz(path: Path) -> Named:
    """Return the vectors of a .npz file: arrays ids and vectors, or one array for each id."""
    with open_npz(path) as file:
        held = [name for name in file.names if name != FINGERPRINT]
        id_name, vector_name = one_of(held, ID_NAMES), one_of(held, VECTOR_NAMES)
        if id_name is not None and vector_name is not None:
            [names] = file.read([id_name])
            return ids_of(path, names), file.read_matrix(vector_name), file.fingerprint()
        if vector_name is not None and len(held) == 1:
            return None, file.read_matrix(vector_name), file.fingerprint()
        if id_name is None and vector_name is None and held:
            arrays = dict(zip(held, file.read(held), strict=True))
            return (*_keyed(path, arrays), file.fingerprint())
        raise FormatError(path, None, _needed(held))


def read_safetensors(path: Path) -> Named:
    """Return the vectors of a safetensors file: one tensor for each id, or vectors without ids."""
    try:
        from safetensors import SafetensorError, safe_open  # noqa: PLC0415  # an extra
    except ModuleNotFoundError as problem:
        reason = "safetensors files need the package: pip install safetensors"
        raise FormatError(path, None, reason) from problem
    try:
        with safe_open(path, framework="np") as file:
            names = [*file.keys()]
            fingerprint = str((file.metadata() or {}).get(FINGERPRINT, ""))
            arrays = {name: np.asarray(file.get_tensor(name)) for name in names}
    except (SafetensorError, TypeError, ValueError, KeyError, AttributeError, OSError) as problem:
        raise FormatError(path, None, f"not readable as safetensors: {problem}") from problem
    id_name, vector_name = one_of(names, ID_NAMES), one_of(names, VECTOR_NAMES)
    if vector_name is not None and arrays[vector_name].ndim == 2 and len(names) == 1:
        return None, arrays[vector_name], fingerprint
    if vector_name is not None and id_name is not None and len(names) == 2:
        return ids_of(path, arrays[id_name]), arrays[vector_name], fingerprint
    return (*_keyed(path, arrays), fingerprint)


def is_safetensors(path: Path, head: bytes) -> bool:
    """Say by the first 8 bytes whether a file is safetensors: the length of its JSON header."""
    if len(head) < 8:
        return False
    n_header = int.from_bytes(head[:8], "little")
    if not 2 <= n_header <= min(MAX_HEADER, path.stat().st_size - 8):
        return False
    with path.open("rb") as file:
        file.seek(8)
        text = file.read(n_header)
    try:
        return text.startswith(b"{") and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _keyed(path: Path, arrays: Mapping[str, Array]) -> tuple[list[str], Array]:
    """Return ids and vectors of arrays that are one vector each.

    Raises:
        FormatError: one of another type or length.
    """
    if not arrays:
        raise FormatError(path, None, "the file holds no vectors")
    vectors: list[Array] = []
    for name, array in arrays.items():
        vector = array[0] if array.ndim == 2 and len(array) == 1 else array
        if vector.ndim != 1 or vector.dtype.kind != "f":
            reason = f"{name!r} is {shape_of(array)}, not one vector of floats; {_needed(arrays)}"
            raise FormatError(path, None, reason)
        if vectors and vector.size != vectors[0].size:
            first = next(iter(arrays))
            reason = f"{name!r} has {vector.size} numbers where {first!r} has {vectors[0].size}"
            raise FormatError(path, None, reason)
        vectors.append(vector)
    return [*arrays], np.stack(vectors)


def _needed(held: Collection[str]) -> str:
    names = ", ".join([*held][:9]) or "nothing"
    return f"it holds {names}; needed: the arrays ids and vectors, or one vector for each id"


def _why(problem: Exception) -> str:
    if "pickle" in str(problem).lower() or "python objects" in str(problem).lower():
        return "it holds Python objects, which are never loaded; save plain arrays"
    return f"not readable: {problem}"

"""Vectors on disk: shards by content hash, read back as one array, and neighbours in it.

No torch here: the web process reads vectors too.
"""

from __future__ import annotations

import hashlib
import io
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from django.conf import settings

from catalog.files import write_atomically
from catalog.models import EmbeddingSet, EmbeddingShard, Image

Vectors = npt.NDArray[np.float32] | npt.NDArray[np.float16]
Floats = npt.NDArray[np.float32]
ImageIds = npt.NDArray[np.int64]
BLOCK = 8192  # rows that are widened at once


class EmbeddingError(Exception):
    """Stored vectors are missing or damaged; the message names the file and what to do."""


def shard_path(sha256: str) -> Path:
    """Return where the .npy file of that content lies (or would lie)."""
    return Path(settings.DATA_DIR) / "embeddings" / sha256[:2] / f"{sha256}.npy"


def write_shard(vectors: npt.NDArray[np.floating]) -> str:
    """Store an array of vectors whole or not at all, and return its SHA-256.

    Writing the same array again changes nothing. Create the EmbeddingShard row only after this
    has returned.

    Args:
        vectors: shape (n, d), floating point, finite.

    Raises:
        ValueError: not two-dimensional, or holding NaN or infinity.
    """
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ValueError(f"Expected finite vectors (n, d), got shape {vectors.shape}.")
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(vectors), allow_pickle=False)
    sha256 = hashlib.sha256(buffer.getbuffer()).hexdigest()
    path = shard_path(sha256)
    if not path.exists():
        write_atomically(path, lambda file: file.write(buffer.getbuffer()))
    return sha256


def load_vectors(embedding_set: EmbeddingSet) -> tuple[ImageIds, Vectors]:
    """Return the image ids and their vectors, in the order of the shards.

    The vectors are mapped from one file, made from the shards at the first call and kept, so
    that they need no memory of their own. Each shard's hash and shape are checked then.

    Returns:
        Image ids, shape (n,), int64; vectors, shape (n, dim), read-only: float16 if all shards
        are, else float32.

    Raises:
        EmbeddingError: a shard is missing, or is not what its row says.
    """
    shards = list(EmbeddingShard.objects.filter(embedding_set=embedding_set).order_by("position"))
    if not shards:
        return np.empty(0, np.int64), np.empty((0, embedding_set.dim), np.float32)
    image_ids = np.concatenate([np.asarray(shard.image_ids, np.int64) for shard in shards])
    path = _merged_path([shard.sha256 for shard in shards])
    if not path.exists():
        write_atomically(path, lambda file: _merge(file, shards, embedding_set.dim))
    return image_ids, _mapped(path, (len(image_ids), embedding_set.dim), _dtype_of(shards))


def _dtype_of(shards: list[EmbeddingShard]) -> str:
    """Return the narrowest of the two types that holds what all shards hold."""
    return "<f2" if all(shard.dtype == "float16" for shard in shards) else "<f4"


def forget_vectors() -> None:
    """Let go of the mapped files: what was read of them counts as memory while they are held."""
    _mapped.cache_clear()


def damaged_shards(embedding_set: EmbeddingSet) -> list[EmbeddingShard]:
    """Return the shards whose file is missing or is not what its row says.

    Empty without a look at the files when they are merged already: they were checked then.
    """
    shards = list(EmbeddingShard.objects.filter(embedding_set=embedding_set).order_by("position"))
    if _merged_path([shard.sha256 for shard in shards]).exists():
        return []
    return [shard for shard in shards if not _is_sound(shard, embedding_set.dim)]


def _is_sound(shard: EmbeddingShard, dim: int) -> bool:
    try:
        _checked(shard, dim)
    except EmbeddingError:
        return False
    return True


def nearest(embedding_set: EmbeddingSet, image: Image, n: int) -> list[tuple[int, float]]:
    """Return the (image id, cosine) of the `n` nearest other images, nearest first.

    Ties go to the lower image id. An image without a vector in this set has no neighbours; a
    vector of length zero has cosine 0 with everything. Fewer than `n` when the set is small.
    """
    image_ids, vectors = load_vectors(embedding_set)
    (rows,) = np.nonzero(image_ids == image.pk)
    if len(rows) == 0 or n < 1:
        return []
    scores = _cosines(vectors, np.asarray(vectors[rows[0]], np.float32))
    others = np.flatnonzero(image_ids != image.pk)
    if len(others) > n:
        floor = np.partition(scores[others], -n)[-n]
        others = others[scores[others] >= floor]
    order = np.lexsort((image_ids[others], -scores[others]))[:n]
    return [(int(image_ids[row]), float(scores[row])) for row in others[order]]


def _cosines(vectors: Vectors, query: Floats) -> Floats:
    """Return the cosine of each row with a query, shape (n,), in memory for a block of rows."""
    scores = np.zeros(len(vectors), np.float32)
    for start in range(0, len(vectors), BLOCK):
        block: Floats = np.asarray(vectors[start : start + BLOCK], np.float32)
        lengths = np.sqrt(np.einsum("nd,nd->n", block, block)) * np.linalg.norm(query)
        np.divide(block @ query, lengths, out=scores[start : start + BLOCK], where=lengths > 0)
    return scores


def _merged_path(hashes: list[str]) -> Path:
    digest = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    return Path(settings.DATA_DIR) / "embeddings" / "merged" / f"{digest}.npy"


def _merge(file: BinaryIO, shards: list[EmbeddingShard], dim: int) -> None:
    n_rows = sum(len(shard.image_ids) for shard in shards)
    dtype = _dtype_of(shards)
    header = {"descr": dtype, "fortran_order": False, "shape": (n_rows, dim)}
    np.lib.format.write_array_header_1_0(file, header)
    for shard in shards:
        rows = _checked(shard, dim).astype(dtype, copy=False)
        file.write(np.ascontiguousarray(rows).data)


def _checked(shard: EmbeddingShard, dim: int) -> npt.NDArray[np.floating]:
    path = shard_path(shard.sha256)
    again = f"Delete the embedding set “{shard.embedding_set}” and embed the catalog again."
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise EmbeddingError(f"The vectors {path} are missing. {again}") from None
    if hashlib.sha256(content).hexdigest() != shard.sha256:
        raise EmbeddingError(f"The vectors {path} were changed on disk. {again}")
    array: npt.NDArray[np.floating] = np.load(io.BytesIO(content), allow_pickle=False)
    if array.shape != (len(shard.image_ids), dim):
        raise EmbeddingError(
            f"The vectors {path} have shape {array.shape}, not "
            f"({len(shard.image_ids)}, {dim}). {again}"
        )
    return array


@lru_cache(maxsize=16)
def _mapped(path: Path, shape: tuple[int, int], dtype: str) -> Vectors:
    array: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.shape != shape or array.dtype != np.dtype(dtype):
        raise EmbeddingError(f"Delete {path}: it is not what was written, and is made anew.")
    return array

"""Vectors on disk: shards by content hash, read back as one array, and neighbours in it.

No torch here: the web process reads vectors too.
"""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from django.conf import settings

from catalog.models import EmbeddingSet, EmbeddingShard, Image
from jobs.errors import JobError
from lookalike.core.arrays import Float32s
from lookalike.core.atomic_files import write_atomically

Vectors = npt.NDArray[np.float32] | npt.NDArray[np.float16]
ImageIds = npt.NDArray[np.int64]
Map = Callable[[Float32s], Float32s]  # of rows
BLOCK = 8192  # rows that are widened at once
ATTEMPTS = 3  # to write and open a merged file
DAY = 86400.0  # seconds


class EmbeddingError(JobError):
    """Stored vectors are missing or damaged; the message names the file and what to do."""


def shard_path(sha256: str) -> Path:
    """Return where the .npy file of that content lies (or would lie)."""
    return _folder() / sha256[:2] / f"{sha256}.npy"


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "embeddings"


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
    try:
        os.utime(path)  # young again, so that nobody takes it for left over
    except FileNotFoundError:
        write_atomically(path, lambda file: file.write(buffer.getbuffer()))
    return sha256


def load_vectors(embedding_set: EmbeddingSet) -> tuple[ImageIds, Vectors]:
    """Return the image ids and their vectors, in the order of the shards.

    The vectors are mapped from one file, made from the shards at the first call and kept, so
    that they need no memory of their own. Each shard's hash and shape are checked then, the
    file's hash when a process first opens it; a file that was changed is made anew.

    Returns:
        Image ids, shape (n,), int64; vectors, shape (n, dim), read-only: float16 if all shards
        are, else float32.

    Raises:
        EmbeddingError: a shard is missing, or is not what its row says, or the disk does not
            keep what is written.
    """
    shards = list(EmbeddingShard.objects.filter(embedding_set=embedding_set).order_by("position"))
    if not shards:
        return np.empty(0, np.int64), np.empty((0, embedding_set.dim), np.float32)
    image_ids = np.concatenate([np.asarray(shard.image_ids, np.int64) for shard in shards])
    path = _merged_path([shard.sha256 for shard in shards])
    for _ in range(ATTEMPTS):  # another process may remove the file when the set has grown
        if _is_whole(path):
            with suppress(FileNotFoundError):
                return image_ids, _mapped(path)
        _merge(path, shards, embedding_set.dim)
        remove_superseded()
    raise EmbeddingError(f"{path} is not what was written to it just now; look at the disk.")


def vectors_sha256(embedding_set: EmbeddingSet) -> str:
    """Return the hash of all vectors of a set, from those of its shards; no file is read."""
    shards = EmbeddingShard.objects.filter(embedding_set=embedding_set).order_by("position")
    return _hash_of_shards(list(shards.values_list("sha256", flat=True)))


def forget_vectors() -> None:
    """Let go of the mapped files: what was read of them counts as memory while they are held."""
    _mapped.cache_clear()


def damaged_shards(embedding_set: EmbeddingSet) -> list[EmbeddingShard]:
    """Return the shards whose file is missing or is not what its row says.

    Empty without a look at the shards when they are merged in a file that is whole: they were
    checked then.
    """
    shards = list(EmbeddingShard.objects.filter(embedding_set=embedding_set).order_by("position"))
    if _is_whole(_merged_path([shard.sha256 for shard in shards])):
        return []
    return [shard for shard in shards if not _is_sound(shard, embedding_set.dim)]


def remove_superseded() -> int:
    """Delete the merged files of sets that have grown, changed or gone; return how many.

    Whoever has one of them mapped keeps it until he lets go of it.
    """
    merged = list((_folder() / "merged").glob("*.npy"))  # before the look at the rows
    shards = EmbeddingShard.objects.order_by("embedding_set_id", "position")
    rows = shards.values_list("embedding_set_id", "sha256").iterator()
    needed = {
        _merged_path([sha256 for _, sha256 in of_set])
        for _, of_set in groupby(rows, key=lambda row: row[0])
    }
    unneeded = [path for path in merged if path not in needed]
    for path in unneeded:
        path.unlink(missing_ok=True)
        _hash_path(path).unlink(missing_ok=True)
    return len(unneeded)


def remove_unused_vectors() -> int:
    """Delete the files that belong to no embedding set any more; return how many.

    Shards and what killed writers left only once they are a day old: a shard's row is written
    after its file. Should one be needed again all the same, it is noticed and made anew.
    """
    n_removed = remove_superseded()
    long_ago = time.time() - DAY
    found = [*_folder().glob("??/*.npy"), *_folder().glob("*/.writing-*")]
    old = []
    for path in found:
        with suppress(FileNotFoundError):  # its writer has just renamed it
            if path.stat().st_mtime < long_ago:
                old.append(path)
    if not old:
        return n_removed
    used = set(EmbeddingShard.objects.values_list("sha256", flat=True).iterator())
    for path in old:
        if path.stem not in used:
            path.unlink(missing_ok=True)
            n_removed += 1
    return n_removed


def _is_sound(shard: EmbeddingShard, dim: int) -> bool:
    try:
        read_shard(shard, dim)
    except EmbeddingError:
        return False
    return True


def nearest(
    embedding_set: EmbeddingSet,
    image: Image,
    n: int,
    *,
    by: Map | None = None,
    besides: Collection[int] = (),
) -> list[tuple[int, float]]:
    """Return the (image id, cosine) of the `n` nearest other images, nearest first.

    Ties go to the lower image id. An image without a vector in this set has no neighbours; a
    vector of length zero has cosine 0 with everything. Fewer than `n` when the set is small.

    Args:
        embedding_set: whose vectors are compared.
        image: whose neighbours.
        n: how many.
        by: maps the vectors first.
        besides: ids of images that are left out, too.
    """
    image_ids, vectors = load_vectors(embedding_set)
    (rows,) = np.nonzero(image_ids == image.pk)
    if len(rows) == 0:
        return []
    query = np.asarray(vectors[rows], np.float32)
    query = query[0] if by is None else by(query)[0]
    return nearest_to(embedding_set, query, n, by=by, besides=[image.pk, *besides])


def by_nearness(embedding_set: EmbeddingSet, image: Image) -> list[int]:
    """Return the ids of all other images of a set, the nearest to one first; as `nearest`."""
    return [pk for pk, _ in nearest(embedding_set, image, len(load_vectors(embedding_set)[0]))]


def nearest_to(
    embedding_set: EmbeddingSet,
    query: Float32s,
    n: int,
    *,
    by: Map | None = None,
    besides: Collection[int] = (),
) -> list[tuple[int, float]]:
    """Return the (image id, cosine) of the `n` images nearest to a vector, as `nearest`."""
    image_ids, vectors = load_vectors(embedding_set)
    if not len(image_ids) or n < 1:
        return []
    scores = _cosines(vectors, query, by)
    others = np.flatnonzero(~np.isin(image_ids, list(besides)))
    if len(others) > n:
        floor = np.partition(scores[others], -n)[-n]
        others = others[scores[others] >= floor]
    order = np.lexsort((image_ids[others], -scores[others]))[:n]
    return [(int(image_ids[row]), float(scores[row])) for row in others[order]]


def _cosines(vectors: Vectors, query: Float32s, by: Map | None) -> Float32s:
    """Return the cosine of each row with a query, shape (n,), in memory for a block of rows."""
    scores = np.zeros(len(vectors), np.float32)
    for start in range(0, len(vectors), BLOCK):
        block: Float32s = np.asarray(vectors[start : start + BLOCK], np.float32)
        block = block if by is None else by(block)
        lengths = np.sqrt(np.einsum("nd,nd->n", block, block)) * np.linalg.norm(query)
        np.divide(block @ query, lengths, out=scores[start : start + BLOCK], where=lengths > 0)
    return scores


def _merged_path(hashes: list[str]) -> Path:
    return _folder() / "merged" / f"{_hash_of_shards(hashes)}.npy"


def _hash_of_shards(hashes: list[str]) -> str:
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def _merge(path: Path, shards: list[EmbeddingShard], dim: int) -> None:
    """Write the rows of all shards as one array, and beside it the hash of that file."""
    dtype = "<f2" if all(shard.dtype == "float16" for shard in shards) else "<f4"
    shape = (sum(len(shard.image_ids) for shard in shards), dim)
    digest = hashlib.sha256()

    def fill(file: BinaryIO) -> None:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": dtype, "fortran_order": False, "shape": shape}
        )
        digest.update(header.getbuffer())
        file.write(header.getbuffer())
        for shard in shards:
            rows = np.ascontiguousarray(read_shard(shard, dim).astype(dtype, copy=False))
            digest.update(rows.data)
            file.write(rows.data)

    write_atomically(path, fill)
    write_atomically(_hash_path(path), lambda file: file.write(digest.hexdigest().encode()))


def _hash_path(merged: Path) -> Path:
    return merged.with_suffix(".sha256")


def _is_whole(merged: Path) -> bool:
    """Whether a merged file is there, and is what was written."""
    try:
        expected = _hash_path(merged).read_text()
        stat = merged.stat()
        return _hash_of(merged, stat.st_mtime_ns, stat.st_size) == expected
    except FileNotFoundError:
        return False


@lru_cache(maxsize=64)
def _hash_of(path: Path, _mtime_ns: int, _size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_shard(shard: EmbeddingShard, dim: int) -> npt.NDArray[np.floating]:
    """Return a shard's vectors, shape (n, dim).

    Raises:
        EmbeddingError: its file is missing, or is not what its row says.
    """
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
def _mapped(path: Path) -> Vectors:
    array: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    return array

"""Vectors of a release's images by a backbone, made as a site makes them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.backbones.embed import PictureProblem, embed_in_turn
from lookalike.backbones.protocol import Backbone, stored_dtype
from lookalike.core.atomic_files import write_atomically
from lookalike.core.unpacking import DAMAGES
from lookalike.images.sources import Source, SourceError, UnreadableFileError, open_source
from lookalike.io.vectors import VectorTable
from lookalike.release.errors import ReleaseError
from lookalike.release.opened import ADVICE, Release

GROUP = 256  # images, as a site's shards have: the same batches give the same bytes
Kept = dict[str, NDArray[np.floating]]


@dataclass(frozen=True)
class EmbeddedImages:
    """Vectors of all that a release asks about and ranks.

    Attributes:
        table: named by SHA-256, and rounded as a site stores them.
        n_computed: how many were made now; the others were kept from an earlier time.
    """

    table: VectorTable
    n_computed: int


@dataclass(frozen=True)
class _Picture:
    """Opens an image, if it is the one that was frozen."""

    sha256: str
    file_sha256: str
    path: str
    read: Callable[[], bytes]

    def __call__(self) -> BytesIO:
        content = self.read()
        if hashlib.sha256(content).hexdigest() != self.file_sha256:
            raise ReleaseError(f"{self.path} is not the image that was frozen; {ADVICE}")
        return BytesIO(content)

    def __repr__(self) -> str:
        return self.path


def embed_release(
    release: Release,
    backbone: Backbone,
    *,
    images: Path | None = None,
    cache: Path | None = None,
    batch_size: int | None = None,
) -> EmbeddedImages:
    """Return the vectors of a release's images: of the queries, and of all that is ranked.

    Args:
        release: with its pictures, but for those in `images`.
        backbone: the model.
        images: folder or zip of pictures that the release does not hold; found by their bytes,
            whatever they are called.
        cache: where vectors are kept, those of each 256 images as soon as they are there; None
            keeps none.
        batch_size: of the forward pass; the backbone's own if None, as a site takes it.

    Raises:
        ReleaseError: a picture is missing, cannot be read, or is not the one that was frozen.
    """
    with ExitStack() as stack:
        groups = _groups(_pictures(release, images, stack))
        folder = cache and cache / backbone.fingerprint
        wanted = [picture.sha256 for group in groups for picture in group]
        kept = _read_kept(folder, set(wanted)) if folder else {}
        new = [group for group in groups if not all(picture.sha256 in kept for picture in group)]
        try:
            with closing(embed_in_turn(backbone, new, batch_size=batch_size)) as found:
                for group, vectors in zip(new, found, strict=True):
                    names = [picture.sha256 for picture in group]
                    stored = vectors.astype(stored_dtype(backbone.card))
                    kept |= zip(names, stored, strict=True)
                    if folder:
                        _keep(folder, names, stored)
        except (PictureProblem, UnreadableFileError) as problem:
            raise ReleaseError(f"{release.title}: {problem}") from problem
    vectors = np.stack([kept[sha256] for sha256 in wanted]).astype(np.float32)
    return EmbeddedImages(VectorTable(wanted, vectors), sum(map(len, new)))


def _pictures(
    release: Release, images: Path | None, stack: ExitStack
) -> dict[bool, list[_Picture]]:
    """Return the pictures that are ranked, and other queries, in the order of their SHA-256."""
    columns = ("image_id", "is_candidate", "sha256", "path", "file")
    asked, held = set(release.judged.queries), release.manifest.files
    rows = [row[1:] for row in release.rows("images", *columns) if row[1] or row[0] in asked]
    elsewhere: dict[str, Callable[[], bytes]] = {}
    if images is not None and not all(file in held for *_, file in rows):
        try:
            source = stack.enter_context(open_source(images))
        except SourceError as problem:
            raise ReleaseError(str(problem)) from problem
        elsewhere = dict(_by_hash(source))
    known = {*held, *elsewhere}
    without = [path for _, sha256, path, file in rows if known.isdisjoint((file, sha256))]
    if without:
        lacks = f"{len(without):,} of {len(rows):,} pictures (first: {without[0]!r})"
        if images is None:
            raise ReleaseError(f"{release.title} is without {lacks}; give them by --images FOLDER")
        raise ReleaseError(f"{images} lacks {lacks} of {release.title}, told by their bytes")
    pictures: dict[bool, list[_Picture]] = {True: [], False: []}
    hash_of = release.image_sha256
    for is_candidate, sha256, path, file in sorted(rows, key=lambda row: str(row[1])):
        is_here = file in held
        read = (release.path / file).read_bytes if is_here else elsewhere[sha256]
        expected = hash_of[file] if is_here else sha256
        picture = _Picture(sha256, expected, file if is_here else path, read)
        pictures[is_candidate].append(picture)
    return pictures


def _groups(pictures: dict[bool, list[_Picture]]) -> list[list[_Picture]]:
    return [of[at : at + GROUP] for of in pictures.values() for at in range(0, len(of), GROUP)]


def _by_hash(source: Source) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for path in source.paths:
        read = partial(source.read, path)
        with suppress(UnreadableFileError):  # if it is wanted, it will be missed
            yield hashlib.sha256(read()).hexdigest(), read


def _read_kept(folder: Path, wanted: set[str]) -> Kept:
    """Return what was kept by a model; a damaged file is as if it were not there."""
    kept: Kept = {}
    for path in folder.glob("*.npz"):
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                rows = zip(arrays["ids"].tolist(), arrays["vectors"], strict=True)
                kept |= {sha256: vector for sha256, vector in rows if sha256 in wanted}
        except (*DAMAGES, OSError, KeyError, ValueError):
            continue
    return kept


def _keep(folder: Path, names: list[str], vectors: NDArray[np.floating]) -> None:
    name = hashlib.sha256(" ".join(names).encode()).hexdigest()[:32]
    write_atomically(
        folder / f"{name}.npz",
        lambda file: np.savez(file, ids=np.array(names), vectors=vectors),
    )

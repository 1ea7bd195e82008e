"""From pictures to vectors.

On the processor every thread takes whole batches, from decoding to vectors, and computes alone,
so that all cores stay busy and none waits for another. On a GPU the threads decode ahead while
one thread feeds the device.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooling.backbones.protocol import Backbone, OutOfMemoryError, Vectors
from pooling.embed_pictures import Opener, PictureProblem, name_of, open_picture
from pooling.threads import Pool

__all__ = ["Opener", "PictureProblem", "embed_images", "open_picture"]

AHEAD = 3  # batches decoded ahead of a GPU
MAX_NAMED = 5
Broken = dict[int, str]


def embed_images(
    backbone: Backbone,
    images: Sequence[Path | Opener],
    *,
    batch_size: int | None = None,
    n_threads: int | None = None,
    on_batch: Callable[[int], None] | None = None,
    on_broken: Callable[[int, str], None] | None = None,
) -> Vectors:
    """Return one unit vector per picture.

    The same files in the same batches give the same bytes, whatever the number of threads. A
    picture that cannot be read disturbs no other: its place in its batch is filled. A batch that
    does not fit into memory is halved until it does.

    Args:
        backbone: the model.
        images: picture files, or functions that open them.
        batch_size: pictures per forward pass; None leaves it to the backbone.
        n_threads: processor threads; None takes those this process may run on.
        on_batch: told how many pictures are done; may raise to stop.
        on_broken: told the position of a picture that cannot be read, and why. Without it, such
            pictures raise in the end, when all others have been tried.

    Returns:
        Shape (n_images, dim), float32; NaN for pictures that `on_broken` was told of.

    Raises:
        PictureProblem: naming the files that cannot be read, up to five of them.
        ValueError: the model gives NaN or infinity for a picture, or batch_size < 1.
        OutOfMemoryError: not even a single picture fits.
    """
    size = backbone.batch_size if batch_size is None else batch_size
    if size < 1:
        raise ValueError(f"batch_size is {size}; it must be at least 1")
    vectors = np.full((len(images), backbone.dim), np.nan, np.float32)
    broken: Broken = {}
    parts = [slice(at, min(at + size, len(images))) for at in range(0, len(images), size)]
    with Pool(n_threads) as pool, closing(_batches(pool, backbone, images, parts)) as batches:
        for part, (found, problems) in zip(parts, batches, strict=True):
            vectors[part] = found
            broken |= {part.start + place: reason for place, reason in problems.items()}
            if on_batch is not None:
                on_batch(part.stop)
    _require_finite(backbone, images, vectors, broken)
    if broken and on_broken is None:
        reasons = list(broken.values())
        more = f" and {len(reasons) - MAX_NAMED} more" if len(reasons) > MAX_NAMED else ""
        raise PictureProblem("; ".join(reasons[:MAX_NAMED]) + more)
    for place, reason in broken.items():
        on_broken(place, reason)  # type: ignore[misc]  # not None here
    return vectors


def _batches(
    pool: Pool, backbone: Backbone, images: Sequence[Path | Opener], parts: Sequence[slice]
) -> Generator[tuple[Vectors, Broken]]:
    """Yield each batch's vectors, and what in it is broken, in order."""
    forward = _Forward(backbone)

    def read(place: slice) -> Any:
        try:
            picture = open_picture(images[place.start], backbone.smallest_side)
            return backbone.transform(picture)
        except PictureProblem as problem:
            return problem

    def whole(part: slice) -> tuple[Vectors, Broken]:
        return forward([read(place) for place in _single(part)])

    if not backbone.on_gpu:
        yield from pool.stream(whole, parts)
        return
    waiting = iter(parts)
    decoding = [pool.stream(read, _single(part)) for part in islice(waiting, AHEAD)]
    while decoding:
        inputs = list(decoding.pop(0))
        decoding += [pool.stream(read, _single(part)) for part in islice(waiting, 1)]
        yield forward(inputs)


def _single(part: slice) -> list[slice]:
    return [slice(at, at + 1) for at in range(part.start, part.stop)]


class _Forward:
    """A backbone's forward pass that fills the gaps of a batch and survives full memory."""

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone
        self._most: int | None = None

    def __call__(self, inputs: list[Any]) -> tuple[Vectors, Broken]:
        broken = {at: str(one) for at, one in enumerate(inputs) if isinstance(one, Exception)}
        vectors = np.full((len(inputs), self._backbone.dim), np.nan, np.float32)
        if len(broken) < len(inputs):
            blank = np.zeros_like(next(x for at, x in enumerate(inputs) if at not in broken))
            filled = [blank if at in broken else one for at, one in enumerate(inputs)]
            vectors[:] = self._embedded(filled)
            vectors[list(broken)] = np.nan
        return vectors, broken

    def _embedded(self, inputs: list[NDArray[Any]]) -> Vectors:
        while True:
            most = self._most or len(inputs)
            try:
                parts = [inputs[at : at + most] for at in range(0, len(inputs), most)]
                return np.concatenate([self._backbone.embed(part) for part in parts])
            except OutOfMemoryError:
                if most == 1:
                    raise
                self._most = -(-most // 2)


def _require_finite(
    backbone: Backbone, images: Sequence[Path | Opener], vectors: Vectors, broken: Broken
) -> None:
    wrong = [int(row) for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1))]
    unexpected = next((row for row in wrong if row not in broken), None)
    if unexpected is not None:
        raise ValueError(f"{backbone.spec} gives NaN or infinity for {name_of(images[unexpected])}")

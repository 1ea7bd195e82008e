"""From pictures to vectors.

On the processor every thread takes whole batches, from decoding to vectors, and computes alone,
so that all cores stay busy and none waits for another. On a GPU the threads have processes decode
ahead while two others feed the device in turn: while it computes one batch, the next is made
ready. Groups of pictures follow each other without a pause: those of the next are begun before
the last of the present one are done.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.backbones.batches import BatchSize
from lookalike.backbones.decoders import Decoders, read_picture
from lookalike.backbones.pictures import Opener, PictureProblem, open_picture, picture_name
from lookalike.backbones.protocol import Backbone, OutOfMemoryError, Vectors
from lookalike.core.threads import Pool

__all__ = ["Opener", "PictureProblem", "embed_images", "embed_in_turn", "open_picture"]

AHEAD = 3  # batches decoded ahead of a GPU
PIECE = 8  # pictures that a process decodes at once
FEEDERS = 2  # batches made ready for a GPU or computed there
AHEAD_PER_THREAD = 2  # batches begun for each thread, or pieces of them for a GPU
MAX_NAMED = 5
Broken = dict[int, str]
Pictures = Sequence[Path | Opener]


def embed_images(
    backbone: Backbone,
    images: Pictures,
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
        batch_size: pictures per forward pass; None leaves it to the backbone, and on a GPU lets
            it grow while that is faster.
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
    with closing(_in_turn(backbone, [images], batch_size, n_threads, on_batch)) as groups:
        (group,) = groups
    if on_broken is None:
        group.require_sound()
    else:
        for place, reason in group.broken.items():
            on_broken(place, reason)
    return group.vectors


def embed_in_turn(
    backbone: Backbone,
    groups: Iterable[Pictures],
    *,
    batch_size: int | None = None,
    n_threads: int | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> Generator[Vectors]:
    """Yield the vectors of each group of pictures, as `embed_images` returns them.

    No batch holds pictures of two groups, so that on a processor a group's vectors are the same
    whatever its neighbours. A next group is asked for, in the caller's thread, when there is
    room to begin it; close the generator when you stop early.

    Args:
        backbone: the model.
        groups: pictures that belong together, such as those of a shard.
        batch_size: as `embed_images`; what was found for one group serves the next.
        n_threads: as `embed_images`.
        on_batch: told how many pictures of the group that is next to come are done.

    Raises:
        PictureProblem, ValueError, OutOfMemoryError: as `embed_images`, in the group's turn.
    """
    with closing(_in_turn(backbone, groups, batch_size, n_threads, on_batch)) as found:
        for group in found:
            group.require_sound()
            yield group.vectors


@dataclass
class _Group:
    """Pictures that come out together.

    Attributes:
        images: what to embed.
        vectors: shape (n_images, dim); NaN where there is none yet, or never will be.
        broken: why a picture cannot be read, by its place.
        waiting: pieces that were begun and not yet taken.
        n_begun: pictures of which a piece was begun.
        n_done: pictures whose vectors are there.
    """

    images: Pictures
    vectors: Vectors
    broken: Broken = field(default_factory=dict)
    waiting: deque[Future[Any]] = field(default_factory=deque)
    n_begun: int = 0
    n_done: int = 0

    def store(self, found: Vectors, problems: Broken) -> None:
        """Keep the vectors of the next pictures."""
        start, self.n_done = self.n_done, self.n_done + len(found)
        self.vectors[start : self.n_done] = found
        self.broken |= {start + place: reason for place, reason in problems.items()}

    def require_sound(self) -> None:
        """Raise PictureProblem if a picture cannot be read."""
        reasons = list(self.broken.values())
        if reasons:
            more = f" and {len(reasons) - MAX_NAMED} more" if len(reasons) > MAX_NAMED else ""
            raise PictureProblem("; ".join(reasons[:MAX_NAMED]) + more)

    def require_finite(self, spec: str) -> None:
        """Raise ValueError if the model gave NaN or infinity for a picture."""
        for row in np.flatnonzero(~np.isfinite(self.vectors).all(axis=1)).tolist():
            if row not in self.broken:
                raise ValueError(
                    f"{spec} gives NaN or infinity for {picture_name(self.images[row])}"
                )


def _in_turn(
    backbone: Backbone,
    groups: Iterable[Pictures],
    batch_size: int | None,
    n_threads: int | None,
    on_batch: Callable[[int], None] | None,
) -> Generator[_Group]:
    first = backbone.batch_size if batch_size is None else batch_size
    if first < 1:
        raise ValueError(f"batch_size is {first}; it must be at least 1")
    size = BatchSize(first, grows=backbone.on_gpu and batch_size is None)
    batches = _on_gpu if backbone.on_gpu else _on_processor
    new = (_Group(one, np.full((len(one), backbone.dim), np.nan, np.float32)) for one in groups)
    with Pool(n_threads) as pool, closing(batches(pool, backbone, new, size)) as done:
        for group in done:
            if on_batch is not None and group.images:
                on_batch(group.n_done)
            if group.n_done == len(group.images):
                group.require_finite(backbone.spec)
                yield group


class _Line:
    """The groups in turn, in pieces that are begun ahead and taken in order."""

    def __init__(
        self,
        pool: Pool,
        work: Callable[[Pictures], Any],
        groups: Iterable[_Group],
        piece: int,
    ) -> None:
        self._pool, self._work, self._piece = pool, work, piece
        self._coming = iter(groups)
        self._begun: deque[_Group] = deque()

    def first(self, n_ahead: int) -> _Group | None:
        """Return the first group that is not done, None after the last; begin n_ahead pieces."""
        if self._begun and self._begun[0].n_done == len(self._begun[0].images):
            self._begun.popleft()
        n_waiting = sum(len(group.waiting) for group in self._begun)
        while n_waiting < n_ahead:
            last = self._begun[-1] if self._begun else None
            if last is None or last.n_begun == len(last.images):
                last = next(self._coming, None)
                if last is None:
                    break
                self._begun.append(last)
            if last.images:
                part = last.images[last.n_begun : last.n_begun + self._piece]
                last.waiting.append(self._pool.begin(self._work, part))
                last.n_begun += len(part)
                n_waiting += 1
        return self._begun[0] if self._begun else None

    def taken(self, n: int) -> list[Future[Any]]:
        """Take the next pieces of one group, n at most; none if none is begun."""
        for group in self._begun:
            if group.waiting:
                return [group.waiting.popleft() for _ in range(min(n, len(group.waiting)))]
        return []


def _on_processor(
    pool: Pool, backbone: Backbone, groups: Iterable[_Group], size: BatchSize
) -> Generator[_Group]:
    """Yield a group after each of its batches, every one of which is the work of one thread."""
    forward = _Forward(backbone, size)
    how = backbone.transform, backbone.smallest_side
    line = _Line(
        pool, lambda part: forward([read_picture(one, *how) for one in part]), groups, size.now
    )
    while (group := line.first(AHEAD_PER_THREAD * pool.n_threads)) is not None:
        if group.waiting:
            group.store(*group.waiting.popleft().result())
        yield group


def _on_gpu(
    pool: Pool, backbone: Backbone, groups: Iterable[_Group], size: BatchSize
) -> Generator[_Group]:
    """Yield a group after each of its batches; the threads decode a few pictures at a time."""
    forward, piece = _Forward(backbone, size), math.gcd(size.now, PIECE)

    def feed(decoded: list[Future[list[Any]]]) -> tuple[Vectors, Broken]:
        inputs = [one for part in decoded for one in part.result()]
        started = time.perf_counter()
        found = forward(inputs)
        size.worked(len(inputs), time.perf_counter() - started)
        return found

    fed: deque[Future[tuple[Vectors, Broken]]] = deque()  # of the first groups, in order
    with Decoders(backbone.transform, backbone.smallest_side) as decoders, Pool(FEEDERS) as feeders:
        line = _Line(pool, decoders.read, groups, piece)
        while True:
            n_pieces = max(1, size.now // piece)
            ahead = max((AHEAD + 1) * n_pieces, AHEAD_PER_THREAD * pool.n_threads)
            group = line.first(ahead)
            if group is None:
                return
            # batches that are timed go alone
            while len(fed) < (1 if size.grows else FEEDERS) and (batch := line.taken(n_pieces)):
                fed.append(feeders.begin(feed, batch))
            if group.images:
                group.store(*fed.popleft().result())
            yield group


class _Forward:
    """A backbone's forward pass that fills the gaps of a batch and survives full memory."""

    def __init__(self, backbone: Backbone, size: BatchSize) -> None:
        self._backbone, self._size = backbone, size

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
            most = min(self._size.now, len(inputs))
            try:
                parts = [inputs[at : at + most] for at in range(0, len(inputs), most)]
                return np.concatenate([self._backbone.embed(part) for part in parts])
            except OutOfMemoryError:
                if most == 1:
                    raise
                self._size.did_not_fit(most)

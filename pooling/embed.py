"""From picture files to vectors: decoding in threads while the model computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from pooling.backbones.protocol import Backbone, Vectors

BATCH_SIZE = 32
N_THREADS = 2
AHEAD = 3  # batches decoded ahead of the model


class PictureProblem(Exception):  # noqa: N818  (it is collected, not only raised)
    """A picture cannot be turned into a vector; names the file and the reason."""


def open_picture(path: Path, smallest_side: int = 0) -> Image.Image:
    """Return a picture as RGB, upright, transparent parts on white.

    Args:
        path: the file.
        smallest_side: the shorter side that is needed; a JPEG may then be decoded at 1/2, 1/4
            or 1/8 of its size (never below that side), which is several times faster.

    Raises:
        PictureProblem: it cannot be decoded.
    """
    try:
        with Image.open(path) as image:
            if smallest_side and image.format == "JPEG":
                image.draft("RGB", (smallest_side, smallest_side))
            upright = ImageOps.exif_transpose(image)
            if upright.mode in {"RGBA", "LA", "P", "PA"}:
                layered = upright.convert("RGBA")
                ground = Image.new("RGBA", layered.size, "white")
                return Image.alpha_composite(ground, layered).convert("RGB")
            return upright.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as problem:
        raise PictureProblem(f"{path}: {problem}") from problem


def embed_images(
    backbone: Backbone,
    images: Sequence[Path],
    *,
    batch_size: int = BATCH_SIZE,
    n_threads: int = N_THREADS,
    on_batch: Callable[[int], None] | None = None,
) -> Vectors:
    """Return one unit vector per picture.

    The same files in the same batches give the same bytes.

    Args:
        backbone: the model.
        images: picture files.
        batch_size: pictures per forward pass.
        n_threads: threads that decode while the model computes.
        on_batch: told how many pictures are done; may raise to stop.

    Returns:
        Shape (n_images, dim), float32.

    Raises:
        PictureProblem: naming every file that cannot be decoded, up to five.
        ValueError: the model's vectors are not finite.
    """
    vectors = np.empty((len(images), backbone.dim), np.float32)
    n_done = 0
    problems: list[str] = []
    with ThreadPoolExecutor(n_threads, thread_name_prefix="decode") as pool:
        for futures in _ahead(pool, backbone, images, batch_size):
            inputs = []
            for future in futures:
                try:
                    inputs.append(future.result())
                except PictureProblem as problem:
                    problems.append(str(problem))
            if not problems:
                vectors[n_done : n_done + len(inputs)] = backbone.embed(inputs)
            n_done += len(futures)
            if on_batch is not None:
                on_batch(n_done)
    if problems:
        more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise PictureProblem("; ".join(problems[:5]) + more)
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise ValueError(f"{backbone.spec} gives NaN or infinity for {images[row]}")
    return vectors


def _ahead(
    pool: ThreadPoolExecutor, backbone: Backbone, images: Sequence[Path], batch_size: int
) -> Iterator[list[Future[Any]]]:
    """Yield the futures of each batch, with some batches submitted ahead."""

    def one(path: Path) -> Any:
        return backbone.transform(open_picture(path, backbone.smallest_side))

    batches = (images[at : at + batch_size] for at in range(0, len(images), batch_size))
    waiting = [[pool.submit(one, path) for path in batch] for batch in islice(batches, AHEAD)]
    while waiting:
        yield waiting.pop(0)
        waiting += [[pool.submit(one, path) for path in batch] for batch in islice(batches, 1)]

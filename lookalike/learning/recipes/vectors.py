"""The vectors of a data set's pictures, from a file or from a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from lookalike.backbones.embed import embed_images
from lookalike.backbones.loading import load_backbone
from lookalike.core.arrays import Float32s
from lookalike.core.progress import Progress
from lookalike.io.named_images import vectors_by_name
from lookalike.io.vectors import read_vectors
from lookalike.learning.recipes.runners import Run


def picture_vectors(
    paths: Sequence[str], read: Callable[[str], bytes], spec: str, run: Run, progress: Progress
) -> Float32s:
    """Return the vectors of pictures, shape (n, d), in the order of their paths.

    Args:
        paths: of the pictures.
        read: returns the bytes of one.
        spec: of the model that makes the vectors where the run has no file of them.
        run: has such a file, or a device.
        progress: told that a model is at work.

    Raises:
        Refused: the file lacks a picture, which is named.
        FormatError: the file cannot be used.
        BackboneError: the model cannot.
    """
    if run.vectors is None:
        progress.note(f"Embedding {len(paths):,} images")
        openers = [lambda path=path: BytesIO(read(path)) for path in paths]
        return np.asarray(embed_images(load_backbone(spec, run.device), openers), np.float32)
    return stored_vectors(paths, run.vectors)[0]


def stored_vectors(paths: Sequence[str], file: Path) -> tuple[Float32s, str]:
    """Return the vectors of pictures in a file, shape (n, d), and their model's fingerprint.

    Args:
        paths: of the pictures.
        file: as `read_vectors` reads it; the fingerprint is "" if it has none.

    Raises:
        FormatError: the file cannot be used, or lacks a picture, which is named.
    """
    table = read_vectors(file)
    return vectors_by_name(file, table, paths), table.fingerprint

"""Do all steps of a learner, with checkpoints or without; tell a run from others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.determinism import one_thread
from lookalike.learning.engine.loop import Learner, train

_NAMED = 5


def fit(
    learner: Learner,
    n_steps: int,
    *,
    folder: Path | None = None,
    every: int = 50,
    progress: Progress = SILENT,
) -> None:
    """Train a learner, or go on with it.

    Args:
        learner: as made afresh.
        n_steps: in all.
        folder: for checkpoint and curve, as `train`; None to keep nothing.
        every: steps between checkpoints.
        progress: told the steps.

    Raises:
        Refused: a loss that is no number, or as `train`.
        OSError: the disk is full.
    """
    if folder is not None:
        train(learner, folder, n_steps=n_steps, every=every, progress=progress)
        return
    with one_thread():
        for number in range(n_steps):
            learner.step(number)
            progress.update(number + 1, n_steps)


def require_finite(loss: torch.Tensor, step: int, rows: Sequence[int] | Ints) -> None:
    """Pass if a loss is a number.

    Raises:
        Refused: otherwise; names the step and the images of its batch.
    """
    if not loss.isfinite():
        images = ", ".join(str(int(row)) for row in list(rows)[:_NAMED])
        reason = f"is {loss.item()} at step {step} (batch of images {images} and so on)"
        raise Refused("loss", f"{reason}; a lower rate may do")


def run_fingerprint(settings: Mapping[str, object], *arrays: NDArray[Any] | None) -> str:
    """Return the SHA-256 of what a run learns with and from: settings as JSON, bytes of arrays."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for array in arrays:
        digest.update(b"" if array is None else np.ascontiguousarray(array).data)
    return digest.hexdigest()

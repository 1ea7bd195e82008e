"""Train step by step; a run that is killed anywhere goes on and ends in the same bytes.

In the run's folder lie `checkpoint.safetensors`, which is replaced as a whole, and `curve.jsonl`
with a line for each step.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from lookalike.core.atomic_files import write_atomically
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.determinism import one_thread
from lookalike.learning.engine.processes import is_first

CHECKPOINT, CURVE, LOCK = "checkpoint.safetensors", "curve.jsonl", ".lock"
_FACTS = "lookalike"  # of the checkpoint


class Learner(Protocol):
    """Something that learns in steps, each a function of its state and the step's number.

    Attributes:
        fingerprint: of settings and data; a checkpoint of another one is not continued.
    """

    fingerprint: str

    def step(self, number: int) -> dict[str, float]:
        """Do one step and return its losses by name."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return everything that steps change."""

    def restore(self, state: dict[str, torch.Tensor], n_steps: int) -> None:
        """Take up the state that there was after so many steps."""


def train(
    learner: Learner,
    folder: Path,
    *,
    n_steps: int,
    every: int,
    has_ended: Callable[[], bool] = lambda: False,
    on_checkpoint: Callable[[], None] = lambda: None,
    progress: Progress = SILENT,
) -> None:
    """Do the steps that a folder has not seen yet.

    Args:
        learner: as made afresh.
        folder: of this run alone.
        n_steps: in all.
        every: how many steps between checkpoints.
        has_ended: asked before each step, whether the others are in vain.
        on_checkpoint: called when one lies on disk.
        progress: told the steps; may raise to stop.

    Raises:
        Refused: the folder holds another run, or its checkpoint is damaged.
        OSError: the disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    n_done = _restore(learner, folder)
    if is_first():
        _cut_curve(folder, n_done)
    with (
        one_thread(),
        Path(folder / CURVE if is_first() else os.devnull).open("a", encoding="utf-8") as curve,
    ):
        for step in range(n_done, n_steps):
            if has_ended():
                break
            losses = learner.step(step)
            curve.write(json.dumps({"step": step, **losses}) + "\n")
            is_last = step + 1 == n_steps or has_ended()
            if is_first() and ((step + 1) % every == 0 or is_last):
                curve.flush()
                _save(learner, folder, step + 1)
                on_checkpoint()
            progress.update(step + 1, n_steps)


@contextmanager
def alone_in(folder: Path | None) -> Iterator[None]:
    """Keep other commands out of a run's folder; jobs have their leases for that.

    Args:
        folder: made, and removed if it is empty in the end; None for no run.

    Raises:
        Refused: another process is at work in it.
    """
    if folder is None or not is_first():
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as problem:
            raise Refused("run", f"another one is at work in {folder}") from problem
        try:
            yield
        finally:
            (folder / LOCK).unlink()
            with suppress(OSError):
                folder.rmdir()


def _save(learner: Learner, folder: Path, n_done: int) -> None:
    tensors = {name: t.detach().contiguous() for name, t in learner.state().items()}
    facts = {"n_done": n_done, "run": learner.fingerprint}
    # one entry alone: safetensors writes several in any order, and the bytes would differ
    content = save(tensors, {_FACTS: json.dumps(facts, sort_keys=True)})
    write_atomically(folder / CHECKPOINT, lambda file: file.write(content))


def _restore(learner: Learner, folder: Path) -> int:
    """Take up the last checkpoint, and return how many steps it has seen."""
    path = folder / CHECKPOINT
    if not path.exists():
        return 0
    try:
        with safe_open(path, "pt") as file:
            facts = json.loads(file.metadata()[_FACTS])
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, TypeError, ValueError) as problem:
        raise Refused("checkpoint", f"{path} is damaged ({problem}); delete it") from problem
    if facts["run"] != learner.fingerprint:
        raise Refused("checkpoint", f"{folder} holds a run of other data or settings")
    n_done = int(facts["n_done"])
    learner.restore(state, n_done)
    return n_done


def _cut_curve(folder: Path, n_done: int) -> None:
    """Keep of the curve what the checkpoint has seen; a line may have been cut short."""
    path = folder / CURVE
    if path.exists():
        lines = path.read_bytes().splitlines(keepends=True)[:n_done]
        write_atomically(path, lambda file: file.writelines(lines))

"""Whatever is trained, what disturbs it costs at most what came after the last checkpoint."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress, Silent
from lookalike.learning.compose.combiner import Widths
from lookalike.learning.compose.training import (
    CombinerLearner,
    CombinerTraining,
    ComposedTriplets,
    fit_combiner,
)
from lookalike.learning.conditions.networks import Architecture
from lookalike.learning.conditions.training import ConditionLearner, Training, fit_conditions
from lookalike.learning.conditions.triplets import draw_conditions
from lookalike.learning.engine.determinism import stream
from lookalike.learning.engine.fitting import fit
from lookalike.learning.engine.loop import CHECKPOINT, CURVE, alone_in
from lookalike.learning.finetune.training import FinetuneLearner, FinetuneSettings
from lookalike.learning.metric.classes import Classes
from lookalike.learning.metric.training import MetricLearner, MetricSettings
from tests.lookalike.learning.killing import KillAt, in_a_process

N, STEPS, EVERY = 120, 12, 5
VECTORS = stream(0, "images").standard_normal((N, 8)).astype(np.float32)
CODES = np.arange(N) % 10
CLASSES = Classes(tuple(f"class {code}" for code in range(10)), CODES)


def embedding(folder: Path, progress: Progress = SILENT) -> None:
    settings = MetricSettings("margin", dim=4, hidden=8, steps=STEPS, n_classes=6)
    learner = MetricLearner(VECTORS, CLASSES, settings)
    fit(learner, STEPS, folder=folder, every=EVERY, progress=progress)


def fine_tuning(folder: Path, progress: Progress = SILENT) -> None:
    learner = FinetuneLearner(VECTORS, {"ID": CLASSES}, FinetuneSettings((4,), epochs=4, batch=40))
    fit(learner, learner.n_steps, folder=folder, every=EVERY, progress=progress)


def combiner(folder: Path, progress: Progress = SILENT) -> None:
    rows = stream(0, "triplets").integers(0, (N, N, 3), (48, 3))
    triplets = ComposedTriplets(("a", "b", "c"), rows)
    training = CombinerTraining(epochs=4, batch=16)
    learner = CombinerLearner(VECTORS, VECTORS[:3], triplets, Widths(8, 8, 16, 0.5), training)
    fit_combiner(learner, {}, folder=folder, every=EVERY, progress=progress)


def conditions(folder: Path, progress: Progress = SILENT) -> None:
    codes = {"one": CODES, "other": CODES % 3}
    triplets = draw_conditions(codes, np.ones(N, bool), 24, seed=0, purpose="learnt")
    kind = Architecture("DiscoverNet", n_conditions=2, dim=4, hidden=0, branch="attention")
    learner = ConditionLearner(VECTORS, triplets, kind, Training(epochs=4, batch=16))
    fit_conditions(learner, folder=folder, every=EVERY, progress=progress)


def n_stored(folder: Path) -> int:
    """Steps that a checkpoint has seen; 0 without one."""
    if not (folder / CHECKPOINT).exists():
        return 0
    with safe_open(folder / CHECKPOINT, "np") as file:
        return int(json.loads(file.metadata()["lookalike"])["n_done"])


@pytest.mark.parametrize("trained", [embedding, fine_tuning, combiner, conditions])
def test_killed_at_every_step_it_ends_in_the_same_bytes(
    trained: Callable[..., None], tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    trained(whole)
    assert n_stored(whole) == STEPS
    for step in range(1, STEPS):
        assert in_a_process(partial(trained, killed, KillAt(step))) == -signal.SIGKILL
        assert step - n_stored(killed) < EVERY
    trained(killed)
    for name in (CHECKPOINT, CURVE):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


class FullAt(Silent):
    """Lets no file grow beyond a checkpoint's size from a step on, as a full disk would."""

    def __init__(self, step: int) -> None:
        self._step = step

    def update(self, n_done: int, *_: Any, **__: Any) -> None:
        if n_done == self._step:
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, most))


def test_a_disk_that_is_full_at_a_checkpoint_costs_one_interval(tmp_path: Path) -> None:
    whole, full = tmp_path / "whole", tmp_path / "full"
    combiner(whole)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(OSError, match="File too large"):
            combiner(full, FullAt(EVERY + 1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert n_stored(full) == EVERY
    assert sorted(path.name for path in full.iterdir()) == [CHECKPOINT, CURVE]
    combiner(full)
    for name in (CHECKPOINT, CURVE):
        assert (full / name).read_bytes() == (whole / name).read_bytes()


def test_a_folder_has_one_run_at_a_time_and_is_left_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with alone_in(folder):
        with (
            pytest.raises(Refused, match=r"run: another one is at work in .*run"),
            alone_in(folder),
        ):
            pass
        assert folder.exists()
    assert not folder.exists()
    with alone_in(folder):
        fine_tuning(folder)
    assert sorted(path.name for path in folder.iterdir()) == [CHECKPOINT, CURVE]
    with alone_in(None):
        pass

"""Learn from vectors, in each of the processes that `torch.distributed.run` starts of this file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import numpy as np

from lookalike.learning.engine.loop import train
from lookalike.learning.engine.processes import together
from lookalike.learning.metric.classes import Classes
from lookalike.learning.metric.training import MetricLearner, MetricSettings, Objective

STEPS = 12


def learn(folder: Path, objective: Objective, n_steps: int) -> None:
    """Learn by an objective, up to so many of the steps."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(80, 24)).astype(np.float32)
    classes = Classes.of([f"c{number % 20:02d}" for number in range(80)])
    settings = MetricSettings(
        objective, dim=8, hidden=16, steps=STEPS, n_classes=10, branches=(8, 12)
    )
    with together():
        train(MetricLearner(vectors, classes, settings), folder, n_steps=n_steps, every=4)


if __name__ == "__main__":
    learn(Path(sys.argv[1]), cast("Objective", sys.argv[2]), int(sys.argv[3]))

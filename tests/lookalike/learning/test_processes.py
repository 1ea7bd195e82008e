"""Two processes that train one network, each on half of every batch, make what one makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from lookalike.core.errors import Refused
from lookalike.learning.engine import processes
from tests.paths import ROOT

STEPS = 12
DAILY = pytest.mark.daily
TRAIN = """
import sys
from pathlib import Path
import numpy as np
from lookalike.learning.engine.loop import train
from lookalike.learning.engine.processes import together
from lookalike.learning.metric.classes import Classes
from lookalike.learning.metric.training import MetricLearner, MetricSettings

rng = np.random.default_rng(0)
vectors = rng.normal(size=(80, 24)).astype(np.float32)
classes = Classes.of([f"c{number % 20:02d}" for number in range(80)])
settings = MetricSettings(sys.argv[2], dim=8, hidden=16, steps=12, n_classes=10, branches=(8, 12))
with together():
    learner = MetricLearner(vectors, classes, settings)
    train(learner, Path(sys.argv[1]), n_steps=int(sys.argv[3]), every=4)
"""


def run(folder: Path, objective: str, n_processes: int, n_steps: int = STEPS) -> None:
    script = folder.parent / "train.py"
    script.write_text(TRAIN)
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={n_processes}"]
    command = [sys.executable, *(launcher if n_processes > 1 else [])]
    done = subprocess.run(
        [*command, str(script), str(folder), objective, str(n_steps)],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("objective", [
    "s2sd", pytest.param("multisimilarity", marks=DAILY), pytest.param("margin", marks=DAILY),
])  # fmt: skip
def test_two_processes_learn_what_one_learns(objective: str, tmp_path: Path) -> None:
    run(tmp_path / "one", objective, 1)
    run(tmp_path / "two", objective, 2)
    one, two = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("one", "two"))
    assert one.keys() == two.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, atol=2e-5, rtol=1e-4)
    curves = [(tmp_path / name / "curve.jsonl").read_text().splitlines() for name in ("one", "two")]
    assert [len(lines) for lines in curves] == [STEPS, STEPS]  # the second process writes nothing


@pytest.mark.daily
def test_two_processes_go_on_where_they_were_stopped(tmp_path: Path) -> None:
    run(tmp_path / "whole", "multisimilarity", 2)
    run(tmp_path / "halved", "multisimilarity", 2, n_steps=8)
    run(tmp_path / "halved", "multisimilarity", 2)
    whole, halved = (tmp_path / name / "checkpoint.safetensors" for name in ("whole", "halved"))
    assert halved.read_bytes() == whole.read_bytes()


def test_alone_nothing_is_shared_out() -> None:
    batch = torch.from_numpy(np.arange(6.0).reshape(3, 2))
    assert processes.own_part(batch) is batch
    assert processes.gathered(batch) is batch
    assert processes.averaged([batch])[0] is batch
    assert processes.is_first()


def test_a_batch_that_cannot_be_halved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "n_processes", lambda: 2)
    with pytest.raises(Refused, match="3 images cannot be shared out among 2 processes"):
        processes.own_part(torch.zeros(3, 2))

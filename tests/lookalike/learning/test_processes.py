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
from lookalike.learning.metric.training import Objective
from tests.lookalike.learning import learn_together
from tests.lookalike.learning.learn_together import STEPS, learn
from tests.paths import ROOT

DAILY = pytest.mark.daily


def by_two(folder: Path, objective: str, n_steps: int = STEPS) -> None:
    """Let two processes learn what `learn` learns."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [sys.executable, *launcher, learn_together.__file__, str(folder), objective, str(n_steps)],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("objective", [
    "s2sd", pytest.param("multisimilarity", marks=DAILY), pytest.param("margin", marks=DAILY),
])  # fmt: skip
def test_two_processes_learn_what_one_learns(objective: Objective, tmp_path: Path) -> None:
    learn(tmp_path / "one", objective, STEPS)
    by_two(tmp_path / "two", objective)
    one, two = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("one", "two"))
    assert one.keys() == two.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, atol=2e-5, rtol=1e-4)
    curves = [(tmp_path / name / "curve.jsonl").read_text().splitlines() for name in ("one", "two")]
    assert [len(lines) for lines in curves] == [STEPS, STEPS]  # the second process writes nothing


@pytest.mark.daily
def test_two_processes_go_on_where_they_were_stopped(tmp_path: Path) -> None:
    by_two(tmp_path / "whole", "multisimilarity")
    by_two(tmp_path / "halved", "multisimilarity", n_steps=8)
    by_two(tmp_path / "halved", "multisimilarity")
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

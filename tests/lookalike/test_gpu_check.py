"""`script/gpu-check` runs whole on the processor, and says by its exit status what it found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import gpu_check
from lookalike.search.exact import top_k
from lookalike.search.topk import TopK

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_everything_passes_with_the_processor_as_a_stand_in() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu_check", "--small", "--device", "cpu"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the processor stands in" in done.stdout
    for line in ("lite0 in float32", "lite0 in bfloat16", "full memory", "two workers", "search",
                 "layers' training step", "lite0's step in bfloat16",
                 "All checks passed"):  # fmt: skip
        assert line in done.stdout


def test_one_wrong_result_fails_the_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = (
        lambda bench: [gpu_check.Found("search", "x30")],
        lambda bench: [gpu_check.Found("training step", "1 ms", "the losses are others")],
    )
    monkeypatch.setattr(gpu_check, "CHECKS", checks)
    bench = gpu_check.Bench(torch.device("cpu"), [], is_small=True)
    assert gpu_check.report(bench) == 1
    assert "WRONG  training step" in (said := capsys.readouterr().out)
    assert "1 checks failed" in said
    monkeypatch.setattr(gpu_check, "CHECKS", checks[:1])
    assert gpu_check.report(bench) == 0


def test_a_device_that_searches_otherwise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(queries: Any, catalog: Any, k: int, *, device: str, filters: Any) -> TopK:
        return top_k(queries[::-1].copy(), catalog, k, filters=filters)

    monkeypatch.setattr("lookalike.search.gpu.top_k", other)
    bench = gpu_check.Bench(torch.device("cpu"), [], is_small=True)
    [found] = gpu_check.search(bench)
    assert found.wrong == "the result is not the processor's, bit for bit"

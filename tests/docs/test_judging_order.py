"""The simulation of judging orders: its claims hold small, and its figures are the document's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.paths import ROOT
from tests.simulations import simulation_module

SCRIPT = ROOT / "docs/simulations/judging_order.py"


@pytest.fixture(scope="module")
def simulation() -> Iterator[ModuleType]:
    with simulation_module("judging_order") as module:
        yield module


def test_likely_pairs_first_lies_between_shuffled_and_ideal(simulation: ModuleType) -> None:
    found = simulation.figures(6, 11, simulation.Size(n_queries=60, n_images=800))
    for share in simulation.SHARES:
        shuffled, phases, ideal = (
            found[f"{name} {share}"]
            for name in (simulation.SHUFFLED, simulation.PHASES, simulation.IDEAL)
        )
        assert abs(shuffled - share) < 0.08
        assert shuffled < phases <= ideal
    assert found["likely pairs first 0.25"] > 0.38


def test_what_one_model_alone_finds_comes_late_and_phases_get_poorer(
    simulation: ModuleType,
) -> None:
    found = simulation.figures(6, 12, simulation.Size(n_queries=60, n_images=800))
    assert found["likely pairs first lone 0.25"] < 0.1
    assert found["phase 0"] > found["phase 1"] > found["phase 2"] > found["phase 3"]


@pytest.mark.daily
def test_the_figures_of_the_document_are_those_of_the_script() -> None:
    command = [sys.executable, str(SCRIPT), "--check"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr

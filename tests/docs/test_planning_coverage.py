"""The script behind the table of docs/planning.md goes on where it was, and checks what stands."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from lookalike.planning.simulator import World
from tests.simulations import simulation_module

SMALL = World(n_queries=15, n_images=15, n_models=2, depth=5, positives=0.3)


@pytest.fixture
def simulation() -> Iterator[ModuleType]:
    with simulation_module("planning") as module:
        module.N_TRUTH = module.N_CHUNK = 100  # type: ignore[attr-defined]
        yield module


def test_a_run_that_was_stopped_goes_on_where_it_was(simulation, tmp_path):
    first = simulation.outcomes("small", SMALL, 2, 1, tmp_path)
    [file] = tmp_path.iterdir()
    whole = file.read_text()
    assert whole.count("\n") == 2
    file.write_text(whole + '[2, {"held')  # stopped while it wrote
    both = simulation.outcomes("small", SMALL, 3, 1, tmp_path)
    assert both[:2] == first
    assert file.read_text().startswith(whole)
    assert both == simulation.outcomes("small", SMALL, 3, 1, None)
    file.write_text(whole.replace("true", "false"))
    kept = simulation.outcomes("small", SMALL, 2, 1, tmp_path)
    assert not any(any(held) for one in kept for held in one.held.values()), "made anew"


def test_a_line_that_the_document_lacks_or_that_is_off_is_told(simulation, tmp_path, capsys):
    rows = ["| world | P@5 |", "|---|---|", "| close | 95.0% |", "| few | 93.0% |"]
    simulation.DOCUMENT = tmp_path / "planning.md"
    simulation.DOCUMENT.write_text("\n".join(rows))
    assert simulation.is_said(rows[:3])
    assert not simulation.is_said([*rows[:2], "| close | 94.9% |"])
    assert "the document says otherwise: | close | 94.9% |" in capsys.readouterr().err
    simulation.DOCUMENT.write_text("\n".join([*rows, "| far | **90.0%** |"]))
    assert not simulation.is_said([*rows[:2], "| far | **90.0%** |"])


def test_a_forecast_with_a_bias_is_told_from_one_that_scatters():
    with simulation_module("forecasts") as module:
        nothing = np.ones(0)
        came = np.array([0.9, 1.1, 1.0, 1.2])
        scattered = module.Foreseen(came[::-1], came, *[nothing] * 5)
        bias, error = scattered.bias
        assert bias == pytest.approx(0.0)
        assert error == pytest.approx((came[::-1] - came).std(ddof=1) / 2 / came.mean())
        biased, none = module.Foreseen(1.2 * came, came, *[nothing] * 5).bias
        assert (biased, none) == pytest.approx((0.2, 0.0))
        assert module.shown_bias(biased, none) == "**+20.0% ± 0.0%**", "more than is allowed"
        assert module.shown_bias(bias, 0.02) == "+0.0% ± 2.0%"

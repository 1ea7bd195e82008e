"""The simulation in the documentation: its claims hold, and its figures are the script's."""

import numpy as np
import pytest

from tests.simulations import simulation_module


@pytest.fixture(scope="module")
def simulation():
    with simulation_module("pool_bias") as module:
        yield module


def mean_gaps(simulation, setting):
    size = simulation.Size(n_queries=120, n_images=1_200)
    runs = [simulation.gaps(setting, seed, size) for seed in (11, 12)]
    return {key: np.mean([run[key] for run in runs]) for key in runs[0]}


def test_a_model_left_out_is_flattered_by_auc_and_punished_by_precision(simulation):
    found = mean_gaps(simulation, simulation.SETTINGS[1])
    assert found["annotated_auc"] > 0.08
    assert found["ap"] > 0.03
    assert found["p@5"] < -0.15
    assert abs(found["equal_outsider"]) < 0.03
    assert abs(found["random"]) < 0.04
    assert found["own_change"] > 0.05


def test_relatives_need_the_family_matched_form(simulation):
    found = mean_gaps(simulation, simulation.SETTINGS[4])
    assert found["equal_outsider"] < -0.03
    assert abs(found["family_matched"]) < 0.03


@pytest.mark.daily
def test_the_documents_figures_are_those_of_the_script(simulation):
    setting = simulation.SETTINGS[0]
    runs = [simulation.gaps(setting, seed, simulation.Size()) for seed in simulation.SEEDS]
    text = simulation.DOCUMENT.read_text(encoding="utf-8")
    printed = text.split(simulation.BEGIN)[1].split(simulation.END)[0].strip().splitlines()
    for line, documented in zip(simulation.table({setting: runs}), printed, strict=True):
        assert line.split("|")[1:3] == documented.split("|")[1:3]


def test_the_plot_is_drawn_with_every_column_named(simulation):
    runs = {
        s: [dict.fromkeys((key for _, key in simulation.COLUMNS), 0.1)] for s in simulation.SETTINGS
    }
    axes = simulation.plot(runs).axes
    assert len(axes) == len(simulation.SETTINGS)
    names = [label.get_text() for label in axes[0].get_yticklabels()]
    assert names == [name for name, _ in simulation.COLUMNS]

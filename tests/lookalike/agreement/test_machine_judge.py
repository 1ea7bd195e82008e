"""A machine judge on trial: measured as experts are, and never one of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lookalike.agreement.coefficients import cohen_kappa
from lookalike.agreement.machine_judge import (
    DIVIDED,
    UNANIMOUS,
    leaning,
    powered_share,
    trial,
)
from lookalike.cli.main import main
from lookalike.core.errors import Refused


def panel(n_pairs: int, error: float, rng: np.random.Generator, n_judges: int = 3):
    """Truth, and how many of a panel, who err alike, say similar and different."""
    truth = rng.random(n_pairs) < 0.3
    says = truth[:, None] ^ (rng.random((n_pairs, n_judges)) < error)
    return truth, says.sum(axis=1), n_judges - says.sum(axis=1)


def test_by_hand_each_vote_is_left_out_in_turn():
    # (2 similar, 1 different), the machine says similar. Without a similar vote it is 1:1: no
    # label. Without the different one it is 2:0: similar, which the machine says and that expert
    # does not. (0, 3): different three times, which everyone says.
    found = trial(np.array([2, 0]), np.array([1, 3]), np.array([1.0, 0.0])).strata[0]
    assert found.n_pairs == 2
    assert found.kappa == 1
    # the experts' answers: different to a similar pair (1/3), different to a different one (1)
    assert found.human_kappa == pytest.approx(0.0)
    assert (found.misses, found.false_alarms) == (0, 0)


def test_a_machine_that_errs_as_experts_do_has_their_kappa_and_a_coin_has_none():
    rng = np.random.default_rng(1)
    truth, s, d = panel(20_000, 0.1, rng)
    machine = (truth ^ (rng.random(truth.size) < 0.1)).astype(float)
    found = trial(s, d, machine)
    everything = found.strata[0]
    assert everything.kappa == pytest.approx(everything.human_kappa, abs=0.02)
    assert everything.false_alarms == pytest.approx(0.1, abs=0.02)
    assert found.saved == pytest.approx(1 / 3)
    assert 0.02 < found.changed < 0.08
    coin = trial(s, d, (rng.random(truth.size) < 0.3).astype(float))
    assert coin.strata[0].kappa == pytest.approx(0, abs=0.02)
    assert coin.changed > found.changed
    names = [one.name for one in found.strata]
    assert names == ["all", UNANIMOUS, DIVIDED]
    assert found.strata[1].kappa >= everything.kappa


def test_three_judges_leave_no_label_where_the_others_are_divided():
    """By the panel's own votes an expert's kappa on contested pairs would be -1, whoever votes."""
    _, s, d = panel(5_000, 0.1, np.random.default_rng(5))
    found = trial(s, d, np.ones(s.size))
    divided = found.strata[2]
    assert divided.n_pairs == 0
    assert np.isnan(divided.kappa)
    assert np.isnan(divided.human_kappa)
    assert found.strata[1].human_kappa == pytest.approx(found.strata[0].human_kappa)


@pytest.mark.parametrize("n_judges", [3, 4, 5, 7, 9])
@pytest.mark.parametrize("error", [0.05, 0.2])
def test_who_errs_as_experts_do_has_their_kappa_in_every_stratum(n_judges, error):
    rng = np.random.default_rng(n_judges)
    truth, s, d = panel(60_000, error, rng, n_judges)
    machine = (truth ^ (rng.random(truth.size) < error)).astype(float)
    for one in trial(s, d, machine).strata:
        if one.n_pairs > 1_000:
            assert one.human_kappa == pytest.approx(one.kappa, abs=0.05)
            assert one.human_kappa > 0


def test_a_stratum_holds_a_pair_once_for_each_vote_that_the_others_place_there():
    # 4:1. Without the lone vote the others are unanimous; without any of the four they are 3:1.
    found = trial(np.array([4]), np.array([1]), np.array([1.0])).strata
    assert [one.n_pairs for one in found] == [1, 1, 1]
    five = trial(np.array([4, 0]), np.array([1, 5]), np.array([1.0, 0.0])).strata
    assert [one.n_pairs for one in five] == [2, 2, 1]


def test_where_the_panel_is_unanimous_kappa_is_cohens_with_the_panel():
    rng = np.random.default_rng(2)
    s = 3 * (rng.random(300) < 0.4)
    machine = rng.random(300) < 0.5
    found = trial(s, 3 - s, machine.astype(float), {"half": np.arange(300) < 150})
    wanted = cohen_kappa(machine.astype(int), (s > 0).astype(int))
    assert found.strata[0].kappa == pytest.approx(wanted)
    half = cohen_kappa(machine[:150].astype(int), (s[:150] > 0).astype(int))
    assert found.strata[-1].kappa == pytest.approx(half)


def test_a_family_that_is_favoured_shows():
    rng = np.random.default_rng(3)
    queries, own = np.repeat(np.arange(100), 20), rng.random(2_000) < 0.5
    labels = (rng.random(2_000) < 0.3).astype(float)
    says = np.where(rng.random(2_000) < np.where(own, 0.4, 0.1), 1.0, labels)
    found = leaning(labels, says, own, queries)
    assert found.own == pytest.approx(0.4, abs=0.05)
    assert found.other == pytest.approx(0.1, abs=0.05)
    assert found.n_own + found.n_other == (labels == 0).sum()
    alone = np.sqrt(found.own * (1 - found.own) / found.n_own + 0.1 * 0.9 / found.n_other)
    assert found.error == pytest.approx(alone, rel=0.2)
    assert np.isnan(leaning(labels[:60], says[:60], own[:60], queries[:60]).error)


def test_a_powered_estimate_is_narrower_and_holds_although_the_machine_is_biased():
    rng = np.random.default_rng(4)
    held, plain, powered = [], [], []
    for _ in range(200):
        queries = np.repeat(np.arange(60), 20)
        truth = rng.random(1_200) < 0.3
        machine = (truth | (rng.random(1_200) < 0.15)).astype(float)  # says similar too often
        labels = np.where(rng.random(1_200) < 0.15, truth, np.nan)
        value, ends = powered_share(labels, machine, queries)
        _, alone = powered_share(labels, np.zeros(1_200), queries)
        held.append(ends.low <= 0.3 <= ends.high)
        powered.append(ends.high - ends.low)
        plain.append(alone.high - alone.low)
    assert np.mean(held) > 0.9
    assert np.mean(powered) < 0.85 * np.mean(plain)
    value, _ = powered_share(truth.astype(float), machine, queries)
    assert value == pytest.approx(truth.mean())  # all judged: the machine says nothing more


def test_what_cannot_be_tried_is_refused():
    with pytest.raises(Refused, match="no pair of three votes"):
        trial(np.array([1, 2]), np.array([1, 0]), np.array([1.0, 1.0]))
    with pytest.raises(Refused, match="answers to every pair"):
        powered_share(np.array([1.0, np.nan]), np.array([1.0, np.nan]), np.zeros(2, int))


def test_the_command_tries_a_file_of_answers_and_a_run(tmp_path, capsys):
    folder = tmp_path / "made"
    world = "--queries 40 --images 20 --models 2 --depth 4 --positives 0.3".split()  # noqa: SIM905
    assert main(["simulate", str(folder), *world]) == 0
    capsys.readouterr()
    files = ["--votes", str(folder / "votes.csv"), "--proposals", str(folder / "proposals.csv")]
    own = ["--own", "model-1"]
    command = ["machine-judge", *files, *own]
    assert main([*command, "--answers", str(folder / "truth.csv")]) == 0
    text = capsys.readouterr().out
    assert UNANIMOUS in text
    assert "proposed by model-1" in text
    assert main([*command, "--run", str(folder / "runs/model-1.csv"), "--json"]) == 0
    strata = json.loads(capsys.readouterr().out)["strata"]
    assert [one["name"] for one in strata[:3]] == ["all", UNANIMOUS, DIVIDED]
    assert (strata[2]["n_pairs"], strata[2]["human_kappa"]) == (0, None)  # a panel of three
    assert main(command) == 2
    assert "--answers or --run" in capsys.readouterr().err
    assert main([*command[:3], *own, "--answers", str(folder / "truth.csv")]) == 2
    assert "--own says nothing without --proposals" in capsys.readouterr().err

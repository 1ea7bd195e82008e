"""Pairs worth a second opinion, beside counting by hand and turning each label in turn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.planning.estimates import estimate
from lookalike.planning.second_opinion import second_opinions
from lookalike.planning.simulator import World, simulate

CAMPAIGN = simulate(World(n_queries=12, n_images=25, n_models=3, depth=5, positives=0.2), 2)
VOTES = CAMPAIGN.votes.astype(float)


def test_chances_are_those_of_panels_drawn_by_hand():
    found = second_opinions(CAMPAIGN.pool, VOTES, "P@5")
    rng = np.random.default_rng(0)
    for s in range(4):
        at = VOTES.sum(axis=1) == s
        p = rng.beta(s + 0.5, 3 - s + 0.5, size=200_000)
        says_similar = rng.binomial(3, p) >= 2
        wanted = says_similar.mean() if s < 2 else 1 - says_similar.mean()
        assert found.chance[at] == pytest.approx(wanted, abs=0.005)
    assert found.chance[VOTES.sum(axis=1) == 2].min() > found.chance[VOTES.sum(axis=1) == 3].max()


@pytest.mark.parametrize("measure", ["P@5", "MRR@3", "AP'", "macro_roc_auc"])
def test_moves_are_those_of_the_board_with_one_label_turned(measure):
    pool = CAMPAIGN.pool
    found = second_opinions(pool, VOTES, measure)
    labels = CAMPAIGN.labels
    now = estimate(pool, labels, [], [measure]).measures[0].values
    for i in [*found.order[:6], *found.order[-3:]]:
        turned = labels.copy()
        turned[i] = 1 - turned[i]
        then = estimate(pool, turned, [], [measure]).measures[0].values
        assert found.moves[:, i] == pytest.approx(then - now, abs=1e-7)
    worth = found.chance * np.abs(found.moves).max(axis=0)
    assert found.worth == pytest.approx(worth)
    assert (np.diff(found.worth[found.order]) <= 0).all()


def test_what_has_no_answer_is_refused_and_pairs_without_votes_are_not_listed():
    few = VOTES.copy()
    few[:10] = np.nan
    assert not np.isin(np.arange(10), second_opinions(CAMPAIGN.pool, few, "AP'").order).any()
    with pytest.raises(InputError, match="is of all pairs at once"):
        second_opinions(CAMPAIGN.pool, VOTES, "micro_roc_auc")
    with pytest.raises(Refused, match="no pair of the pool has a vote"):
        second_opinions(CAMPAIGN.pool, np.full(VOTES.shape, np.nan), "AP'")


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_where_all_say_the_same_one_other_label_moves_what_is_defined(label):
    same = np.full(VOTES.shape, label)
    for measure in ("P@5", "macro_roc_auc"):
        found = second_opinions(CAMPAIGN.pool, same, measure)
        assert np.isfinite(found.moves).all()
        assert (found.chance > 0).all(), "who agree may be wrong together"


def test_the_command_lists_the_worthiest_pairs(tmp_path, capsys):
    folder = tmp_path / "campaign"
    assert main(["simulate", str(folder), "--queries", "12", "--models", "2", "--seed", "3"]) == 0
    runs = [part for m in (1, 2) for part in ("--run", str(folder / f"runs/model-{m}.csv"))]
    files = ["--proposals", str(folder / "proposals.csv"), "--votes", str(folder / "votes.csv")]
    capsys.readouterr()
    assert main(["second-opinion", *files, *runs, "--top", "3", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert len(pairs) == 3
    assert pairs[0]["worth"] >= pairs[1]["worth"] >= pairs[2]["worth"] > 0
    assert pairs[0]["similar"] in (1, 2), "the votes of the first are divided"
    assert main(["second-opinion", *files, *runs, "--measure", "micro_roc_auc"]) == 2
    assert "all pairs at once" in capsys.readouterr().err

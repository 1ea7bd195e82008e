"""Votes behind labels: on shares, and drawn anew."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.core.errors import Refused
from lookalike.planning.estimates import estimate
from lookalike.planning.label_sensitivity import label_sensitivity
from lookalike.planning.simulator import World, simulate

CAMPAIGN = simulate(
    World(n_queries=40, n_images=30, n_models=3, depth=5, positives=0.2, false_alarms=0.15), 1
)
POOL, VOTES = CAMPAIGN.pool, CAMPAIGN.votes.astype(float)
NAMES = ("P@5", "AP'", "micro_roc_auc")


def test_voters_of_one_mind_move_nothing():
    votes = np.repeat(CAMPAIGN.labels[:, None], 3, axis=1)
    for one in label_sensitivity(POOL, votes, NAMES, np.random.default_rng(1), n_draws=5):
        assert one.soft == pytest.approx(one.values)
        assert one.spread == pytest.approx(0)
        assert (one.turned, one.unsure) == ((), 0)
        full = estimate(POOL, CAMPAIGN.labels, [], [one.measure]).measures[0]
        for ends, wanted in zip(one.intervals, full.intervals(), strict=True):
            assert ends.low == pytest.approx(wanted.low)


def test_on_shares_precision_is_the_mean_share_of_the_head():
    [one] = label_sensitivity(POOL, VOTES, ["P@5"], np.random.default_rng(1), n_draws=5)
    share = VOTES.mean(axis=1)
    for m, ranks in enumerate(POOL.ranks):
        hits = np.bincount(POOL.queries, share * ((ranks > 0) & (ranks <= 5)), POOL.n_queries) / 5
        some = 1 - np.array([np.prod(1 - share[POOL.queries == q]) for q in range(POOL.n_queries)])
        assert one.soft[m] == pytest.approx(hits.sum() / some.sum())


def test_doubt_of_voters_widens_intervals_and_more_voters_less():
    rng = np.random.default_rng(2)
    [few] = label_sensitivity(POOL, VOTES, ["AP'"], rng)
    truth = CAMPAIGN.truth[:, None]
    many = truth ^ (rng.random((POOL.n_pairs, 25)) < 0.15)
    [surer] = label_sensitivity(POOL, many.astype(float), ["AP'"], rng)
    assert (few.spread > 2 * surer.spread).all()
    full = estimate(POOL, CAMPAIGN.labels, [], ["AP'"]).measures[0].intervals()
    for ends, alone in zip(few.intervals, full, strict=True):
        assert ends.high - ends.low > alone.high - alone.low


def test_a_pair_without_a_vote_is_refused():
    lost = VOTES.copy()
    lost[0] = np.nan
    with pytest.raises(Refused, match="1 pairs of the pool have no vote"):
        label_sensitivity(POOL, lost, NAMES, np.random.default_rng(1))


def test_the_command_prints_both_and_the_order(tmp_path, capsys):
    folder = tmp_path / "made"
    world = "--queries 30 --images 20 --models 2 --depth 3 --positives 0.3".split()  # noqa: SIM905
    assert main(["simulate", str(folder), *world]) == 0
    runs = [word for m in (1, 2) for word in ("--run", str(folder / f"runs/model-{m}.csv"))]
    files = ["--proposals", str(folder / "proposals.csv"), "--votes", str(folder / "votes.csv")]
    capsys.readouterr()
    assert main(["label-sensitivity", *files, *runs, "--panels", "5"]) == 0
    assert "turned on shares of votes: none" in capsys.readouterr().out
    assert main(["label-sensitivity", *files, *runs, "--panels", "5", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {row["measure"] for row in said["measures"]} == {"AP'", "macro_roc_auc", "micro_roc_auc"}
    assert main(["label-sensitivity", *files, *runs, "--panels", "1"]) == 2
    assert "a spread takes two" in capsys.readouterr().err

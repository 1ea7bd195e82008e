"""Simulated campaigns: the same for the same seed, and files that other commands read."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.bias.evidence.files import read_proposals, read_votes
from lookalike.cli.main import main
from lookalike.core.errors import Refused
from lookalike.io.labels import read_qrels
from lookalike.io.runs import read_run
from lookalike.planning.pool_files import named_pool
from lookalike.planning.simulator import World, simulate

SMALL = World(n_queries=12, n_images=20, n_models=3, depth=4)


def test_a_seed_gives_the_same_campaign_and_another_seed_another():
    first, again, other = (simulate(SMALL, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.votes, again.votes)
    assert np.array_equal(first.scores, again.scores)
    assert not np.array_equal(first.scores, other.scores)


def test_the_pool_is_what_the_models_rank_highest():
    campaign = simulate(SMALL, 1)
    pool = campaign.pool
    per_model = pool.proposed.sum(axis=1)
    assert per_model.tolist() == [SMALL.depth * SMALL.n_queries] * SMALL.n_models
    assert pool.proposed.any(axis=0).all()


def test_a_family_shares_the_errors_it_is_said_to_share():
    world = World(n_queries=300, n_models=4, n_families=2, shared=0.6, best=1.0, worst=1.0)
    free, tied = (simulate(w, 3) for w in (World(**{**vars(world), "n_families": 0}), world))
    errors = [c.scores.reshape(4, -1) for c in (free, tied)]
    # true similarity has variance 1.25, errors 1: relatives share .6 of the latter
    for scores, wanted in zip(errors, (1.25, 1.85), strict=True):
        assert np.cov(scores)[0, 2] == pytest.approx(wanted, abs=0.08)
        assert np.cov(scores)[0, 1] == pytest.approx(1.25, abs=0.08)


def test_positives_and_judges_errors_are_as_frequent_as_said():
    campaign = simulate(World(n_queries=400, misses=0.2, false_alarms=0.1, positives=0.3), 4)
    truth, votes = campaign.truth, campaign.votes
    assert (~votes[truth]).mean() == pytest.approx(0.2, abs=0.02)
    assert votes[~truth].mean() == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("n_queries", 0), ("depth", 20), ("n_families", 4), ("positives", 0.0)),
        *(("shared", 1.5), ("misses", 0.5), ("best", -1.0), ("n_judges", 0), ("n_models", 10**9)),
        ("worst", float("nan")),
    ],
)
def test_a_world_that_makes_no_sense_is_refused(field, value):
    with pytest.raises(Refused):
        World(**{**vars(SMALL), field: value})


def test_the_command_writes_what_other_commands_read(tmp_path, capsys):
    folder = tmp_path / "made"
    options = "--queries 12 --images 20 --models 3 --depth 4 --families 2 --seed 1".split()  # noqa: SIM905
    assert main(["simulate", str(folder), *options]) == 0
    campaign = simulate(World(**{**vars(SMALL), "n_families": 2}), 1)
    runs = [read_run(folder / f"runs/{name}.csv") for name in campaign.pool.models]
    named = named_pool(read_proposals(folder / "proposals.csv"), runs)
    assert np.array_equal(named.pool.ranks, campaign.pool.ranks)
    assert np.array_equal(named.labels(read_qrels(folder / "qrels.csv")), campaign.labels)
    assert np.array_equal(named.labels(read_qrels(folder / "truth.csv")), campaign.truth)
    votes = read_votes(folder / "votes.csv")
    assert np.array_equal(named.votes(votes.rows, 3), campaign.votes)
    assert main(["simulate", str(folder), *options]) == 2
    assert "is not empty" in capsys.readouterr().err

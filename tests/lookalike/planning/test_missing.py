"""How much more must be judged: foretold before, and come true after."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.planning.estimates import Estimates, estimate
from lookalike.planning.missing import share_needed
from lookalike.planning.rounds import Round, draw_round
from lookalike.planning.simulator import SimulatedCampaign, World, simulate
from lookalike.planning.stopping import Looks, stop_advice

LOOKS = Looks(0.05, 4)


def judged_to(
    campaign: SimulatedCampaign, share: float, seed: int
) -> tuple[Estimates, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Judge two rounds that come to a share of the pool; return what is known."""
    pool, rng = campaign.pool, np.random.default_rng(seed)
    labels = np.full(pool.n_pairs, np.nan)
    rounds: list[Round] = []
    for _ in range(2):
        n = round(share * pool.n_pairs / 2)
        rounds.append(draw_round(pool, labels, n_wanted=n, rng=rng))
        labels[rounds[-1].drawn] = campaign.labels[rounds[-1].drawn]
    return estimate(pool, labels, rounds, ["P@5"]), labels


def widest(found: Estimates, labels: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return max(stop_advice(found, labels, "P@5", LOOKS).widths)


def test_the_share_foretold_brings_about_the_width_that_was_wished():
    ratios = []
    for seed in range(6):
        campaign = simulate(World(n_queries=150, n_models=4), seed)
        found, labels = judged_to(campaign, 0.2, seed)
        wish = (widest(found, labels) + widest(*judged_to(campaign, 0.8, seed))) / 2
        share = share_needed(
            found, labels, "P@5", LOOKS, rng=np.random.default_rng(seed), width=wish
        )
        assert 0.2 < share < 1
        ratios.append(widest(*judged_to(campaign, share, seed + 100)) / wish)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)


def test_a_width_that_the_queries_alone_exceed_is_out_of_reach():
    campaign = simulate(World(n_queries=40, n_models=3), 1)
    found, labels = judged_to(campaign, 0.3, 1)
    rng = np.random.default_rng(1)
    assert math.isnan(share_needed(found, labels, "P@5", LOOKS, rng=rng, width=0.001))


def test_nothing_more_is_needed_where_the_wish_is_met_or_there_is_none():
    campaign = simulate(World(n_queries=40, n_models=3), 2)
    found, labels = judged_to(campaign, 0.3, 2)
    rng = np.random.default_rng(1)
    assert share_needed(found, labels, "P@5", LOOKS, rng=rng, width=0.5) == found.judged
    assert share_needed(found, labels, "P@5", LOOKS, rng=rng) == found.judged


def test_an_order_of_distant_models_takes_less_than_one_of_models_that_are_alike():
    rng = np.random.default_rng(3)
    needed = []
    for best, worst in ((0.3, 3.0), (1.0, 1.0)):
        world = World(n_queries=200, n_models=2, best=best, worst=worst)
        found, labels = judged_to(simulate(world, 3), 0.15, 3)
        needed.append(share_needed(found, labels, "P@5", LOOKS, rng=rng, orders=True))
    assert needed[0] < 1
    assert math.isnan(needed[1]) or needed[1] > needed[0]


def test_below_ten_queries_nothing_is_foretold():
    campaign = simulate(World(n_queries=5, n_models=2), 4)
    found, labels = judged_to(campaign, 0.5, 4)
    rng = np.random.default_rng(1)
    assert math.isnan(share_needed(found, labels, "P@5", LOOKS, rng=rng, width=0.1))

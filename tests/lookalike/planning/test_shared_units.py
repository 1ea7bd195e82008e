"""Queries of one product are one observation: in estimates, forecasts, backtests and rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.planning.backtest import backtest, backtest_design
from lookalike.planning.designs import Costs, Design
from lookalike.planning.estimates import Estimate, estimate
from lookalike.planning.intervals import CampaignSpread, estimate_interval, width_range
from lookalike.planning.pilot import Pilot, part_of
from lookalike.planning.planner import forecast
from lookalike.planning.pool import RankedPool
from lookalike.planning.rounds import Round, draw_round
from lookalike.planning.simulator import SimulatedCampaign, World, simulate
from lookalike.planning.stopping import Looks, order_rule, recall_rule, stop_advice
from lookalike.stats.units import Units

N_WORLDS, MODELS = 300, ("a", "b")
LEAST, MOST = 0.93, 0.97  # the promise
CHANCE = 2.6 * (0.95 * 0.05 / N_WORLDS) ** 0.5  # of so few worlds


def photos(campaign: SimulatedCampaign, n_photos: int) -> tuple[RankedPool, Floats]:
    """Return a pool in which each query of a campaign is photographed so often, and labels."""
    pool, n = campaign.pool, campaign.pool.n_queries
    where = np.tile(np.arange(pool.n_pairs), n_photos)
    queries = np.concatenate([pool.queries + n * at for at in range(n_photos)])
    return replace(
        pool,
        n_queries=n * n_photos,
        queries=queries,
        ranks=pool.ranks[:, where],
        scores=pool.scores[:, where],
        units=Units(np.tile(np.arange(n), n_photos)),
    ), campaign.labels[where]


def world(n_products: int, **options: float) -> World:
    fixed = {"n_images": 15, "n_models": 2, "depth": 5, "positives": 0.2, "ease": 1.0}
    return World(n_queries=n_products, **{**fixed, **options})  # type: ignore[arg-type]


def truths(names: list[str]) -> dict[str, Floats]:
    campaign = simulate(world(20_000), 99)
    found = estimate(campaign.pool, campaign.labels, [], names).measures
    return {one.name: one.values for one in found}


def share_held(n_products: int, n_photos: int, share: float, name: str, *, by_unit: bool) -> float:
    """Return how often the intervals of both models hold the truth."""
    true, n_held = truths([name])[name], []
    for seed in range(N_WORLDS):
        rng = np.random.default_rng([seed, n_products])
        pool, labels = photos(simulate(world(n_products), rng), n_photos)
        if not by_unit:
            pool = replace(pool, units=None)
        rounds: list[Round] = []
        if share < 1.0:
            nothing = np.full(pool.n_pairs, np.nan)
            rounds = [draw_round(pool, nothing, n_wanted=round(share * pool.n_pairs), rng=rng)]
            labels = np.where(rounds[0].drawn, labels, np.nan)
        (one,) = estimate(pool, labels, rounds, [name]).measures
        n_held += [
            ends.low <= t <= ends.high for ends, t in zip(one.intervals(), true, strict=True)
        ]
    return float(np.mean(n_held))


@pytest.mark.parametrize(("n_photos", "before"), [(2, 0.90), (4, 0.82)])
@pytest.mark.parametrize("name", ["P@5", "Success@5"])
def test_intervals_over_products_hold_the_truth(n_photos, before, name):
    assert LEAST - CHANCE <= share_held(24, n_photos, 1.0, name, by_unit=True) <= MOST + CHANCE
    assert share_held(24, n_photos, 1.0, name, by_unit=False) < before


@pytest.mark.parametrize("n_photos", [2, 4])
def test_intervals_of_rounds_over_products_hold_the_truth(n_photos):
    held = share_held(24, n_photos, 0.5, "P@5", by_unit=True)
    assert LEAST - CHANCE <= held <= MOST + CHANCE


def test_below_ten_products_an_estimate_has_no_interval_however_many_queries():
    pool, labels = photos(simulate(world(9), 1), 4)
    for one in estimate(pool, labels, [], ["P@5", "Success@5"]).measures:
        assert not any(ends.is_defined for ends in one.intervals())


def test_photos_that_are_all_alike_give_the_interval_of_their_products():
    rng = np.random.default_rng(2)
    row = rng.random(40)
    once = estimate_interval(0.5, row, 0.0, 0.95)
    often = estimate_interval(0.5, np.tile(row, 3), 0.0, 0.95, groups=np.tile(np.arange(40), 3))
    assert often.low == pytest.approx(once.low, abs=1e-9)
    assert often.high == pytest.approx(once.high, abs=1e-9)


def test_a_campaign_of_more_queries_has_as_many_more_products():
    row, groups = np.random.default_rng(3).random(60), np.repeat(np.arange(20), 3)
    pilot = CampaignSpread.of(row, groups)
    larger = CampaignSpread.of(row, groups, 240)
    assert (pilot.n_units, larger.n_units) == (20, 80)
    assert larger.error == pytest.approx(pilot.error / 2)
    assert larger.most_freedom > pilot.most_freedom


def test_a_forecast_from_photos_is_as_wide_as_one_from_their_products():
    campaign = simulate(world(40), 5)
    votes = campaign.votes.astype(np.float64)
    once = forecast(Pilot.of(campaign.pool, votes), [Design(80, 5, 3, 1.0)], ["P@5"], Costs())
    pool, _ = photos(campaign, 3)
    pilot = Pilot.of(pool, np.tile(votes, (3, 1)))
    often = forecast(pilot, [Design(240, 5, 3, 1.0)], ["P@5"], Costs())
    assert often[0].widths == pytest.approx(once[0].widths, rel=0.03)
    assert np.array(often[0].ranges) == pytest.approx(np.array(once[0].ranges), rel=0.05)
    assert often[0].order == pytest.approx(once[0].order, abs=0.02)
    blind = forecast(replace(pilot, pool=replace(pool, units=None)), [Design(240, 5, 3, 1.0)],
                     ["P@5"], Costs())  # fmt: skip
    assert blind[0].widest < 0.65 * often[0].widest


def test_a_forecast_of_rounds_counts_products_in_each_try():
    pool, labels = photos(simulate(world(60), 6), 2)
    design = Design(120, 5, 1, 0.5)
    by_unit, blind = (
        forecast(Pilot.of(one, labels[:, None]), [design], ["P@5"], Costs())[0]
        for one in (pool, replace(pool, units=None))
    )
    assert 1.1 < by_unit.widest / blind.widest < 1.6


def test_the_range_of_a_width_counts_products():
    row = np.random.default_rng(7).normal(size=60)
    groups = np.repeat(np.arange(20), 3)
    few = width_range(np.repeat(row[:20], 3), 60, 180, 0.8, groups)
    assert few == pytest.approx(width_range(row[:20], 20, 60, 0.8), rel=0.05)
    assert np.ptp(few) > np.ptp(width_range(np.repeat(row[:20], 3), 60, 180, 0.8))


def test_equal_models_are_not_ordered_by_photos_of_few_products():
    looks, n_wrong = Looks(0.3, 1), {True: 0, False: 0}
    groups = np.repeat(np.arange(20), 4)
    for seed in range(1_000):
        rows = np.repeat(np.random.default_rng(seed).normal(size=(2, 20)), 4, axis=1)
        for by_unit in n_wrong:
            measure = Estimate("P@5", rows.mean(axis=1), rows, groups if by_unit else None)
            n_wrong[by_unit] += order_rule(measure, MODELS, looks)[0].verdict == "above"
    assert n_wrong[True] < 130  # 10 % may be wrong
    assert n_wrong[False] > 300


def test_an_order_of_nine_products_is_never_claimed():
    rows = np.repeat(np.array([[0.9], [0.1]]) + np.linspace(0, 0.05, 9), 4, axis=1)
    rows[0] += np.random.default_rng(0).normal(0, 0.01, 36)
    groups = np.repeat(np.arange(9), 4)
    measure = Estimate("P@5", rows.mean(axis=1), rows, groups)
    (pair,) = order_rule(measure, MODELS, Looks())
    assert (pair.verdict, np.isnan(pair.p_value)) == ("open", True)


def test_the_share_found_is_bounded_over_products():
    pool, labels = photos(simulate(world(40), 8), 4)
    drawn = draw_round(pool, np.full(pool.n_pairs, np.nan), n_wanted=pool.n_pairs // 2,
                       rng=np.random.default_rng(1))  # fmt: skip
    known = np.where(drawn.drawn, labels, np.nan)
    found = estimate(pool, known, [drawn], ["P@5"])
    advice = stop_advice(found, known, "P@5", Looks())
    n = pool.n_queries
    similar = np.bincount(pool.queries, np.nan_to_num(known), n).astype(np.float64)
    total = np.bincount(pool.queries, found.labels, n).astype(np.float64)
    of_products = [values.reshape(4, 40).sum(axis=0) for values in (similar, total)]
    by_unit = recall_rule(of_products[0], of_products[1], found.heaviest, Looks())
    assert advice.recall == by_unit
    assert by_unit < recall_rule(similar, total, found.heaviest, Looks())


def test_a_backtest_draws_products_whole():
    values = np.repeat(np.random.default_rng(4).random((2, 40)), 3, axis=1)
    groups = np.repeat(np.arange(40), 3)
    found = backtest(values, 0.5, groups=groups, n_pilots=30)
    once = backtest(values[:, ::3], 0.5, n_pilots=30)
    assert found.n_queries == 60
    assert found.width == pytest.approx(once.width, abs=0.02)
    assert found.brier == pytest.approx(once.brier, abs=0.02)
    with pytest.raises(Refused, match="independent units"):
        backtest(values, 0.2, groups=groups)
    pool, labels = photos(simulate(world(40), 9), 3)
    tested = backtest_design(
        Pilot.of(pool, labels[:, None]), Design(120, 5, 1, 1.0), "P@5", 0.5, n_pilots=10
    )
    assert tested.n_queries == 60
    assert tested.width == pytest.approx(1, abs=0.12)


def test_parts_of_a_pool_keep_the_products_of_their_queries():
    pool, _ = photos(simulate(world(12), 1), 2)
    stay = np.array([0, 3, 12, 15, 23])
    part = part_of(pool, np.isin(pool.queries, stay), stay)
    assert part.units is not None
    assert part.units.codes.tolist() == [0, 3, 0, 3, 11]
    assert part.sample == "5 queries of 3 products"

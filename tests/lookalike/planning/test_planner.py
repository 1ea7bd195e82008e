"""Plans: what a design would cost and bring, and whether pilots foretell it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.planning.backtest import backtest, backtest_design
from lookalike.planning.designs import Costs, Design, Forecast, Goals, cheapest, frontier
from lookalike.planning.intervals import width_range
from lookalike.planning.pilot import Pilot, judged_by
from lookalike.planning.planner import forecast, order_probability
from lookalike.planning.simulator import World, simulate
from lookalike.stats.intervals import mean_interval

CAMPAIGN = simulate(World(n_queries=40, n_images=30, n_models=3, depth=5, positives=0.2), 1)
VOTES = CAMPAIGN.votes.astype(float)
PILOT = Pilot.of(CAMPAIGN.pool, VOTES)


def made(hours: float, width: float, *orders: float, bias: float = 0.0) -> Forecast:
    neighbours = tuple(("a", "b", p) for p in orders)
    widths, biases = (width, width / 2), (bias, 0.0)
    design, ranges = Design(50, 5, 1, 1.0), ((0.9 * width, 1.1 * width), (width / 4, width))
    return Forecast(design, "P@5", 10, hours, 0.0, widths, biases, neighbours, ranges)


def test_the_pilots_own_size_has_the_width_that_it_has():
    (one,) = forecast(PILOT, [Design(40, 5, 3, 1.0)], ["P@5"], Costs(seconds=36, hourly=20))
    pool, labels = CAMPAIGN.pool, CAMPAIGN.labels
    hits = np.array([
        np.bincount(pool.queries, labels * (ranks <= 5), 40) / 5 for ranks in pool.ranks
    ])  # fmt: skip
    defined = np.bincount(pool.queries, labels, 40) > 0
    wanted = [mean_interval(row[defined]) for row in hits]
    for width, ends in zip(one.widths, wanted, strict=True):
        assert width == pytest.approx((ends.high - ends.low) / 2, rel=0.03)
    assert one.n_pairs == CAMPAIGN.pool.n_pairs
    assert one.hours == pytest.approx(one.n_pairs * 3 * 36 / 3600)
    assert one.money == pytest.approx(one.hours * 20)


def test_more_of_anything_costs_more_and_queries_narrow_by_their_root():
    designs = [Design(n, 5, 3, s) for n in (40, 160) for s in (0.3, 1.0)]
    found = {f.design: f for f in forecast(PILOT, designs, ["P@5"], Costs())}
    few, many = found[designs[1]], found[designs[3]]
    assert many.widest == pytest.approx(few.widest / 2, rel=0.08)
    assert many.order >= few.order
    assert found[designs[0]].widest > few.widest
    assert found[designs[0]].hours == pytest.approx(few.hours * 0.3, rel=0.01)


def test_a_shallower_pool_has_fewer_pairs_and_no_measure_below_it():
    designs = [Design(40, depth, 3, 1.0) for depth in (3, 5)]
    found = forecast(PILOT, designs, ["P@3", "P@5"], Costs())
    assert [(f.design.depth, f.measure) for f in found] == [(3, "P@3"), (5, "P@3"), (5, "P@5")]
    assert found[0].n_pairs < found[1].n_pairs


def test_labels_of_fewer_judges_are_drawn_from_the_pairs_own_votes():
    rng = np.random.default_rng(0)
    votes = np.array([[1, 1, 1], [0, 0, np.nan], [1, 0, 1]] * 400)
    labels = judged_by(votes, 1, rng).reshape(400, 3)
    assert labels[:, :2].mean(axis=0).tolist() == [1, 0]
    assert labels[:, 2].mean() == pytest.approx(2 / 3, abs=0.07)
    assert judged_by(votes, 3, rng).reshape(400, 3).mean(axis=0).tolist() == [1, 0, 1]
    assert judged_by(votes, 9, rng).reshape(400, 3)[:, :2].mean(axis=0).tolist() == [1, 0]


def test_the_cheapest_design_that_meets_goals_is_found():
    cheap, good, dear = made(1, 0.05, 0.9, 0.9), made(2, 0.03, 0.97, 0.99), made(9, 0.01, 1, 1)
    assert good.order == pytest.approx(0.96)
    assert cheapest([dear, good, cheap], Goals(0.03, 0.95)) == good
    assert cheapest([dear, good, cheap], Goals()) == cheap
    assert cheapest([cheap], Goals(0.03)) is None
    assert cheapest([made(1, float("nan"))], Goals(0.03)) is None
    assert frontier([dear, cheap, good, made(3, 0.04)]) == [cheap, good, dear]


def test_widths_come_within_their_range_as_often_as_is_said():
    rng = np.random.default_rng(3)
    draws: list[Callable[[int], Floats]] = [
        lambda n: rng.normal(size=n),
        lambda n: rng.binomial(5, 0.2, size=n) / 5,
    ]
    for draw in draws:
        within = []
        for _ in range(500):
            pilot, come = draw(60), draw(200)
            low, high = width_range(pilot, 60, 200, 0.8)
            within.append(low < come.std(ddof=1) / pilot.std(ddof=1) < high)
        assert np.mean(within) == pytest.approx(0.8, abs=0.06)
    normal, heavy = rng.normal(size=60), rng.normal(size=60) ** 5
    assert np.ptp(width_range(heavy, 60, 200, 0.8)) > 2 * np.ptp(width_range(normal, 60, 200, 0.8))


def test_the_range_of_the_widest_interval_stands_beside_it():
    few, many = forecast(PILOT, [Design(n, 5, 3, 1.0) for n in (40, 4_000)], ["P@5"], Costs())
    for one in (few, many):
        low, high = one.widest_range
        assert low < one.widest < high
        assert (low, high) in one.ranges
    assert np.ptp(many.widest_range) / many.widest < np.ptp(few.widest_range) / few.widest
    assert np.isnan(made(1, float("nan")).widest_range).all()


def test_wrong_labels_of_one_judge_are_a_bias_that_no_number_of_queries_mends():
    made_of = simulate(replace(CAMPAIGN.world, false_alarms=0.3, n_judges=9), 3)
    pilot = Pilot.of(made_of.pool, made_of.votes.astype(float))
    designs = [Design(n, 5, j, 1.0) for n in (40, 4_000) for j in (1, 9)]
    few_one, few_all, many_one, many_all = forecast(pilot, designs, ["P@5"], Costs())
    assert max(few_all.biases) == max(many_all.biases) == 0
    # of the worst model most are different: three in ten of those are said to be similar
    assert max(few_one.biases) == max(many_one.biases) > 0.05
    assert many_one.off > 0.05 > many_all.off == many_all.widest
    assert cheapest([many_one, many_all], Goals(width=0.05)) == many_all
    cheap, dear = made(1, 0.02, bias=0.05), made(2, 0.03)
    assert cheapest([cheap, dear], Goals(width=0.04)) == dear
    assert frontier([cheap, dear]) == [cheap, dear]


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0])
def test_the_order_of_models_that_a_pilot_cannot_tell_apart(ratio):
    wanted = 0.5 + np.arctan(ratio) / np.pi
    assert order_probability(0.0, ratio * 0.1, 0.1) == pytest.approx(wanted, abs=1e-3)


def test_an_order_that_is_known_or_turned_by_wrong_labels():
    assert order_probability(0.2, 0.0, 0.1) == pytest.approx(0.97725, abs=1e-5)
    assert order_probability(0.2, 0.0, 0.1, shift=-0.4) == pytest.approx(0.02275, abs=1e-5)
    assert [order_probability(d, 0.0, 0.0) for d in (0.1, 0.0)] == [1.0, 0.5]


def test_a_pilot_of_one_model_has_widths_and_no_order():
    world = World(n_queries=20, n_images=20, n_models=1, depth=3, positives=0.3)
    alone = simulate(world, 2)
    pilot = Pilot.of(alone.pool, alone.votes.astype(float))
    for share in (0.5, 1.0):
        (one,) = forecast(pilot, [Design(50, 3, 1, share)], ["P@3"], Costs())
        assert 0.0 < one.widest < 0.5
        assert one.neighbours == ()
        assert np.isnan(one.order)
        with pytest.raises(Refused, match="one model alone has no order"):
            Goals(order=0.9).refuse_order_of_one(pilot.pool.models)


def test_a_pilot_must_have_queries_judged_whole_and_labels_that_differ():
    pool = CAMPAIGN.pool
    with pytest.raises(Refused, match="9 queries are judged whole"):
        Pilot.of(pool, np.where(pool.queries[:, None] < 9, VOTES, np.nan))
    part = Pilot.of(pool, np.where(pool.queries[:, None] % 2 == 0, VOTES, np.nan))
    assert part.pool.n_queries == 20
    assert part.pool.n_pairs == (pool.queries % 2 == 0).sum()
    with pytest.raises(Refused, match="all its labels are equal"):
        Pilot.of(pool, np.ones_like(VOTES))
    with pytest.raises(Refused, match="the pilot is 5 deep"):
        forecast(PILOT, [Design(40, 6, 3, 1.0)], ["P@5"], Costs())


@pytest.mark.parametrize(
    "make",
    [
        *(lambda: Design(5, 5, 3, 1.0), lambda: Design(50, 0, 3, 1.0), lambda: Design(50, 5, 0, 1)),
        *(lambda: Design(50, 5, 3, 0.0), lambda: Costs(0), lambda: Costs(hourly=-1)),
        *(lambda: Goals(width=0.0), lambda: Goals(order=1.0)),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(Refused):
        make()


def test_a_backtest_knows_a_clear_order_from_a_coin():
    rng = np.random.default_rng(1)
    clear = np.array([0.2, 0.5, 0.8])[:, None] + 0.1 * rng.normal(size=(3, 200))
    sure = backtest(clear, 0.3)
    assert (sure.n_queries, sure.n_pilots, sure.n_orders) == (60, 50, 150)
    assert sure.brier < 1e-6
    assert sure.width == pytest.approx(1, abs=0.05)
    scores = []
    for _ in range(40):  # a true coin: nothing beats one half by much
        scores.append(backtest(rng.normal(size=(2, 100)), 0.3, n_pilots=20).brier)
    assert 0.1 < np.mean(scores) < 0.22  # the pilot is 30 % of the end
    for share in (0.04, 1.0):
        with pytest.raises(Refused, match="a pilot has at least 10"):
            backtest(clear, share)


def test_a_design_is_backtested_on_all_queries_of_a_finished_campaign():
    design = Design(10, 5, 3, 0.5)
    found = backtest_design(PILOT, design, "P@5", 0.5, n_pilots=8)
    assert found.design == replace(design, n_queries=40)
    assert (found.n_queries, found.n_orders) == (20, 16)
    assert found.width == pytest.approx(1, abs=0.15)
    assert 0 < found.least_error < found.width_error < 0.4
    assert found.within > 0.5
    assert 0 <= found.brier < 0.25
    sure = backtest_design(PILOT, replace(design, share=1.0), "P@5", 0.5, n_pilots=2)
    assert sure.least_error == 0, "all votes of all pairs: nothing is left to chance"
    with pytest.raises(Refused, match="not all"):
        backtest_design(PILOT, design, "P@5", 1.0)


def test_the_command_answers_a_wish_and_backtests(tmp_path, capsys):
    folder = tmp_path / "made"
    world = "--queries 30 --images 20 --models 2 --depth 3 --positives 0.3".split()  # noqa: SIM905
    assert main(["simulate", str(folder), *world]) == 0
    runs = [word for m in (1, 2) for word in ("--run", str(folder / f"runs/model-{m}.csv"))]
    pilot = ["plan", "--proposals", str(folder / "proposals.csv"), *runs]
    votes = ["--votes", str(folder / "votes.csv")]
    designs = ["--measure", "P@3", "--depth", "3", "--queries", "50,400"]
    capsys.readouterr()
    assert main([*pilot, *votes, *designs, "--width", "0.2", "--hourly", "10"]) == 0
    said = capsys.readouterr()
    assert "Cheapest that meets the goals" in said.out
    assert "30 queries judged whole" in said.err
    assert main([*pilot, *votes, *designs, "--width", "0.001"]) == 0
    assert "No design meets the goals" in capsys.readouterr().out
    spread = [*pilot, *votes, "--measure", "P@3", "--backtest-spread"]
    assert main([*spread, "0.5"]) == 0
    assert "all judged in full" in capsys.readouterr().out
    replay = [*pilot, *votes, "--measure", "P@3", "--backtest-design"]
    assert main([*replay, "0.5", "--judges", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["design"]["n_judges"] == 1
    for ignored, reason in (
        ([*replay, "0.5", "--queries", "100"], "--queries: --backtest-design is of all queries"),
        ([*replay, "0.5", "--hourly", "0"], "--hourly: --backtest-design is of all queries"),
        ([*replay, "0.5", "--judges", "1,3"], "--judges: --backtest-design tries one design"),
        ([*spread, "0.5", "--share", "0.3", "--judges", "1"], "--judges, --share: --backtest-spr"),
        ([*pilot, *votes, *designs, "--images", "100"], "--images: assumptions say nothing"),
        ([*pilot, *votes, *designs, "--close"], "--close or --distant: assumptions say nothing"),
        ([*spread, "0.5", "--hourly", "0"], "--hourly: --backtest-spread tries no design"),
        (["plan", "--queries", ""], "--queries '' is not a list of numbers"),
        (["plan", "--close", "--best", "0.3"], "name one or the other"),
        (
            ["plan", "--models", "1", "--queries", "50", "--order", "0.9"],
            "one model alone has no order",
        ),
        ([*spread, "nan"], "nan is not a share of the queries"),
        ([*pilot, *votes, "--measure", "P@x"], "no estimate from a partly judged pool for 'P@x'"),
    ):
        assert main(ignored) == 2
        assert reason in capsys.readouterr().err
    assert main([*pilot, *designs]) == 2
    assert "a pilot takes" in capsys.readouterr().err
    assert main(["plan", "--queries", "many"]) == 2
    assert "is not a list of numbers" in capsys.readouterr().err
    assumed = "plan --images 20 --models 2 --queries 50 --depth 3 --share 1 --measure P@3"
    assert main(assumed.split()) == 0
    assert "from assumptions" in capsys.readouterr().err
    assert main([*assumed.replace("--models 2", "--models 1").split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forecasts"][0]["order"] is None
    assert main(assumed.replace("P@3", "P@5").split()) == 2
    assert "no design is deep enough" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [["plan"], ["simulate", "made"], ["rounds", "draw"], ["bias"], ["negatives"], ["classes", "v"],
     ["table"], ["conditional", "matrix"], ["learn", "notion", "v"], ["label-sensitivity"]],
)  # fmt: skip
@pytest.mark.parametrize("number", ["-1", "1.5"])
def test_a_seed_that_is_no_whole_number_is_refused(command, number, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--seed", number])
    assert f"argument --seed: '{number}' is not a whole number from 0" in capsys.readouterr().err


def test_from_better_judges_the_same_models_are_told_apart_more_surely():
    bad = replace(CAMPAIGN.world, misses=0.4, false_alarms=0.4, n_queries=100)
    good = replace(bad, misses=0.0, false_alarms=0.0)
    orders = []
    for world in (bad, good):
        made_of = simulate(world, 3)
        pilot = Pilot.of(made_of.pool, made_of.votes.astype(float))
        orders.append(forecast(pilot, [Design(100, 5, 1, 1.0)], ["P@5"], Costs())[0].order)
    assert orders[1] > orders[0]

"""Rules to stop: what they claim, and what they must not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lookalike.core.errors import Refused
from lookalike.planning.estimates import Estimate, estimate
from lookalike.planning.rounds import Round
from lookalike.planning.simulator import World, simulate
from lookalike.planning.stopping import Looks, order_rule, recall_rule, stop_advice, width_rule

RNG = np.random.default_rng(1)


def measured(*means: float, spread: float = 0.1, n: int = 40) -> Estimate:
    rows = RNG.normal(size=(len(means), n))
    rows = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, ddof=1, keepdims=True)
    by_query = np.array(means)[:, None] + spread * rows
    return Estimate("P@5", by_query.mean(axis=1), by_query)


def test_an_order_is_claimed_at_the_share_of_one_look_and_one_pair_of_models():
    looks = Looks(0.15, 5)
    assert looks.share == pytest.approx(0.01)
    found = order_rule(measured(0.2, 0.8, 0.5), ("a", "b", "c"), looks)
    verdicts = [(p.upper, p.lower, p.verdict) for p in found]
    assert verdicts == [("b", "c", "above"), ("c", "a", "above")]
    rows = measured(0.5, 0.5 - 0.05, spread=0.1)
    d = rows.by_query[0] - rows.by_query[1]
    (pair,) = order_rule(rows, ("a", "b"), looks)
    assert pair.p_value == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    assert (pair.verdict == "above") == (pair.p_value <= 0.01)


def test_equal_models_are_ordered_with_at_most_what_the_rule_may_spend():
    rng, looks, n_wrong = np.random.default_rng(5), Looks(0.3, 1), 0
    for _ in range(2_000):
        rows = rng.normal(size=(2, 12))
        (pair,) = order_rule(Estimate("P@5", rows.mean(axis=1), rows), ("a", "b"), looks)
        n_wrong += pair.verdict == "above"
    assert stats.binomtest(n_wrong, 2_000, 0.1).pvalue > 0.001  # alpha over three rules
    assert n_wrong


def test_models_are_alike_only_where_that_was_asked():
    rows = measured(0.5, 0.5)
    assert order_rule(rows, ("a", "b"), Looks(), alike=0.5)[0].verdict == "alike"
    assert order_rule(rows, ("a", "b"), Looks(), alike=0.01)[0].verdict == "open"


def test_whatever_rules_claim_together_is_wrong_with_at_most_alpha():
    """True: two equal models at 0.5. Each rule may err in its own third."""
    rng, looks, n_wrong = np.random.default_rng(6), Looks(0.3, 1), 0
    for _ in range(1_000):
        rows = 0.5 + 0.1 * rng.normal(size=(2, 12))
        measure = Estimate("P@5", rows.mean(axis=1), rows)
        is_wrong = order_rule(measure, ("a", "b"), looks)[0].verdict == "above"
        off = np.abs(measure.values - 0.5)
        n_wrong += is_wrong or bool((off > width_rule(measure, looks)).any())
    assert n_wrong / 1_000 < 0.22  # two rules of three: 0.2 at most; all of alpha each: 0.4


def test_more_looks_cost_wider_intervals():
    rows = measured(0.4, 0.6)
    once, often = (width_rule(rows, Looks(planned=n)) for n in (1, 10))
    assert (often > once).all()


def test_recall_is_bounded_by_what_may_be_left():
    found, total, looks = np.full(20, 3.0), np.full(20, 4.0), Looks(0.05, 1)
    t = stats.t.ppf(1 - looks.share, 19)
    most = 20 + t * t * 3 * 2 / 2 + t * (t * 3 * 2 / 2)  # no spread: one finding weighs 2 * 3
    assert recall_rule(found, total, 2.0, looks) == pytest.approx(60 / (60 + most))
    assert recall_rule(found, found, 0.0, looks) == 1
    spread = total + np.tile([-1.0, 1.0], 10)
    assert recall_rule(found, spread, 2.0, looks) < recall_rule(found, total, 2.0, looks)
    assert recall_rule(found, total, 2.0, Looks(0.05, 5)) < recall_rule(found, total, 2.0, looks)
    assert np.isnan(recall_rule(np.zeros(20), total, 2.0, looks))
    assert np.isnan(recall_rule(found[:3], total[:3], 2.0, looks))


def test_nothing_found_below_the_likeliest_pairs_is_not_nothing_there():
    found = np.repeat([1.0, 0.0], [10, 90])
    assert recall_rule(found, found, 10.0, Looks()) < 0.25


def test_one_model_has_no_order_and_all_judged_has_all_found():
    campaign = simulate(World(n_queries=20, n_images=20, n_models=1, depth=5), 1)
    found = estimate(campaign.pool, campaign.labels, [], ["P@5"])
    advice = stop_advice(found, campaign.labels, "P@5", Looks())
    assert advice.neighbours == []
    assert advice.recall == 1
    with pytest.raises(Refused, match="was not estimated"):
        stop_advice(found, campaign.labels, "MRR@5", Looks())


def test_queries_that_are_too_few_settle_nothing():
    assert order_rule(measured(0.1, 0.9, n=5), ("a", "b"), Looks())[0].verdict == "open"


@pytest.mark.parametrize(("alpha", "planned"), [(0.0, 5), (1.0, 5), (0.05, 0)])
def test_an_error_that_cannot_be_spent_is_refused(alpha, planned):
    with pytest.raises(Refused):
        Looks(alpha, planned)


def test_before_ten_similar_pairs_are_found_no_width_is_claimed():
    campaign = simulate(World(n_queries=40, n_images=30, n_models=2, depth=4), 3)
    pool = campaign.pool
    drawn = np.random.default_rng(1).random(pool.n_queries)[pool.queries] < 0.5
    chances = np.full(pool.n_pairs, 0.5)
    for n, is_claimed in ((9, False), (10, True)):
        labels = np.zeros(pool.n_pairs)
        labels[np.flatnonzero(drawn)[:: drawn.sum() // 10][:n]] = 1.0
        labels[~drawn] = np.nan
        found = estimate(pool, labels, [Round(chances, drawn)], ["P@3"])
        advice = stop_advice(found, labels, "P@3", Looks())
        assert bool(np.isfinite(advice.widths).all()) == is_claimed

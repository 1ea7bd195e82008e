"""Intervals of estimates: as always where the spread is plain, wider where one find makes it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lookalike.planning.intervals import estimate_interval, yes_no_interval
from lookalike.stats.intervals import statistic_interval
from lookalike.stats.proportion import score_interval

RNG = np.random.default_rng(1)


def test_of_values_that_spread_evenly_it_is_the_interval_of_every_other_mean():
    row = np.linspace(0.3, 0.7, 60)
    error = row.std(ddof=1) / 60**0.5
    assert estimate_interval(0.5, row, 0.0, 0.95) == statistic_interval(0.5, error, 60)
    wider = estimate_interval(0.5, row, 0.05, 0.95)
    assert wider == statistic_interval(0.5, float(np.hypot(error, 0.05)), 60)


def test_a_spread_that_one_query_makes_is_known_as_badly_as_from_few():
    row = np.full(100, 0.5)
    row[0] = 8.0
    ends = estimate_interval(0.5, row, 0.0, 0.95)
    d = row - row.mean()
    freedom = 2 * 100 / (np.mean(d**4) / np.mean(d**2) ** 2 - 1)
    assert 2 < freedom < 3
    error = row.std(ddof=1) / 10
    assert ends == statistic_interval(0.5, error, 100, 0.95, freedom)
    plain = statistic_interval(0.5, error, 100)
    assert ends.high - ends.low > 1.3 * (plain.high - plain.low)


@pytest.mark.parametrize("value", [1.0, 1.02])
def test_success_everywhere_is_no_surer_than_that_many_yes_answers(value):
    n = 40
    ends = yes_no_interval(value, np.full(n, value), 0.0, 0.95)
    t = stats.t.ppf(0.975, n - 1)
    assert ends == score_interval(float(n), float(n), t * t)
    assert ends.high == pytest.approx(1)
    assert ends.low == pytest.approx(n / (n + t * t))


def test_success_fully_judged_has_wilsons_interval_of_its_yes_answers():
    row = np.repeat([1.0, 0.0], [30, 20])
    ends = yes_no_interval(0.6, row, 0.0, 0.95)
    t = stats.t.ppf(0.975, 49)
    wanted = score_interval(30.0, 50.0, t * t)
    assert ends.low == pytest.approx(wanted.low, abs=0.005)
    assert ends.high == pytest.approx(wanted.high, abs=0.005)


def test_below_ten_queries_there_is_none():
    row = RNG.random(9)
    assert not estimate_interval(0.5, row, 0.0, 0.95).is_defined
    assert not yes_no_interval(0.5, row, 0.0, 0.95).is_defined

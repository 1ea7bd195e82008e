"""Binomial intervals: golden case G9, scipy and statsmodels as oracles."""

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from lookalike.stats.proportion import clopper_pearson, jeffreys, score_interval, wilson


def ends(interval):
    return interval.low, interval.high


def test_two_positives_in_two_thousand_have_the_golden_intervals():
    assert ends(clopper_pearson(2, 2000)) == pytest.approx((0.000121, 0.003608), abs=1e-6)
    assert ends(wilson(2, 2000)) == pytest.approx((0.000274, 0.003639), abs=1e-6)
    assert ends(jeffreys(2, 2000)) == pytest.approx((0.000208, 0.003204), abs=1e-6)
    assert ends(clopper_pearson(0, 2000)) == pytest.approx((0, 0.001843), abs=1e-6)


@pytest.mark.parametrize(("n_yes", "n"), [(0, 5), (5, 5), (3, 10), (999, 1000), (17, 40)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_equal_those_of_scipy_and_statsmodels(n_yes, n, level):
    test = stats.binomtest(n_yes, n)
    assert ends(clopper_pearson(n_yes, n, level)) == pytest.approx(
        tuple(test.proportion_ci(level, "exact")), abs=1e-12
    )
    assert ends(wilson(n_yes, n, level)) == pytest.approx(
        tuple(test.proportion_ci(level, "wilson")), abs=1e-12
    )
    assert ends(jeffreys(n_yes, n, level)) == pytest.approx(
        proportion_confint(n_yes, n, 1 - level, "jeffreys"), abs=1e-12
    )


def test_no_answers_say_nothing():
    assert ends(clopper_pearson(0, 0)) == (0, 1)
    assert ends(wilson(0, 0)) == (0, 1)


@pytest.mark.parametrize("interval", [clopper_pearson, wilson, jeffreys])
def test_impossible_counts_and_levels_are_refused(interval):
    with pytest.raises(ValueError, match="impossible"):
        interval(3, 2)
    with pytest.raises(ValueError, match="impossible"):
        interval(-1, 2)
    with pytest.raises(ValueError, match="level"):
        interval(1, 2, 1.0)


def test_score_interval_holds_the_shares_within_z_errors():
    low, high = ends(score_interval(2, 2000, 20.0))
    for p in (low, high):
        assert (0.001 - p) ** 2 == pytest.approx(20 * p * (1 - p) / 2000)

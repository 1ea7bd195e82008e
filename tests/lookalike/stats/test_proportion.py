"""Binomial intervals: golden case G9, scipy and statsmodels as oracles."""

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from lookalike.stats.proportion import (
    clopper_pearson,
    jeffreys,
    modified_wilson,
    score_interval,
    wilson,
)


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


@pytest.mark.parametrize(("n_yes", "n"), [(1, 20), (2, 50), (3, 51), (3, 50), (10, 20), (0, 20)])
def test_few_answers_of_a_kind_have_the_poisson_limit_on_their_side(n_yes, n):
    found, few = modified_wilson(n_yes, n), 1 <= n_yes <= (2 if n <= 50 else 3)
    limit = stats.chi2.ppf(0.05, 2 * n_yes) / 2 / n
    low, high = ends(wilson(n_yes, n))
    assert ends(found) == pytest.approx((limit if few else low, high), abs=1e-12)
    mirrored = modified_wilson(n - n_yes, n)
    assert ends(mirrored) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-12)


def test_no_answers_say_nothing():
    assert ends(clopper_pearson(0, 0)) == (0, 1)
    assert ends(modified_wilson(0, 0)) == (0, 1)
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

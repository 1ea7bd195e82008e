"""Prevalence from one sample: the VSD paper's numbers and golden case G9."""

import numpy as np
import pytest
from scipy import stats

from lookalike.prevalence.single import (
    chebyshev_labels,
    pool_recall,
    prevalence,
    truncated_posterior,
)

ALL_PAIRS = 2000 * 52_711
POOL_PAIRS, POOL_POSITIVE = 54_170, 45_920


def ends(interval):
    return interval.low, interval.high


def test_the_papers_sample_gives_its_estimate_and_its_true_uncertainty():
    found = prevalence(2, 2000, POOL_POSITIVE / ALL_PAIRS)
    assert found.lower_bound == pytest.approx(0.000435583, abs=1e-9)
    assert found.estimate == 0.001
    assert ends(found.clopper_pearson) == pytest.approx((0.000121, 0.003608), abs=1e-6)
    assert ends(found.wilson) == pytest.approx((0.000274, 0.003639), abs=1e-6)
    assert ends(found.jeffreys) == pytest.approx((0.000208, 0.003204), abs=1e-6)
    assert found.posterior.median == pytest.approx(0.001396, abs=1e-6)
    assert ends(found.posterior.interval) == pytest.approx((0.000504, 0.003645), abs=1e-6)
    assert ends(found.chebyshev) == pytest.approx((0.000084, 0.011797), abs=1e-6)
    assert found.zero_bound is None


def test_map_estimate_is_never_below_what_is_known():
    assert prevalence(0, 2000, 0.002).estimate == 0.002
    assert prevalence(0, 2000).zero_bound == 0.0015


def test_map_estimate_is_the_mode_of_the_truncated_posterior():
    for a, b, bound in [(2, 2000, 0.0004), (2, 2000, 0.004), (30, 100, 0.1)]:
        p = np.linspace(bound, 1, 400_001)
        mode = p[np.argmax(stats.binom.logpmf(a, b, p))]
        assert prevalence(a, b, bound).estimate == pytest.approx(mode, abs=1e-5)


def test_posterior_without_a_bound_is_the_plain_beta():
    found = truncated_posterior(3, 50)
    assert found.median == pytest.approx(stats.beta.ppf(0.5, 4, 48))
    assert ends(found.interval) == pytest.approx(stats.beta.ppf([0.025, 0.975], 4, 48))


def test_posterior_stays_above_a_bound_far_from_the_sample():
    found = truncated_posterior(0, 20_000, 0.01)
    assert 0.01 < found.interval.low < found.median < found.interval.high


def test_chebyshev_numbers_are_those_of_the_paper():
    assert chebyshev_labels(0.01, 0.05) == 2000
    assert stats.binom.cdf(2, 2000, 0.008) == pytest.approx(0.0000155, abs=1e-7)


@pytest.mark.parametrize(
    ("n_positive", "recall", "low", "high"),
    [(2, 0.304, 0.108, 0.783), (1, 0.466, 0.135, 0.972), (0, 1.0, 0.191, 1.0)],
)
def test_pool_recall_follows_from_a_sample_outside(n_positive, recall, low, high):
    found = pool_recall(POOL_POSITIVE, ALL_PAIRS - POOL_PAIRS, n_positive, 2000)
    assert found.estimate == pytest.approx(recall, abs=1e-3)
    assert ends(found.interval) == pytest.approx((low, high), abs=1e-3)


def test_impossible_samples_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        prevalence(0, 0)
    with pytest.raises(ValueError, match="impossible"):
        prevalence(3, 2)
    with pytest.raises(ValueError, match="lower bound"):
        prevalence(1, 2, 1.0)
    with pytest.raises(ValueError, match="impossible"):
        pool_recall(5, 10, 0, 0)
    with pytest.raises(ValueError, match="impossible"):
        pool_recall(5, 10, 0, 11)
    assert np.isnan(pool_recall(0, 10, 0, 5).estimate)

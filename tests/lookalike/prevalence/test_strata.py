"""Stratified and weighted prevalence: the golden design, and simulation as oracle."""

import numpy as np
import pytest

from lookalike.prevalence.strata import (
    StratumCount,
    stratified_prevalence,
    weighted_prevalence,
)

GOLDEN = [
    StratumCount("pool", 54_170, 54_170, 45_920),
    StratumCount("ranks 7-20", 20_000, 200, 60),
    StratumCount("ranks 21-100", 200_000, 400, 40),
    StratumCount("below rank 100", 105_147_830, 1_400, 1),
]


def test_the_golden_strata_give_the_golden_estimate():
    found = stratified_prevalence(GOLDEN)
    assert found.share == pytest.approx(0.001394639, abs=1e-9)
    assert found.standard_error == pytest.approx(0.000713018, abs=1e-9)
    assert found.total == pytest.approx(147_025.6, abs=0.05)
    assert found.pool_recall == pytest.approx(0.312327, abs=1e-6)
    assert found.total_interval.low == pytest.approx(64_484, abs=1)
    assert found.total_interval.high == pytest.approx(595_114, abs=1)
    assert found.pool_recall_interval.low == pytest.approx(45_920 / 595_114, abs=1e-6)


def test_a_full_census_leaves_no_doubt():
    found = stratified_prevalence([StratumCount("all", 50, 50, 20)])
    assert (found.share, found.standard_error, found.pool_recall) == (0.4, 0, 1)
    assert (found.total_interval.low, found.total_interval.high) == (20, 20)


def test_without_a_census_there_is_no_pool_recall():
    found = stratified_prevalence([StratumCount("all", 50, 10, 4)])
    assert np.isnan(found.pool_recall)


def test_standard_error_is_the_spread_over_many_draws():
    rng = np.random.default_rng(0)
    sizes, positives, drawn = [300, 2000], [120, 100], [60, 200]
    shares, errors = [], []
    for _ in range(3000):
        strata = [
            StratumCount(str(h), N, n, int(rng.hypergeometric(p, N - p, n)))
            for h, (N, p, n) in enumerate(zip(sizes, positives, drawn, strict=True))
        ]
        found = stratified_prevalence(strata)
        shares.append(found.share)
        errors.append(found.standard_error)
    assert np.mean(shares) == pytest.approx(220 / 2300, rel=0.01)
    assert np.mean(errors) == pytest.approx(np.std(shares), rel=0.05)


@pytest.mark.parametrize(
    ("strata", "reason"),
    [
        ([], "no strata"),
        ([StratumCount("h", 5, 6, 0)], "impossible"),
        ([StratumCount("h", 5, 0, 0)], "impossible"),
        ([StratumCount("h", 5, 2, 3)], "impossible"),
        ([StratumCount("h", 5, 1, 0)], "at least two"),
    ],
)
def test_impossible_strata_are_refused_by_name(strata, reason):
    with pytest.raises(ValueError, match=reason):
        stratified_prevalence(strata)


def test_weights_undo_unequal_chances():
    labels, inclusion = np.array([1, 0, 1, 0, 0]), np.array([1.0, 1.0, 0.1, 0.1, 0.1])
    found = weighted_prevalence(
        labels, inclusion, np.array([0, 0, 1, 2, 3]), np.random.default_rng(0)
    )
    assert found.share == pytest.approx(11 / 32)
    assert found.total == pytest.approx(11)
    assert found.n_represented == pytest.approx(32)
    assert found.effective_size == pytest.approx(32**2 / 302)
    assert found.interval.low <= found.share <= found.interval.high


def test_interval_is_wider_when_positives_cluster_by_query():
    labels = np.repeat([1, 0, 0, 0], 25)
    apart = weighted_prevalence(labels, np.full(100, 0.1), np.arange(100), np.random.default_rng(0))
    together = weighted_prevalence(
        labels, np.full(100, 0.1), np.repeat(np.arange(20), 5), np.random.default_rng(0)
    )
    assert apart.share == together.share
    width = apart.interval.high - apart.interval.low
    assert together.interval.high - together.interval.low > 1.7 * width


def test_bad_weights_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="equally long"):
        weighted_prevalence([], [], np.zeros(0, dtype=int), rng)
    with pytest.raises(ValueError, match="inclusion"):
        weighted_prevalence([1], [0.0], np.zeros(1, dtype=int), rng)
    with pytest.raises(ValueError, match="labels"):
        weighted_prevalence([2], [0.5], np.zeros(1, dtype=int), rng)

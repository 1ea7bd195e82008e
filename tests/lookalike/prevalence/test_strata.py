"""Stratified and weighted prevalence: the golden design, and simulation as oracle."""

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

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


def golden_ends() -> tuple[float, float]:
    """The ends of the golden strata's total, from scipy's Wilson intervals and a Poisson limit."""
    low, high = 0.0, 0.0
    for stratum in GOLDEN[1:]:
        n, share = stratum.n_sampled, stratum.n_positive / stratum.n_sampled
        wilsons = binomtest(stratum.n_positive, n).proportion_ci(method="wilson")
        least = chi2.ppf(0.05, 2) / 2 / n if stratum.n_positive == 1 else wilsons.low
        known = 1 - n / stratum.n_pairs
        low += known * (stratum.n_pairs * (share - least)) ** 2
        high += known * (stratum.n_pairs * (wilsons.high - share)) ** 2
    total = 45_920 + 6_000 + 20_000 + 105_147_830 / 1_400
    return total - low**0.5, total + high**0.5


def test_the_golden_strata_give_the_golden_estimate():
    found = stratified_prevalence(GOLDEN)
    assert found.share == pytest.approx(0.001394639, abs=1e-9)
    assert found.standard_error == pytest.approx(0.000713018, abs=1e-9)
    assert found.total == pytest.approx(147_025.6, abs=0.05)
    assert found.pool_recall == pytest.approx(0.312327, abs=1e-6)
    low, high = golden_ends()
    assert found.total_interval.low == pytest.approx(low, abs=1e-6)
    assert found.total_interval.high == pytest.approx(high, abs=1e-6)
    assert found.pool_recall_interval.low == pytest.approx(45_920 / high, abs=1e-9)


def test_a_full_census_leaves_no_doubt():
    found = stratified_prevalence([StratumCount("all", 50, 50, 20)])
    assert (found.share, found.standard_error, found.pool_recall) == (0.4, 0, 1)
    assert (found.total_interval.low, found.total_interval.high) == (20, 20)


def test_what_was_seen_is_never_below_or_above_the_interval():
    few = stratified_prevalence([StratumCount("h", 12, 10, 1)]).total_interval
    assert 1 <= few.low <= few.high <= 3
    most = stratified_prevalence([StratumCount("h", 12, 10, 9, n_undecided=1)]).total_interval
    assert 9 <= most.low <= most.high <= 12


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
    found = weighted_prevalence(labels, inclusion)
    assert found.share == pytest.approx(11 / 32)
    assert found.total == pytest.approx(11)
    assert found.n_represented == pytest.approx(32)
    assert found.effective_size == pytest.approx(32**2 / 302)


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match="equally long"):
        weighted_prevalence([], [])
    with pytest.raises(ValueError, match="inclusion"):
        weighted_prevalence([1], [0.0])
    with pytest.raises(ValueError, match="labels"):
        weighted_prevalence([2], [0.5])


def test_rare_positives_have_only_an_interval_that_covers():
    """The deepest stratum of the golden design; a bootstrap covers 67 % of such samples."""
    rng = np.random.default_rng(0)
    draws = rng.binomial(1400, 0.0007, 3000)
    n_covered = 0
    for a in draws.tolist():
        found = stratified_prevalence([*GOLDEN[:3], StratumCount("deep", 105_147_830, 1_400, a)])
        truth = 45_920 + 0.3 * 20_000 + 0.1 * 200_000 + 0.0007 * 105_147_830
        n_covered += found.total_interval.low <= truth <= found.total_interval.high
    assert n_covered / draws.size >= 0.95
    assert not hasattr(weighted_prevalence([1, 0], [1, 0.1]), "interval")


def test_undecided_pairs_bound_the_pools_recall_and_do_not_take_it_away():
    pool = StratumCount("pool", 1000, 999, 600, n_undecided=1)
    below = StratumCount("below", 9000, 198, 20, n_undecided=2)
    found = stratified_prevalence([pool, below])
    low, high = (20 / 200, 22 / 200)
    assert found.strata[1].interval.low < low < high < found.strata[1].interval.high
    decided = [
        stratified_prevalence(
            [StratumCount("pool", 1000, 1000, 600 + p), StratumCount("below", 9000, 200, 20 + b)]
        )
        for p in (0, 1)
        for b in (0, 1, 2)
    ]
    for case in decided:
        assert found.pool_recall_interval.low <= case.pool_recall_interval.low
        assert found.pool_recall_interval.high >= case.pool_recall_interval.high
    recalls = [case.pool_recall for case in decided]
    assert min(recalls) < found.pool_recall < max(recalls)

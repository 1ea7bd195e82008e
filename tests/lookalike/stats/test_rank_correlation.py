"""Rank agreement: golden case G4, scipy and slow loops as oracles, degenerate lists."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from lookalike.stats import rank_correlation_p
from lookalike.stats.rank_correlation import competition_ranks, correlations, places
from lookalike.stats.rank_correlation_p import Orders, spearman_p, spearman_p_t

TRUTH = [6, 5, 4, 3, 2, 1]


def spearman(x, y):
    return correlations(x, y).spearman


def kendall_tau_b(x, y):
    return correlations(x, y).tau_b


def tau_ap(truth, estimate):
    return correlations(truth, estimate).tau_ap


def tau_ap_b(x, y):
    return correlations(x, y).tau_ap_b


def max_drop(truth, estimate):
    return correlations(truth, estimate).max_drop


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("estimate", "tau", "rho", "ap"),
    [
        ([5, 6, 4, 3, 2, 1], 0.866667, 0.942857, 0.6),
        ([6, 5, 4, 3, 1, 2], 0.866667, 0.942857, 0.92),
        ([4, 5, 6, 3, 2, 1], 0.6, 0.771429, 0.2),
    ],
)
def test_golden_lists_have_their_golden_correlations(estimate, tau, rho, ap):
    assert kendall_tau_b(TRUTH, estimate) == pytest.approx(tau, abs=1e-6)
    assert spearman(TRUTH, estimate) == pytest.approx(rho, abs=1e-6)
    assert tau_ap(TRUTH, estimate) == pytest.approx(ap, abs=1e-6)


def test_tau_ap_reads_the_estimated_list_and_is_not_symmetric():
    estimate = [6, 3, 5, 4, 1, 2]
    assert tau_ap(TRUTH, estimate) == pytest.approx(0.653333, abs=1e-6)
    assert tau_ap(estimate, TRUTH) == pytest.approx(0.586667, abs=1e-6)
    both = (0.653333 + 0.586667) / 2
    assert tau_ap_b(TRUTH, estimate) == pytest.approx(both, abs=1e-6)
    assert tau_ap_b(estimate, TRUTH) == pytest.approx(both, abs=1e-6)


@pytest.mark.parametrize(
    ("base", "estimate", "rho", "p"),
    [
        (TRUTH, TRUTH, 1.0, 0.002778),
        (TRUTH, [5, 6, 4, 3, 2, 1], 0.942857, 0.016667),
        (TRUTH, [6, 5, 4, 1, 3, 2], 0.828571, 0.058333),
        (TRUTH, [5, 6, 3, 4, 2, 1], 0.885714, 0.033333),
        ([6, 6, 4, 3, 2, 1], [6, 5, 4, 3, 2, 1], 0.985611, 0.005556),
        ([6, 6, 4, 3, 2, 1], [6, 5, 3, 4, 2, 1], 0.927634, 0.022222),
        ([6, 6, 4, 3, 2, 1], [6, 5, 4, 1, 2, 3], 0.753702, 0.105556),
        ([6, 6, 4, 3, 2, 1], [6, 5, 3, 1, 4, 2], 0.695725, 0.144444),
    ],
)
def test_exact_p_of_six_models_is_the_golden_one(base, estimate, rho, p):
    assert spearman(base, estimate) == pytest.approx(rho, abs=1e-6)
    found = spearman_p(base, estimate, Orders.of(len(base), rng()))
    assert found.value == pytest.approx(p, abs=1e-6)
    assert (found.method, found.n_permutations) == ("exact", 720)


@pytest.mark.parametrize(("rho", "p"), [(0.828571, 0.041563), (0.942857, 0.004805)])
def test_the_t_approximation_gives_the_papers_p(rho, p):
    assert spearman_p_t(rho, 6).value == pytest.approx(p, abs=2e-6)
    assert spearman_p_t(1.0, 6).value == 0.0
    assert np.isnan(spearman_p_t(0.5, 2).value)


@pytest.mark.parametrize("seed", range(8))
def test_correlations_equal_scipy_with_and_without_ties(seed):
    draws = np.random.default_rng(seed)
    n_values = 4 if seed % 2 else 1000
    x, y = draws.integers(0, n_values, (2, 5, 12)).astype(float)
    rho, tau = spearman(x, y), kendall_tau_b(x, y)
    for b in range(5):
        assert rho[b] == pytest.approx(stats.spearmanr(x[b], y[b]).statistic, abs=1e-12)
        assert tau[b] == pytest.approx(stats.kendalltau(x[b], y[b]).statistic, abs=1e-12)


def untied_tau_ap(truth, order):
    """Yilmaz et al., down the list `order`; a tie in the truth counts half."""
    n, share = len(order), 0.0
    for i in range(1, n):
        above, own = truth[order[:i]], truth[order[i]]
        share += ((above > own).sum() + (above == own).sum() / 2) / i
    return 2 * share / (n - 1) - 1


@pytest.mark.parametrize("seed", range(6))
def test_tau_ap_is_the_mean_over_all_orders_of_tied_models(seed):
    truth, estimate = np.random.default_rng(seed).integers(0, 4, (2, 6)).astype(float)
    orders = [o for o in permutations(range(6)) if (np.diff(estimate[list(o)]) <= 0).all()]
    slow = np.mean([untied_tau_ap(truth, list(o)) for o in orders])
    assert tau_ap(truth, estimate) == pytest.approx(slow, abs=1e-12)


def one_way_b(truth, estimate):
    n, share, n_below_top = len(truth), 0.0, 0
    for i in range(n):
        above = [j for j in range(n) if estimate[j] > estimate[i]]
        if above:
            n_below_top += 1
            share += sum(truth[j] > truth[i] for j in above) / len(above)
    return 2 * share / n_below_top - 1


@pytest.mark.parametrize("seed", range(6))
def test_tau_ap_b_is_the_mean_of_both_loops_over_pivots(seed):
    x, y = np.random.default_rng(seed).integers(0, 4, (2, 8)).astype(float)
    slow = (one_way_b(x, y) + one_way_b(y, x)) / 2
    assert tau_ap_b(x, y) == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("correlation", [spearman, kendall_tau_b, tau_ap, tau_ap_b])
def test_an_all_tied_list_and_a_nan_have_no_correlation(correlation):
    assert np.isnan(correlation([1, 1, 1], [1, 2, 3]))
    assert np.isnan(correlation([1, 2, 3], [1, 1, 1]))
    assert np.isnan(correlation([1.0, np.nan, 3.0], [1, 2, 3]))
    assert np.isnan(correlation([1], [1]))
    assert correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert correlation([1, 2, 3], [30, 20, 10]) == pytest.approx(-1)
    with pytest.raises(ValueError, match="cannot be compared"):
        correlation([1, 2], [1, 2, 3])


def test_all_correlations_ignore_differences_that_only_summation_makes():
    noisy = np.array([3.0, 2.0, 2.0 + 1e-15, 1.0])
    for correlation in (spearman, kendall_tau_b, tau_ap, tau_ap_b):
        assert correlation(noisy, [4, 3, 2, 1]) == correlation([3, 2, 2, 1], [4, 3, 2, 1])
    assert competition_ranks(noisy).tolist() == [1, 2, 2, 4]


def test_exact_p_equals_counting_all_orders_of_a_list_with_ties():
    x, y = np.array([1.0, 2, 2, 4, 5]), np.array([2.0, 1, 3, 3, 5])
    rho = stats.spearmanr(x, y).statistic
    every = [stats.spearmanr(x, y[list(o)]).statistic for o in permutations(range(5))]
    exact = np.mean(np.abs(every) >= abs(rho) - 1e-9)
    assert spearman_p(x, y, Orders.of(5, rng())).value == pytest.approx(exact)


def test_many_models_get_a_seeded_permutation_p_near_the_exact_one(monkeypatch):
    x, y = np.arange(7.0), np.array([0, 2, 1, 5, 3, 4, 6.0])
    exact = spearman_p(x, y, Orders.of(7, rng())).value
    monkeypatch.setattr(rank_correlation_p, "EXACT_UP_TO", 6)
    drawn = spearman_p(x, y, Orders.of(7, rng()))
    assert drawn.method == "permutation"
    assert drawn.value == spearman_p(x, y, Orders.of(7, rng())).value
    assert drawn.value == pytest.approx(exact, abs=0.004)


def test_max_drop_is_the_largest_fall_in_competition_ranks():
    x, y = np.random.default_rng(0).integers(0, 6, (2, 30, 7)).astype(float)
    for truth, estimate, drop in zip(x, y, max_drop(x, y), strict=True):
        assert drop == max(0, *(competition_ranks(estimate) - competition_ranks(truth)))
    assert np.isnan(max_drop([1, np.nan], [1, 2]))


def test_an_undefined_value_has_no_place():
    assert places([0.5, np.nan, 0.7]) == [2, None, 1]


def test_max_drop_is_the_longest_fall_and_never_negative():
    assert max_drop(TRUTH, [1, 6, 5, 4, 3, 2]) == 5
    assert max_drop(TRUTH, TRUTH) == 0
    assert competition_ranks([0.5, 0.9, 0.5]).tolist() == [2, 1, 2]


def test_correlations_depend_on_order_alone():
    for x, y in product(([3, 1, 2, 5], [2, 2, 4, 9]), repeat=2):
        for correlation in (spearman, kendall_tau_b, tau_ap, tau_ap_b):
            value = correlation(x, y)
            assert correlation(np.exp(x), 7 * np.array(y) - 3.0) == pytest.approx(value)
            swap = [2, 0, 3, 1]
            assert correlation(np.array(x)[swap], np.array(y)[swap]) == pytest.approx(value)

"""Paired tests: golden case G4, scipy and statsmodels as oracles."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from lookalike.stats import significance
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.significance import discriminative_power, holm, paired_tests

GOLDEN = [0.2, 0.1, -0.05, 0.3, 0, 0.15, 0.05, -0.1]


def rng():
    return np.random.default_rng(0)


def sign_flip_p(differences, rng, n_permutations=10_000):
    values = np.stack([differences, np.zeros(len(differences))], axis=1)
    return significance.sign_flip_p(values, rng, n_permutations)[0, 1]


def test_golden_differences_have_their_exact_sign_flip_p():
    assert sign_flip_p(GOLDEN, rng()) == pytest.approx(0.171875, abs=1e-12)


def test_drawn_flips_come_near_the_exact_p(monkeypatch):
    monkeypatch.setattr(significance, "EXACT_UP_TO", 0)
    drawn = sign_flip_p(GOLDEN, rng(), 20_000)
    assert drawn == pytest.approx(0.171875, abs=0.01)
    assert drawn == sign_flip_p(GOLDEN, rng(), 20_000)
    assert sign_flip_p(np.full(200, 0.1), rng(), 999) == pytest.approx(1 / 1000)


def test_no_difference_at_all_is_never_significant():
    assert sign_flip_p(np.zeros(5), rng()) == 1
    assert np.isnan(sign_flip_p([], rng()))


def test_sign_flip_equals_scipys_permutation_test():
    d = np.random.default_rng(5).normal(0.3, 1, 9)
    oracle = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert sign_flip_p(d, rng()) == pytest.approx(oracle, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_holm_equals_statsmodels(seed):
    p = np.random.default_rng(seed).random(13) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-15)


def test_holm_leaves_undefined_values_out_of_the_count():
    assert holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


def test_paired_tests_use_the_queries_that_all_models_define():
    values = np.random.default_rng(1).random((3, 12))
    values[:, 4] = np.nan
    values[1, 7] = np.nan
    resampling = Resampling.of(12, n_bootstraps=300, rng=rng())
    found = paired_tests("auc", ["a", "b", "c"], values, resampling)
    kept = np.delete(values, [4, 7], axis=1)
    assert [(t.first, t.second) for t in found.tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    for t, (i, j) in zip(found.tests, [(0, 1), (0, 2), (1, 2)], strict=True):
        d = kept[i] - kept[j]
        assert t.n_queries == 10
        assert t.difference == pytest.approx(d.mean())
        assert t.p == pytest.approx(sign_flip_p(d, rng()), abs=1e-12)
        assert t.p_t == pytest.approx(stats.ttest_rel(kept[i], kept[j]).pvalue)
        assert t.effect_size == pytest.approx(d.mean() / d.std(ddof=1))
        assert t.interval.low < t.difference < t.interval.high
    raw = [t.p for t in found.tests]
    assert [t.p_holm for t in found.tests] == pytest.approx(holm(raw))


def test_the_golden_paired_t_stands_beside_the_sign_flip():
    values = np.array([GOLDEN, np.zeros(8)])
    test = paired_tests("x", ["a", "b"], values, Resampling.of(8, n_bootstraps=0, rng=rng())).tests[
        0
    ]
    assert test.p_t == pytest.approx(0.128762, abs=1e-6)
    assert np.isnan(test.interval.low)


def test_discriminative_power_is_the_share_of_separated_pairs():
    assert discriminative_power([0.01, 0.2, 0.04, 0.05]) == 0.5
    assert np.isnan(discriminative_power([]))
    rng_ = np.random.default_rng(2)
    clear = np.stack([rng_.random(200) + shift for shift in (0, 1, 2)])
    found = paired_tests("x", "abc", clear, Resampling.of(200, n_bootstraps=50, rng=rng()))
    assert found.discriminative_power == found.discriminative_power_holm == 1
    nothing = paired_tests("x", "ab", np.full((2, 4), np.nan), found_none())
    assert nothing.tests == ()
    assert np.isnan(nothing.discriminative_power)


def found_none():
    return Resampling.of(4, n_bootstraps=10, rng=rng())


@pytest.mark.parametrize("p", [1.5, -1.0])
def test_what_is_no_p_value_is_not_adjusted(p):
    with pytest.raises(ValueError, match="below 0 or above 1"):
        holm([0.01, p, np.nan])

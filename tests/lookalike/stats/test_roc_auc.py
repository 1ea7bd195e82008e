"""ROC-AUC and average precision: goldens, scikit-learn as oracle, properties."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from lookalike.metrics.micro import micro_split
from lookalike.stats.defined_values import mean_defined
from lookalike.stats.roc_auc import auc_and_ap, micro_auc_and_ap

# Golden case G1: ties, one-class queries, negative scores.
G1_QUERIES = [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4]
G1_LABELS = [1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0]
G1_SCORES = [0.9, 0.8, 0.8, 0.3, 0.1, 0.4, 0.2, 0.5, 0.4, 0.3, 0.5, 0.5, 0.5, -0.2, 0.6, 0.6, -0.7]


def random_case(seed, n_models=3, n_pairs=400, n_queries=30, n_values=9):
    """Random pairs with many ties, one-class queries and queries without any pair."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, n_queries, n_pairs)
    queries[queries == 4] = 5
    labels = (rng.random(n_pairs) < rng.random(n_queries)[queries]).astype(int)
    labels[queries == 0], labels[queries == 1] = 1, 0
    scores = rng.integers(-n_values, n_values, (n_models, n_pairs)) / 7
    return scores, labels, queries, n_queries


def by_loop(scores, labels, queries, n_queries, weights):
    """The slow way: scikit-learn for one query at a time."""
    auc, ap = np.full((2, len(scores), len(weights), n_queries), np.nan)
    for m, s in enumerate(scores):
        for g, w in enumerate(weights):
            for q in range(n_queries):
                k = (queries == q) & (w > 0)
                if np.unique(labels[k]).size == 2:
                    auc[m, g, q] = roc_auc_score(labels[k], s[k], sample_weight=w[k])
                    ap[m, g, q] = average_precision_score(labels[k], s[k], sample_weight=w[k])
    return auc, ap


def test_the_golden_case_with_ties_and_one_class_queries():
    result = auc_and_ap([G1_SCORES], G1_LABELS, G1_QUERIES, 5)
    nan = np.nan
    np.testing.assert_allclose(result.auc[0, 0], [0.583333, nan, nan, 0.5, 0.625], atol=1e-6)
    np.testing.assert_allclose(
        result.average_precision[0, 0], [0.755556, nan, nan, 0.333333, 0.583333], atol=1e-6
    )
    mean, n_defined = mean_defined(result.auc)
    assert mean[0, 0] == pytest.approx(0.569444, abs=1e-6)
    assert n_defined[0, 0] == 3
    assert mean_defined(result.average_precision)[0][0, 0] == pytest.approx(0.557407, abs=1e-6)


def test_the_golden_case_over_all_pairs():
    micro = micro_auc_and_ap([G1_SCORES], G1_LABELS)
    assert micro.auc[0, 0, 0] == pytest.approx(0.513889, abs=1e-6)
    assert micro.average_precision[0, 0, 0] == pytest.approx(0.570112, abs=1e-6)


def test_the_golden_case_splits_into_within_and_across_queries():
    per_query = auc_and_ap([G1_SCORES], G1_LABELS, G1_QUERIES, 5)
    split = micro_split(per_query, micro_auc_and_ap([G1_SCORES], G1_LABELS))
    assert split.within[0, 0] == pytest.approx(0.583333, abs=1e-6)
    assert split.cross[0, 0] == pytest.approx(0.5, abs=1e-6)
    assert split.share[0] == pytest.approx(0.166667, abs=1e-6)


def test_a_weighted_pair_counts_as_often_as_its_weight():
    result = auc_and_ap([[0.9, 0.8, 0.4, 0.3]], [1, 0, 1, 0], [0] * 4, 1, [[1, 2, 1, 1]])
    assert result.auc[0, 0, 0] == pytest.approx(0.666667, abs=1e-6)
    assert result.average_precision[0, 0, 0] == pytest.approx(0.75)
    assert (result.n_positive[0, 0], result.n_negative[0, 0]) == (2, 3)


def test_ties_count_as_one_group_whatever_their_order():
    labels, scores = np.array([1, 1, 0, 0, 1]), np.array([0.9, 0.8, 0.8, 0.3, 0.1])
    for order in ([0, 1, 2, 3, 4], [0, 2, 1, 3, 4], [4, 3, 2, 1, 0]):
        result = auc_and_ap([scores[order]], labels[order], [0] * 5, 1)
        assert result.average_precision[0, 0, 0] == pytest.approx(0.755556, abs=1e-6)
        assert result.auc[0, 0, 0] == pytest.approx(0.583333, abs=1e-6)


def test_a_constant_scorer_gets_chance_and_prevalence():
    result = auc_and_ap([[0.3] * 5], [1, 0, 0, 1, 0], [0] * 5, 1)
    assert result.auc[0, 0, 0] == 0.5
    assert result.average_precision[0, 0, 0] == pytest.approx(0.4)


@pytest.mark.parametrize("seed", range(3))
def test_every_value_equals_scikit_learn_on_each_query(seed):
    scores, labels, queries, n_queries = random_case(seed)
    rng = np.random.default_rng(seed + 100)
    weights = np.stack(
        [
            np.ones(labels.size),
            (rng.random(labels.size) < 0.6).astype(float),
            rng.integers(0, 3, labels.size).astype(float),
            rng.random(labels.size) * 40,
        ]
    )
    result = auc_and_ap(scores, labels, queries, n_queries, weights)
    auc, ap = by_loop(scores, labels, queries, n_queries, weights)
    assert np.isnan(auc).any()
    np.testing.assert_allclose(result.auc, auc, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.average_precision, ap, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_micro_values_equal_scikit_learn_over_all_pairs(seed):
    scores, labels, _, _ = random_case(seed)
    weights = np.random.default_rng(seed).random((2, labels.size))
    micro = micro_auc_and_ap(scores, labels, weights)
    for m, s in enumerate(scores):
        for g, w in enumerate(weights):
            auc = roc_auc_score(labels, s, sample_weight=w)
            ap = average_precision_score(labels, s, sample_weight=w)
            assert micro.auc[m, g, 0] == pytest.approx(auc, abs=1e-12)
            assert micro.average_precision[m, g, 0] == pytest.approx(ap, abs=1e-12)


def test_fractional_weights_stay_exact_after_many_queries():
    rng = np.random.default_rng(0)
    queries = np.repeat(np.arange(3000), 12)
    labels, scores = np.tile([1, 0], 18000), rng.random((1, 36000))
    weights = rng.random((1, 36000)) * 1000
    whole = auc_and_ap(scores, labels, queries, 3000, weights)
    last = slice(-12, None)
    alone = auc_and_ap(scores[:, last], labels[last], [0] * 12, 1, weights[:, last])
    assert whole.auc[0, 0, -1] == pytest.approx(alone.auc[0, 0, 0], abs=1e-13)
    expected = alone.average_precision[0, 0, 0]
    assert whole.average_precision[0, 0, -1] == pytest.approx(expected, abs=1e-13)


def wins_between_queries(scores, labels, queries, n_queries):
    """Return U[a, b]: how many positives of query a beat negatives of query b, a tie half."""
    U = np.zeros((n_queries, n_queries))
    for i in np.flatnonzero(labels == 1):
        for j in np.flatnonzero(labels == 0):
            U[queries[i], queries[j]] += (scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j])
    return U


def test_the_split_agrees_with_the_wins_between_each_two_queries():
    scores, labels, queries, n_queries = random_case(5)
    per_query, micro = (
        auc_and_ap(scores, labels, queries, n_queries),
        micro_auc_and_ap(scores, labels),
    )
    split = micro_split(per_query, micro)
    U = wins_between_queries(scores[1], labels, queries, n_queries)
    n_within = (per_query.n_positive * per_query.n_negative).sum()
    total = micro.n_positive[0, 0] * micro.n_negative[0, 0]
    assert U.sum() / total == pytest.approx(micro.auc[1, 0, 0], abs=1e-12)
    assert split.within[1, 0] == pytest.approx(np.trace(U) / n_within)
    assert split.cross[1, 0] == pytest.approx((U.sum() - np.trace(U)) / (total - n_within))


def test_a_missing_score_stands_below_every_other():
    scores = [[0.2, -np.inf, -5.0, -np.inf]]
    result = auc_and_ap(scores, [1, 1, 0, 0], [0] * 4, 1)
    assert result.auc[0, 0, 0] == pytest.approx(roc_auc_score([1, 1, 0, 0], [0.2, -9, -5, -9]))


def test_no_pairs_at_all_is_undefined_everywhere():
    result = auc_and_ap(np.zeros((2, 0)), [], np.zeros(0, dtype=int), 3)
    assert result.auc.shape == (2, 1, 3)
    assert np.isnan(result.auc).all()
    assert not result.n_positive.any()


def test_scores_a_billionth_apart_are_not_a_tie():
    assert auc_and_ap([[0.5 + 1e-9, 0.5]], [1, 0], [0, 0], 1).auc[0, 0, 0] == 1.0


def test_small_unsigned_scores_do_not_wrap_around():
    scores = np.array([[3, 0, 7]], dtype=np.uint8)
    assert auc_and_ap(scores, [1, 0, 1], [0, 0, 0], 1).auc[0, 0, 0] == 1.0


@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-50, 50))
@settings(max_examples=40, deadline=None)
def test_neither_order_nor_scale_of_scores_matters(seed, factor, shift):
    scores, labels, queries, n_queries = random_case(seed, 1, 60, 8)
    before = auc_and_ap(scores, labels, queries, n_queries)
    shuffled = np.random.default_rng(seed).permutation(labels.size)
    after = auc_and_ap(
        np.round(scores[:, shuffled] * 7) * factor + shift,
        labels[shuffled],
        queries[shuffled],
        n_queries,
    )
    np.testing.assert_allclose(after.auc, before.auc, atol=1e-12)
    np.testing.assert_allclose(after.average_precision, before.average_precision, atol=1e-12)


def test_turning_the_scores_round_turns_the_area_round():
    scores, labels, queries, n_queries = random_case(11)
    there = auc_and_ap(scores, labels, queries, n_queries).auc
    back = auc_and_ap(-scores, labels, queries, n_queries).auc
    np.testing.assert_allclose(there + back, np.where(np.isnan(there), np.nan, 1.0), atol=1e-12)


def test_no_warning_escapes_from_undefined_queries():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        auc_and_ap([[0.1, 0.2]], [1, 1], [0, 1], 4, [[0, 1]])


def test_a_mean_of_nothing_is_undefined_with_count_zero():
    mean, n_defined = mean_defined([[np.nan, np.nan], [1.0, np.nan]])
    assert np.isnan(mean[0])
    assert mean[1] == 1.0
    assert n_defined.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [[0.1, np.nan]]}, "NaN"),
        ({"scores": [[0.1, np.inf]]}, r"\+inf"),
        ({"scores": [0.1, 0.2]}, "n_models, n_pairs"),
        ({"labels": [0, 2]}, "0 or 1"),
        ({"labels": [0, 1, 1]}, "n_models, n_pairs"),
        ({"queries": [0, 3]}, r"\[0, 3\)"),
        ({"queries": [-1, 0]}, r"\[0, 3\)"),
        ({"queries": [0.0, 1.0]}, "integers"),
        ({"weights": [[1, -1]]}, "not negative"),
        ({"weights": [[1, np.nan]]}, "finite"),
        ({"weights": [1, 1]}, "n_subsets"),
    ],
)
def test_bad_arrays_are_refused_with_the_reason(change, message):
    good = {"scores": [[0.1, 0.2]], "labels": [0, 1], "queries": [0, 1], "n_queries": 3}
    with pytest.raises(ValueError, match=message):
        auc_and_ap(**(good | change))

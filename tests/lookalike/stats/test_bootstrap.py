"""Bootstrap over queries: repeating queries by hand is the oracle."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lookalike.stats.bootstrap import (
    Resampling,
    bootstrap_means,
    percentile_interval,
    query_counts,
)
from lookalike.stats.bootstrap_micro import bootstrap_micro_aucs


def bootstrap_micro_auc(scores, labels, queries, counts):
    everything = np.ones((1, len(labels)), dtype=bool)
    return bootstrap_micro_aucs(scores, labels, queries, counts, everything)[:, 0]


def test_every_sample_draws_as_many_queries_as_there_are():
    counts = query_counts(7, 50, np.random.default_rng(0))
    assert counts.shape == (50, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert (counts != counts[0]).any()
    assert (counts == query_counts(7, 50, np.random.default_rng(0))).all()
    assert query_counts(0, 3, np.random.default_rng(0)).shape == (3, 0)


def test_means_equal_those_of_repeated_queries_and_skip_nan():
    rng = np.random.default_rng(1)
    values = rng.random((6, 2, 3))
    values[2] = np.nan
    counts = query_counts(6, 20, rng)
    means = bootstrap_means(values, counts)
    for b, c in enumerate(counts.astype(int)):
        repeated = np.repeat(values, c, axis=0)
        assert means[b] == pytest.approx(np.nanmean(repeated, axis=0), abs=1e-12)


def test_a_sample_without_a_defined_query_is_nan():
    counts = np.array([[2.0, 0.0], [0.0, 2.0]])
    assert bootstrap_means([[np.nan], [0.5]], counts)[:, 0] == pytest.approx(
        [np.nan, 0.5], nan_ok=True
    )


@pytest.mark.parametrize("n_values", [5, 10_000])
def test_micro_auc_of_a_sample_equals_sklearn_on_repeated_pairs(n_values):
    rng = np.random.default_rng(2)
    queries = rng.integers(0, 12, 300)
    labels = (rng.random(300) < 0.7).astype(float)
    scores = rng.integers(-n_values, n_values, 300) / 7
    counts = query_counts(12, 130, rng)
    found = bootstrap_micro_auc(scores, labels, queries, counts)
    for b, c in enumerate(counts.astype(int)):
        times = c[queries]
        assert found[b] == pytest.approx(
            roc_auc_score(np.repeat(labels, times), np.repeat(scores, times)), abs=1e-12
        )


@pytest.mark.parametrize("n_values", [5, 10_000])
def test_micro_auc_of_parts_equals_that_of_their_pairs_alone(n_values):
    rng = np.random.default_rng(4)
    queries = rng.integers(0, 9, 200)
    labels = (rng.random(200) < 0.4).astype(float)
    scores = rng.integers(-n_values, n_values, 200) / 3
    kept = rng.random((4, 200)) < [[0.95], [0.6], [0.1], [0.0]]
    counts = query_counts(9, 140, rng)
    found = bootstrap_micro_aucs(scores, labels, queries, counts, kept)
    for g, part in enumerate(kept):
        alone = bootstrap_micro_auc(scores[part], labels[part], queries[part], counts)
        assert found[:, g] == pytest.approx(alone, abs=1e-12, nan_ok=True)


def test_micro_auc_of_a_sample_with_one_class_is_nan():
    counts = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    found = bootstrap_micro_auc(
        np.array([0.9, 0.1]), np.array([1.0, 0.0]), np.array([0, 1]), counts
    )
    assert found == pytest.approx([np.nan, np.nan, 1.0], nan_ok=True)


def test_interval_holds_the_middle_of_the_samples():
    interval = percentile_interval(np.arange(1001) / 1000, 0.9)
    assert (interval.low, interval.high) == pytest.approx((0.05, 0.95))
    mostly_undefined = [0.5] * 4 + [np.nan] * 6
    assert np.isnan(percentile_interval(mostly_undefined).low)
    assert np.isnan(percentile_interval([]).high)


def test_interval_of_a_mean_covers_the_truth_about_as_often_as_promised():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        values = rng.random((60, 1))
        resampling = Resampling.of(60, n_bootstraps=200, rng=rng)
        interval = resampling.interval(bootstrap_means(values, resampling.counts)[:, 0])
        covered += interval.low <= 0.5 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99

"""Bootstrap over queries: repeating queries by hand is the oracle."""

import numpy as np
import pytest

from lookalike.stats.bootstrap import bootstrap_means, query_counts


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

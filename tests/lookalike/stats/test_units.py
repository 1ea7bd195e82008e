"""Queries that share a product: they count once in intervals, tests and bootstrap samples."""

import numpy as np
import pytest

from lookalike.stats.bootstrap import Resampling, query_counts
from lookalike.stats.intervals import FEW_UNITS, LEAST_QUERIES, mean_interval
from lookalike.stats.significance import paired_tests
from lookalike.stats.units import Units, sample_words, unit_spread

UNEQUAL = np.repeat(np.arange(14), [1, 1, 2, 5, 3, 1, 1, 4, 2, 2, 1, 6, 1, 3])


def groups_of(size, n_units):
    return Units(np.repeat(np.arange(n_units), size))


def test_queries_without_a_product_are_units_of_their_own():
    units = Units.of(["a", "b", "c", "d", "P"], {"a": "P", "b": "P", "c": "", "P": ""})
    assert units.codes.tolist() == [0, 0, 1, 2, 3]
    assert units.are_shared
    assert units.count() == 4
    assert units.count(np.array([True, True, False, False, False])) == 1
    assert not Units.of(["a", "b"], None).are_shared


def test_sample_sizes_name_the_unit_only_where_queries_share_one():
    assert sample_words(100, 75) == "100 queries of 75 products"
    assert sample_words(100, 100) == sample_words(100, None) == "100 queries"
    assert "75" in sample_words(100, 75, "series")


def test_the_clustered_error_and_its_freedom_equal_the_matrices_of_the_source():
    values = np.random.default_rng(3).random(UNEQUAL.size) + 0.3 * (UNEQUAL % 3)
    found = unit_spread(values, UNEQUAL)
    n, n_units = values.size, int(UNEQUAL.max()) + 1
    inside = np.equal.outer(np.arange(n_units), UNEQUAL).astype(float)
    share = inside.sum(axis=1) / n
    residual = np.eye(n) - 1.0 / n
    variance = sum(
        (row @ residual @ values) ** 2 / (1.0 - h) for row, h in zip(inside, share, strict=True)
    )
    assert found.error == pytest.approx(variance**0.5 / n, rel=1e-12)
    assert found.mean == pytest.approx(values.mean())
    centred = values - values.mean()
    products = sum(
        centred[i] * centred[j]
        for i in range(n)
        for j in range(n)
        if i != j and UNEQUAL[i] == UNEQUAL[j]
    )
    sizes = inside.sum(axis=1)
    rho = np.clip(products / (sizes * (sizes - 1)).sum() / (centred**2).mean(), 0.0, 1.0)
    covariance = np.where(np.equal.outer(UNEQUAL, UNEQUAL), rho, 0.0)
    np.fill_diagonal(covariance, 1.0)
    lines = np.stack(
        [row @ residual / np.sqrt(1.0 - h) for row, h in zip(inside, share, strict=True)]
    )
    form = lines @ covariance @ lines.T
    assert found.freedom == pytest.approx(np.trace(form) ** 2 / (form @ form).trace(), rel=1e-9)


def test_a_unit_each_gives_the_usual_standard_error():
    values = np.random.default_rng(0).random(30)
    alone, each = unit_spread(values), unit_spread(values, np.arange(30))
    assert alone == each
    assert alone.error == pytest.approx(values.std(ddof=1) / 30**0.5)
    assert alone.freedom == 29


def test_a_bootstrap_draws_all_queries_of_a_unit_together():
    counts = query_counts(UNEQUAL.size, 50, np.random.default_rng(0), Units(UNEQUAL))
    first = np.unique(UNEQUAL, return_index=True)[1]
    assert (counts == counts[:, first][:, UNEQUAL]).all()
    assert (counts[:, first].sum(axis=1) == 14).all()
    with pytest.raises(ValueError, match="do not fit"):
        query_counts(3, 5, np.random.default_rng(0), Units(UNEQUAL))


def covered(size, n_queries, n_worlds=800):
    """Return how often intervals of means and differences hold the truth, and how many stand."""
    rng = np.random.default_rng([size, n_queries])
    units = groups_of(size, n_queries // size)
    counts = query_counts(n_queries, 400, rng, units)
    held = []
    for _ in range(n_worlds):
        ease = rng.beta(1, 2, n_queries // size)[units.codes]
        hits = rng.binomial(5, ease) / 5
        other = rng.binomial(5, ease * 0.7) / 5
        truths = (1 / 3, 0.1)
        ends = (
            mean_interval(hits, groups=units.codes),
            Resampling(counts, rng, units=units).differences((hits - other)[:, None])[0],
        )
        held.append(
            [
                e.low <= t <= e.high if e.is_defined else np.nan
                for e, t in zip(ends, truths, strict=True)
            ]
        )
    return np.nanmean(held, axis=0), (~np.isnan(held)).mean(axis=0)


@pytest.mark.parametrize(("size", "n_queries"), [(2, 20), (2, 50), (4, 48), (4, 100)])
def test_intervals_over_queries_that_share_a_product_hold_the_truth(size, n_queries):
    (mean, difference), (n_means, n_differences) = covered(size, n_queries)
    assert 0.93 <= mean <= 0.975
    assert n_means == 1
    if n_differences > 0.1:
        assert 0.925 <= difference <= 0.98
    assert n_differences > 0.9 or n_queries // size < 20


def test_fewer_than_ten_products_have_no_interval_however_many_queries():
    units = groups_of(10, LEAST_QUERIES - 1)
    values = np.random.default_rng(0).random(90)
    found = mean_interval(values, groups=units.codes)
    assert not found.is_defined
    assert found.reason == FEW_UNITS
    resampling = Resampling.of(90, n_bootstraps=50, rng=np.random.default_rng(0), units=units)
    for is_yes_no in (False, True):
        [blank] = resampling.differences(np.sign(values - 0.5)[:, None], is_yes_no=is_yes_no)
        assert blank.reason == FEW_UNITS


@pytest.mark.parametrize("size", [2, 4])
def test_sign_flips_by_product_err_in_about_one_of_twenty(size):
    rng = np.random.default_rng(size)
    n_units, n_worlds = 24, 400
    units = groups_of(size, n_units)
    resampling = Resampling.of(
        n_units * size, n_bootstraps=0, rng=rng, n_permutations=400, units=units
    )
    wrong = {True: 0, False: 0}
    for _ in range(n_worlds):
        values = rng.normal(size=(2, n_units))[:, units.codes]  # photos of a product fare alike
        for by_product in wrong:
            chosen = resampling if by_product else Resampling(resampling.counts, rng, 0.95, 400)
            [test] = paired_tests("x", "ab", values, chosen).tests
            wrong[by_product] += test.p < 0.05
    assert wrong[True] / n_worlds < 0.08
    assert wrong[False] / n_worlds > 0.12


def test_a_test_names_its_queries_and_units():
    units = Units(UNEQUAL)
    values = np.random.default_rng(1).random((2, UNEQUAL.size))
    resampling = Resampling.of(
        UNEQUAL.size, n_bootstraps=20, rng=np.random.default_rng(0), units=units
    )
    [test] = paired_tests("x", "ab", values, resampling).tests
    assert (test.n_queries, test.n_units, test.unit) == (UNEQUAL.size, 14, "product")
    assert test.sample == f"{UNEQUAL.size} queries of 14 products"
    values[0, UNEQUAL == 3] = np.nan
    [test] = paired_tests("x", "ab", values, resampling).tests
    assert (test.n_queries, test.n_units) == (UNEQUAL.size - 5, 13)


def test_yes_no_differences_of_photos_are_as_wide_as_those_of_their_products():
    rng = np.random.default_rng(0)
    products = rng.choice([-1.0, 0.0, 1.0], 40, p=[0.1, 0.6, 0.3])

    def width(size):
        units = groups_of(size, 40)
        resampling = Resampling.of(40 * size, n_bootstraps=10, rng=rng, units=units)
        [found] = resampling.differences(products[units.codes][:, None], is_yes_no=True)
        return found.high - found.low

    assert width(4) == pytest.approx(width(1), rel=0.1)

"""An approximate index: what it finds, what it may miss, and what it says of that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as pace
from hypothesis import strategies as st

from jobs.services import JobError, run_here
from lookalike.pooling.query_rule import QueryRule
from lookalike.search.approximate import IndexTooLargeError, approximate_top_k, recall
from lookalike.search.exact import top_k
from lookalike.search.filters import Filters, Keys
from lookalike.search.topk import TopK
from pooling.models import Index, PoolSource
from pooling.sources.fill import run_source
from tests.catalogs import MODELS, catalog_of_photos


def clustered(rng: np.random.Generator, n: int, dim: int = 24) -> np.ndarray:
    """Unit vectors around some centres, as pictures of products are."""
    centres = rng.standard_normal((max(1, n // 30), dim))
    rows = centres[rng.integers(0, len(centres), n)] + 0.5 * rng.standard_normal((n, dim))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def rules(rng: np.random.Generator, n_queries: int, n: int) -> Filters:
    own = rng.permutation(n)[:n_queries]
    product, kind = rng.integers(0, max(1, n // 4), n), rng.integers(0, 3, n)
    return Filters(
        own=own,
        apart=[Keys(queries=product[own], catalog=product)],
        alike=[Keys(queries=kind[own], catalog=kind)],
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_it_finds_most_of_the_exact_candidates_with_the_exact_scores(dtype):
    rng = np.random.default_rng(0)
    catalog = clustered(rng, 4000).astype(dtype)
    filters = rules(rng, 50, 4000)
    queries = catalog[filters.own].astype(np.float32)
    exact = top_k(queries, catalog, 10, filters=filters)
    found = approximate_top_k(queries, catalog, 10, filters=filters, seed=1)
    assert found.n_probed < found.n_lists
    assert 0.8 < recall(found.nearest, exact).mean() <= 1
    of_exact = {
        (query, row): score
        for query in range(50)
        for row, score in zip(exact.indices[query], exact.scores[query], strict=True)
    }
    shared = 0
    for query in range(50):
        pairs = zip(found.nearest.indices[query], found.nearest.scores[query], strict=True)
        for row, score in pairs:
            if (query, row) in of_exact:
                shared += 1
                assert score == of_exact[query, row]
    assert shared > 400
    assert (np.diff(found.nearest.scores, axis=1) <= 0).all()


@pace(deadline=None)  # kernels are compiled at the first call
@given(st.integers(0, 2**31), st.integers(2, 300), st.integers(1, 8))
def test_every_query_gets_its_k_and_nothing_that_is_ruled_out(seed, n, k):
    rng = np.random.default_rng(seed)
    catalog, filters = clustered(rng, n), rules(rng, min(n, 7), n)
    queries, k = catalog[filters.own], min(k, n)
    exact = top_k(queries, catalog, k, filters=filters)
    found = approximate_top_k(queries, catalog, k, filters=filters, seed=seed).nearest
    assert ((found.indices >= 0).sum(axis=1) == (exact.indices >= 0).sum(axis=1)).all()
    arrays = filters.arrays(len(queries), n)
    for query, row in zip(*np.nonzero(found.indices >= 0), strict=True):
        image = found.indices[query, row]
        assert image != arrays.own[query]
        assert arrays.catalog[image, 0] != arrays.queries[query, 0]
        assert arrays.catalog[image, 1] == arrays.queries[query, 1]


def test_a_deeper_list_begins_as_the_shorter_one():
    catalog = clustered(np.random.default_rng(2), 3000).astype(np.float16)
    queries, nothing = catalog[:40].astype(np.float32), Filters(own=np.arange(40))
    short = approximate_top_k(queries, catalog, 5, filters=nothing, seed=3).nearest
    deep = approximate_top_k(queries, catalog, 20, filters=nothing, seed=3).nearest
    assert (deep.indices[:, :5] == short.indices).all()
    assert (deep.scores[:, :5] == short.scores).all()


def test_an_index_larger_than_its_memory_is_refused_with_what_it_needs():
    catalog = np.ones((4000, 64), np.float32)
    with pytest.raises(IndexTooLargeError, match="4,000 vectors of 64 numbers needs 1 MiB, and 1"):
        approximate_top_k(catalog[:2], catalog, 3, filters=Filters(), memory_mib=1)


def test_recall_by_hand():
    exact = TopK(np.array([[1, 2], [3, -1], [-1, -1]]), np.zeros((3, 2), np.float32))
    found = TopK(np.array([[2, 9], [3, 4], [5, 6]]), np.zeros((3, 2), np.float32))
    assert recall(found, exact).tolist() == [0.5, 1, 1]


def propose(source: PoolSource):
    return run_here(
        task="t",
        subject=f"source {source.pk}",
        title="t",
        arguments={},
        work=lambda progress: run_source(source_id=source.pk, progress=progress),
    )


@pytest.mark.django_db
def test_a_pool_by_an_index_measures_and_shows_its_recall(pool_of, client, researcher):
    catalog = catalog_of_photos(40)
    pool = pool_of(catalog=catalog, specs=MODELS[:1], k=4, rule=QueryRule(n=12), index=Index.IVF)
    source = pool.sources.get()
    assert propose(source).state == "succeeded"
    source.refresh_from_db()
    assert source.n_proposals == 48
    assert source.recall["n_sampled"] == 12
    assert source.recall["k"] == 4
    assert source.recall["mean"] == 1  # forty pictures make one list, so nothing is missed
    client.force_login(researcher)
    page = client.get(f"/pools/{pool.slug}/").content.decode()
    assert "it finds 100.0% of the 4 exact candidates" in page.replace(" %", "%")
    assert "Approximate: an inverted-file index" in page


@pytest.mark.django_db
def test_an_index_that_does_not_fit_fails_with_what_to_do(pool_of, settings):
    settings.INDEX_MEMORY_MIB = 0
    pool = pool_of(catalog=catalog_of_photos(8), specs=MODELS[:1], index=Index.IVF)
    with pytest.raises(JobError, match="Raise INDEX_MEMORY_MIB"):
        propose(pool.sources.get())
    assert not pool.proposals.exists()


@pytest.mark.django_db
def test_an_exact_pool_says_nothing_of_recall(pool_of):
    pool = pool_of(catalog=catalog_of_photos(8), specs=MODELS[:1])
    propose(pool.sources.get())
    assert pool.sources.get().recall == {}

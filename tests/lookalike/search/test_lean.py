"""The lean search gives what the fast one gives, without what that loads."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from lookalike.search import exact, numpy_search
from lookalike.search.filters import Filters, Keys
from tests.paths import ROOT


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> object:
    """Cut queries and catalog into several blocks."""
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (("_ROWS", 7), ("_QUERIES", 3), ("_SPARE", 2), ("_PAIRS", 11)):
            patch.setattr(numpy_search, name, size)
        yield


@given(some.integers(0, 2**32 - 1), some.integers(1, 40), some.integers(1, 9), some.booleans())
def test_it_ranks_as_the_fast_search_does(seed: int, n: int, k: int, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(5, 6)).astype(np.float32)
    catalog = rng.normal(size=(n, 6)).astype(np.float32)
    if coarse:  # whole numbers: sums are exact in any order, and many are equal
        queries, catalog = np.round(queries), np.round(catalog)
    products, kinds = rng.integers(-1, 4, n), rng.integers(-1, 3, n)
    filters = Filters(
        own=rng.integers(-1, n, 5),
        apart=[Keys(rng.integers(-1, 4, 5), products)],
        alike=[Keys(rng.integers(-1, 3, 5), kinds)] if seed % 2 else [],
    )
    k = min(k, n)
    slow = numpy_search.top_k(queries, catalog, k, filters=filters)
    fast = exact.top_k(queries, catalog, k, filters=filters)
    assert (slow.indices < 0).tolist() == (fast.indices < 0).tolist()
    if coarse:
        assert slow.indices.tolist() == fast.indices.tolist()
    np.testing.assert_allclose(slow.scores, fast.scores, rtol=1e-5, atol=1e-6)


def test_more_equal_images_than_are_kept_are_ranked_by_row() -> None:
    catalog = np.ones((30, 4), np.float32)
    found = numpy_search.top_k(catalog[:1], catalog, 3, filters=Filters(own=np.array([1])))
    assert found.indices.tolist() == [[0, 2, 3]]


def test_bad_input_is_named() -> None:
    rows = np.ones((4, 2), np.float32)
    with pytest.raises(ValueError, match="between 1 and 4"):
        numpy_search.top_k(rows, rows, 5)
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        numpy_search.top_k(np.ones((1, 2), np.float32), rows, 2)
    assert numpy_search.top_k(rows[:0], rows, 2).indices.shape == (0, 2)


def test_neither_torch_nor_numba_is_loaded() -> None:
    code = (
        "import sys, numpy as np;"
        "from lookalike.metrics.embedding_runs import Gallery, embedding_run;"
        "rows = np.eye(3, dtype='f4'); none = np.zeros(0, int); apart = -np.ones(3, int);"
        "asked = Gallery('abc', 'abc', np.arange(3), apart, apart, none, none);"
        "run = embedding_run('m', rows, rows, asked, is_lean=True); assert len(run.scores) == 6;"
        "raise SystemExit(len({'torch', 'numba'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0

"""The lean search gives what the fast one gives, without what that loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import lookalike as lk
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


def test_a_plain_install_searches_without_torch_and_numba(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys; sys.modules |= dict(torch=None, numba=None)"
    )
    np.savez(
        tmp_path / "v.npz", ids=["a", "b", "c"], vectors=np.array([[1, 0], [0, 1], [3, 4]], "f4")
    )
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", "search", "--catalog", tmp_path / "v.npz", "-k", "1"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line.split(",")[:2] for line in done.stdout.split()[1:]] == [
        ["a", "c"], ["b", "c"], ["c", "b"],
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int32])
def test_vectors_of_any_kind_have_the_cosines_of_float32(kind: type) -> None:
    rows = np.array([[300, 0], [0, 300], [180, 240]])
    table = lk.VectorTable(["a", "b", "c"], rows.astype(kind))
    found = lk.nearest_images(table, table, 1)
    assert list(found.candidates) == ["c", "c", "b"]
    np.testing.assert_allclose(found.scores, [0.6, 0.8, 0.8], rtol=1e-6)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (np.full((2, 2), 1e30, np.float32), "query row 0 is too long or too short for cosines"),
        (np.full((2, 2), 1e-30, np.float32), "query row 0 is too long or too short for cosines"),
        (np.array([[1, 1], [0, 0]], np.float32), "query row 1 has length 0"),
        (np.array([[1, 1], [0, np.nan]], np.float32), "query row 1 holds NaN"),
        (np.ones((2, 2), np.complex64), "real numbers, not complex64"),
        (np.ones((2, 0), np.float32), r"shape \(n, d\)"),
    ],
)
def test_vectors_without_cosine_are_refused_by_name(rows: np.ndarray, reason: str) -> None:
    table = lk.VectorTable(["a", "b"], rows)
    with pytest.raises(ValueError, match=reason):
        lk.nearest_images(table, table, 1)


def test_what_cannot_be_searched_is_named() -> None:
    rows = np.ones((2, 2), np.float32)
    with pytest.raises(ValueError, match="catalog row 0 is too long for inner products"):
        lk.top_k(rows, rows * np.float32(1e30), 1)
    with pytest.raises(ValueError, match="query row 0 is too long"):
        lk.top_k(rows.astype(np.float64) * 1e300, rows, 1)
    with pytest.raises(ValueError, match=r"shape \(n, d\), not \(2, 0\)"):
        lk.top_k(rows[:, :0], rows[:, :0], 1)
    with pytest.raises(ValueError, match="queries have 1 dimensions, the catalog 2"):
        lk.top_k(rows[:, :1], rows, 1)
    table = lk.VectorTable(["a", "b"], rows)
    with pytest.raises(ValueError, match="unknown metric 'euclid'; one of cosine, dot"):
        lk.nearest_images(table, table, 1, metric="euclid")  # type: ignore[arg-type]
    with pytest.raises(lk.InputError, match="1 ids for 2 vectors"):
        lk.VectorTable(["a"], rows)

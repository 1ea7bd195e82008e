"""Exact top-k search: against a full sort, against faiss, and for what must not change it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.search import exact
from lookalike.search.blocks import quantised_is_fast
from lookalike.search.exact import Plan, top_k
from lookalike.search.filters import Filters, Keys
from lookalike.search.topk import TopK

NO_INTEGERS: Any = np.zeros(4)
METHODS: list[exact.Method] = ["float32"]
if quantised_is_fast():
    METHODS.append("quantised")


def whole_numbers(rng: np.random.Generator, n: int, dim: int, high: int = 4) -> np.ndarray:
    """Vectors whose inner products are exact in float32, with many ties."""
    return rng.integers(-high, high + 1, (n, dim)).astype(np.float32)


def units(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    rows = rng.standard_normal((n, dim)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def full_sort(
    queries: np.ndarray,
    catalog: np.ndarray,
    k: int,
    admissible: Callable[[int, int], bool] = lambda q, c: True,
) -> TopK:
    """The slow oracle: sort everything by (-score, row)."""
    scores = queries.astype(np.float64) @ catalog.astype(np.float64).T
    indices = np.full((len(queries), k), -1)
    values = np.full((len(queries), k), -np.inf, np.float32)
    for q, line in enumerate(scores):
        order = sorted((-s, c) for c, s in enumerate(line) if admissible(q, c))[:k]
        for rank, (score, c) in enumerate(order):
            indices[q, rank], values[q, rank] = c, -score
    return TopK(indices, values)


def assert_same(found: TopK, expected: TopK) -> None:
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    def cut(block_rows: int, query_rows: int) -> None:
        plan = Plan(block_rows, query_rows)
        monkeypatch.setattr(Plan, "within", classmethod(lambda cls, *args: plan))

    return cut


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("block_rows", "query_rows"), [(7, 3), (64, 20), (1000, 20)])
def test_ties_go_to_the_lower_row_whatever_the_block_size(
    small_blocks: Callable[[int, int], None],
    method: exact.Method,
    block_rows: int,
    query_rows: int,
) -> None:
    rng = np.random.default_rng(1)
    queries, catalog = whole_numbers(rng, 20, 5), whole_numbers(rng, 300, 5)
    small_blocks(block_rows, query_rows)
    for k in [1, 6, 100, 300]:
        assert_same(top_k(queries, catalog, k, method=method), full_sort(queries, catalog, k))


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_cut_into_shards_gives_the_full_sort(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_images, dim = data.draw(st.integers(1, 90)), data.draw(st.integers(1, 40))
    queries = whole_numbers(rng, data.draw(st.integers(1, 9)), dim)
    catalog = whole_numbers(rng, n_images, dim)
    k = data.draw(st.integers(1, n_images))
    cuts = sorted(data.draw(st.lists(st.integers(0, n_images), max_size=4)))
    shards = np.split(catalog, cuts)
    expected = full_sort(queries, catalog, k)
    method = data.draw(st.sampled_from(METHODS))
    assert_same(top_k(queries, shards, k, method=method, n_threads=2), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dim", [16, 129, 512])
def test_ids_and_scores_equal_those_of_a_flat_faiss_index(method: exact.Method, dim: int) -> None:
    rng = np.random.default_rng(2)
    catalog = units(rng, 3000, dim)
    catalog[1000:1040] = catalog[5] + 0.02 * units(rng, 40, dim)  # a cluster of near-duplicates
    queries = catalog[:100]
    index = faiss.IndexFlatIP(dim)
    index.add(catalog)
    scores, indices = index.search(queries, 50)
    found = top_k(queries, catalog, 50, method=method)
    np.testing.assert_allclose(found.scores, scores, atol=2e-6)
    close = np.abs(np.diff(scores, axis=1, prepend=2)) < 2e-6  # order within rounding is free
    close |= np.abs(np.diff(scores, axis=1, append=-2)) < 2e-6
    assert (found.indices == indices)[~close].all()
    assert close.mean() < 0.02


@pytest.mark.parametrize(
    "shape",
    ["one direction shared by all", "heavy tails", "one huge row", "rows of many lengths", "zeros"],
)
def test_both_methods_give_the_same_bytes_on_awkward_data(
    small_blocks: Callable[[int, int], None], shape: str
) -> None:
    rng = np.random.default_rng(3)
    catalog = rng.standard_normal((2000, 96)).astype(np.float32)
    if shape == "one direction shared by all":
        catalog += 30
    elif shape == "heavy tails":
        catalog = (np.sign(catalog) * np.abs(catalog) ** 5).astype(np.float32)
    elif shape == "one huge row":
        catalog[77] *= 1e4
    elif shape == "rows of many lengths":
        catalog *= np.exp(3 * rng.standard_normal((2000, 1))).astype(np.float32)
    else:
        catalog[::2] = 0
    small_blocks(300, 17)
    queries = catalog[:50] + rng.standard_normal((50, 96)).astype(np.float32)
    results = [top_k(queries, catalog, 20, method=method) for method in METHODS]
    for result in results:
        assert_same(result, results[0])
    exact = queries.astype(np.float64) @ catalog.T.astype(np.float64)
    kth = np.sort(exact, axis=1)[:, -20]
    tolerance = 1e-5 * np.linalg.norm(queries, axis=1) * np.linalg.norm(catalog, axis=1).max()
    worst = np.take_along_axis(exact, results[0].indices, axis=1).min(axis=1)
    assert (worst >= kth - tolerance).all()


@pytest.mark.parametrize("method", METHODS)
def test_own_image_and_same_product_are_left_out_inside_the_search(method: exact.Method) -> None:
    rng = np.random.default_rng(4)
    catalog = whole_numbers(rng, 200, 6)
    queries = catalog[:30]
    own = np.arange(30)
    own[::5] = -1
    product = rng.integers(-1, 40, 200)
    found = top_k(
        queries,
        catalog,
        12,
        filters=Filters(own=own, apart=[Keys(product[:30], product)]),
        method=method,
    )

    def admissible(q: int, c: int) -> bool:
        return bool(own[q] != c and (product[q] == -1 or product[q] != product[c]))

    assert_same(found, full_sort(queries, catalog, 12, admissible))


@pytest.mark.parametrize("method", METHODS)
def test_a_query_with_too_few_candidates_is_padded(method: exact.Method) -> None:
    rng = np.random.default_rng(5)
    catalog = whole_numbers(rng, 100, 4)
    category = np.arange(100) % 25
    category[99] = -1
    wanted = np.array([3, 24, -1, 7])
    found = top_k(
        catalog[:4], catalog, 6, filters=Filters(alike=[Keys(wanted, category)]), method=method
    )
    assert (found.indices >= 0).sum(axis=1).tolist() == [4, 3, 0, 4]
    assert set(found.indices[0, :4].tolist()) == {3, 28, 53, 78}
    assert (found.indices[2] == -1).all()
    assert np.isneginf(found.scores[2]).all()
    assert_same(
        found, full_sort(catalog[:4], catalog, 6, lambda q, c: wanted[q] == category[c] != -1)
    )


def test_memory_mapped_half_precision_shards_equal_the_array_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    catalog = units(rng, 900, 33).astype(np.float16)
    shards = []
    for start in range(0, 900, 350):
        np.save(tmp_path / f"{start}.npy", catalog[start : start + 350])
        shards.append(np.load(tmp_path / f"{start}.npy", mmap_mode="r"))
    expected = top_k(catalog[:40].astype(np.float32), catalog.astype(np.float32), 9)
    assert_same(top_k(catalog[:40], shards, 9, memory_mib=1, n_threads=1), expected)


def test_the_plan_keeps_its_buffers_within_the_memory_setting() -> None:
    for memory_mib in [4, 64, 256, 4096]:
        for dim in [64, 768, 4096]:
            plan = Plan.within(memory_mib, dim, 2000, 8)
            held = plan.block_rows * (5 * dim + 4 * plan.query_rows * 8)
            assert held <= memory_mib << 20


def test_no_queries_give_an_empty_result() -> None:
    catalog = np.ones((5, 3), np.float32)
    assert top_k(catalog[:0], catalog, 2).indices.shape == (0, 2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"k": 0}, "k is 0; it must be at least 1"),
        ({"k": 11}, "k is 11, more than the catalog's 10 images"),
        ({"catalog": np.ones((10, 4), np.float32)}, "shard 0: 4 dimensions, the queries have 3"),
        ({"catalog": np.ones(10, np.float32)}, "two dimensions"),
        ({"catalog": np.ones((10, 3))}, "float64, float32 or float16 is needed"),
        ({"catalog": []}, "no shards"),
        ({"n_threads": -1}, "n_threads is -1"),
        ({"filters": Filters(own=np.array([0]))}, r"own: shape \(1,\), expected \(4,\)"),
        ({"filters": Filters(own=np.array([0, 1, 2, 10]))}, "own names catalog row 10"),
        ({"filters": Filters(apart=[Keys(NO_INTEGERS, np.zeros(10, int))])}, "integers"),
    ],
)
def test_wrong_input_is_refused_with_its_reason(change: dict[str, object], reason: str) -> None:
    arguments: dict[str, object] = {
        "queries": np.ones((4, 3), np.float32),
        "catalog": np.ones((10, 3), np.float32),
        "k": 2,
    }
    arguments |= change
    with pytest.raises(ValueError, match=reason):
        top_k(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_is_refused_by_row(method: exact.Method, value: float) -> None:
    vectors = np.ones((50, 3), np.float32)
    broken = vectors.copy()
    broken[41, 1] = value
    with pytest.raises(ValueError, match="catalog row 41"):
        top_k(vectors, broken, 2, method=method)
    with pytest.raises(ValueError, match="query row 41"):
        top_k(broken, vectors, 2, method=method)


def test_candidates_and_scores_have_one_shape() -> None:
    with pytest.raises(ValueError, match=r"must be one \(q, k\)"):
        TopK(np.zeros((2, 1), np.int64), np.zeros((2, 2), np.float32))


def test_minus_zero_and_zero_are_one_score() -> None:
    catalog = np.array([[0.0, -1.0], [0.0, 1.0], [-0.0, -1.0]], np.float32)
    found = top_k(np.array([[1.0, 0.0]], np.float32), catalog, 3)
    assert found.indices.tolist() == [[0, 1, 2]]


def test_vectors_of_one_number_are_compared_where_products_of_these_are_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = torch._int_mm

    def as_with_amx(rows: torch.Tensor, columns: torch.Tensor, *, out: torch.Tensor) -> Any:
        """Multiply as Sapphire Rapids did: of single numbers, now and then, something else."""
        return real(rows, columns, out=out) if rows.shape[1] > 1 else out.zero_()

    monkeypatch.setattr(torch, "_int_mm", as_with_amx)
    rows = np.random.default_rng(5).standard_normal((91, 1)).astype(np.float32)
    found = top_k(rows[:7], rows, 9, method="quantised")
    expected = np.argsort(-rows[:7] * rows[:, 0], axis=1, kind="stable")[:, :9]
    np.testing.assert_array_equal(found.indices, expected)

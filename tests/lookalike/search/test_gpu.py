"""The search on a device gives the processor's bytes, on torch's own processor and on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.core.progress import Silent
from lookalike.search import exact, feed, gpu, precision
from lookalike.search.filters import Filters, Keys
from lookalike.search.gpu import DevicePlan, top_k
from lookalike.search.precision import Precision
from lookalike.search.topk import TopK

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
HALF = Precision(torch.float16, 2.0**-11)  # what CUDA multiplies


class Notes(Silent):
    """Keeps what a search says of itself."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


def units(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    rows = rng.standard_normal((n, dim)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def assert_same(found: TopK, expected: TopK) -> None:
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)


def multiply_as_cuda(patch: pytest.MonkeyPatch) -> None:
    """Multiply float16 and sum in float32, which not every processor does by itself."""

    def products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x.float() @ y.float().T).to(x.dtype)

    patch.setattr(Precision, "of", classmethod(lambda cls, device: HALF))
    patch.setattr(gpu, "products", products)


@pytest.fixture(params=["float32", "float16"])
def device_precision(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let torch's processor multiply as each kind of device does."""
    if request.param == "float16":
        multiply_as_cuda(monkeypatch)
    return str(request.param)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int, int], None]:
    """Set the size of blocks, and how many candidates are kept beyond k."""

    def to(block_rows: int, query_rows: int, spare: int = 32) -> None:
        plan = DevicePlan(block_rows, query_rows)
        monkeypatch.setattr(DevicePlan, "within", classmethod(lambda cls, *args: plan))
        monkeypatch.setattr(gpu, "_SPARE", spare)

    return to


@pytest.fixture
def n_left_open(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many queries each search by the processor was asked."""
    seen: list[int] = []
    real = exact.best_admitted

    def watched(queries: Any, *args: Any) -> TopK:
        seen.append(len(queries))
        return real(queries, *args)

    monkeypatch.setattr(gpu, "best_admitted", watched)
    return seen


@settings(deadline=None, max_examples=80)
@given(data=st.data())
def test_any_input_gives_the_bytes_of_the_processors_search(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, dim = data.draw(st.integers(1, 120)), data.draw(st.integers(1, 40))
    n_queries, k = data.draw(st.integers(1, 9)), data.draw(st.integers(1, n))
    queries = rng.standard_normal((n_queries, dim)).astype(np.float32)
    catalog = rng.standard_normal((n, dim)).astype(np.float32)
    if data.draw(st.booleans()):  # ties, and rows that are there more than once
        queries, catalog = np.round(queries), np.round(catalog)
        catalog[rng.integers(0, n, n // 2)] = catalog[0]
    if data.draw(st.booleans()):
        catalog = catalog.astype(np.float16)
    shards = np.split(catalog, sorted(data.draw(st.lists(st.integers(0, n), max_size=4))))
    filters = Filters(
        own=rng.integers(-1, n, n_queries),
        apart=[
            Keys(rng.integers(-1, 4, n_queries), rng.integers(-1, 4, n))
            for _ in range(data.draw(st.integers(0, 2)))
        ],
        alike=[
            Keys(rng.integers(-1, 3, n_queries), rng.integers(-1, 3, n))
            for _ in range(data.draw(st.integers(0, 1)))
        ],
    )
    plan = DevicePlan(data.draw(st.integers(1, 130)), data.draw(st.integers(1, 10)))
    device = data.draw(st.sampled_from(DEVICES))
    is_half, spare = data.draw(st.booleans()), data.draw(st.integers(0, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DevicePlan, "within", classmethod(lambda cls, *args: plan))
        patch.setattr(gpu, "_SPARE", spare)
        if is_half:
            multiply_as_cuda(patch)
        notes = Notes()
        found = top_k(queries, shards, k, device=device, filters=filters, progress=notes)
    assert notes.texts == []  # no pair that was scored again lay beyond the bound
    assert_same(found, exact.top_k(queries, shards, k, filters=filters))


@pytest.mark.usefixtures("device_precision")
@pytest.mark.parametrize(
    "shape",
    ["clusters", "one direction shared by all", "heavy tails", "one huge row", "tiny numbers",
     "rows of many lengths", "zeros", "overflowing scores"],
)  # fmt: skip
def test_awkward_data_gives_the_bytes_of_the_processors_search(
    cut: Callable[[int, int], None], shape: str
) -> None:
    rng = np.random.default_rng(3)
    catalog = rng.standard_normal((2000, 96)).astype(np.float32)
    queries = catalog[:50] + rng.standard_normal((50, 96)).astype(np.float32)
    if shape == "clusters":
        catalog = np.repeat(catalog[::40], 40, axis=0) + np.float32(1e-4) * catalog
    elif shape == "one direction shared by all":
        catalog += 30
    elif shape == "heavy tails":
        catalog = (np.sign(catalog) * np.abs(catalog) ** 5).astype(np.float32)
    elif shape == "one huge row":
        catalog[77] *= 1e4
    elif shape == "tiny numbers":
        catalog, queries = catalog * np.float32(1e-30), queries * np.float32(1e-3)
    elif shape == "rows of many lengths":
        catalog *= np.exp(3 * rng.standard_normal((2000, 1))).astype(np.float32)
    elif shape == "zeros":
        catalog[::2], queries[3] = 0, 0
    else:
        catalog, queries = catalog * np.float32(1e17), queries * np.float32(1e20)
    cut(300, 17)
    notes = Notes()
    found = top_k(queries, catalog, 20, device="cpu", progress=notes)
    assert_same(found, exact.top_k(queries, catalog, 20))
    assert notes.texts == []  # no pair that was scored again lay beyond the bound


@pytest.mark.usefixtures("device_precision")
def test_the_bound_settles_most_queries_on_the_device(n_left_open: list[int]) -> None:
    rng = np.random.default_rng(7)
    catalog = units(rng, 20_000, 128)
    queries = catalog[:200]
    filters = Filters(own=np.arange(200))
    found = top_k(queries, catalog, 6, device="cpu", filters=filters)
    assert_same(found, exact.top_k(queries, catalog, 6, filters=filters))
    assert sum(n_left_open) == 0


@pytest.mark.usefixtures("device_precision")
def test_more_equal_images_than_are_kept_are_left_to_the_processor(n_left_open: list[int]) -> None:
    rng = np.random.default_rng(8)
    catalog = units(rng, 500, 16)
    catalog[100:300] = catalog[7]  # two hundred copies: more than k = 5 and its spare ones
    found = top_k(catalog[[7, 400]], catalog, 5, device="cpu")
    assert found.indices[0].tolist() == [7, 100, 101, 102, 103]
    assert n_left_open == [1]


@pytest.mark.parametrize("device", DEVICES)
def test_memory_mapped_half_precision_shards_equal_the_array_in_memory(
    tmp_path: Path, device: str
) -> None:
    rng = np.random.default_rng(6)
    catalog = units(rng, 900, 33).astype(np.float16)
    shards = []
    for start in range(0, 900, 350):
        np.save(tmp_path / f"{start}.npy", catalog[start : start + 350])
        shards.append(np.load(tmp_path / f"{start}.npy", mmap_mode="r"))
    expected = exact.top_k(catalog[:40], catalog, 9)
    assert_same(top_k(catalog[:40], shards, 9, device=device, memory_mib=1), expected)


def test_bad_input_is_refused_as_the_processor_refuses_it() -> None:
    rows = np.ones((50, 3), np.float32)
    assert top_k(rows[:0], rows, 2, device="cpu").indices.shape == (0, 2)
    with pytest.raises(ValueError, match="k is 51, more than the catalog's 50 images"):
        top_k(rows, rows, 51, device="cpu")
    with pytest.raises(ValueError, match="own names catalog row 50"):
        top_k(rows[:1], rows, 2, device="cpu", filters=Filters(own=np.array([50])))


@pytest.mark.usefixtures("device_precision")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_is_refused_by_row(value: float) -> None:
    vectors = np.ones((50, 3), np.float32)
    broken = vectors.copy()
    broken[41, 1] = value
    with pytest.raises(ValueError, match="catalog row 41"):
        top_k(vectors, broken, 2, device="cpu")


class Hungry:
    """A device that has no room for more than some rows, from some block on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int, after: int = 0) -> None:
        self.seen: list[tuple[int, int]] = []
        real = feed.fed

        def full(shards: Any, begin: int, block_rows: int, *where: Any) -> Any:
            for first, block in real(shards, begin, block_rows, *where):
                if first >= after and len(block) > room:
                    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")
                self.seen.append((first, len(block)))
                yield first, block

        monkeypatch.setattr(gpu, "fed", full)


def test_a_full_device_goes_on_where_it_was_with_half_the_block(
    monkeypatch: pytest.MonkeyPatch, cut: Callable[[int, int], None], n_left_open: list[int]
) -> None:
    rng = np.random.default_rng(9)
    catalog = units(rng, 1000, 24)
    cut(400, 13)
    device = Hungry(monkeypatch, room=100, after=400)
    notes = Notes()
    found = top_k(catalog[:30], [catalog[:700], catalog[700:]], 5, device="cpu", progress=notes)
    assert_same(found, exact.top_k(catalog[:30], catalog, 5))
    assert device.seen == [(0, 400), *((row, 100) for row in range(400, 1000, 100))]
    assert notes.texts == []
    assert n_left_open == []


def test_a_device_without_room_leaves_the_search_to_the_processor_and_says_so(
    monkeypatch: pytest.MonkeyPatch, n_left_open: list[int]
) -> None:
    catalog = units(np.random.default_rng(9), 1000, 24)
    device = Hungry(monkeypatch, room=0)
    notes = Notes()
    found = top_k(catalog[:30], catalog, 5, device="cpu", progress=notes)
    assert_same(found, exact.top_k(catalog[:30], catalog, 5))
    assert device.seen == []
    assert notes.texts == ["the memory of cpu is full; the processor searches instead"]
    assert n_left_open == [30]


def test_a_device_without_room_for_the_queries_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **options: Any) -> Any:
        raise RuntimeError("MPS backend out of memory (MPS allocated: 17.90 GB).")

    monkeypatch.setattr(gpu, "narrowed", full)
    catalog = units(np.random.default_rng(9), 100, 24)
    notes = Notes()
    found = top_k(catalog[:3], catalog, 5, device="cpu", progress=notes)
    assert_same(found, exact.top_k(catalog[:3], catalog, 5))
    assert len(notes.texts) == 1


def test_an_error_that_is_not_about_memory_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> Any:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(gpu, "fed", broken)
    catalog = units(np.random.default_rng(9), 100, 24)
    with pytest.raises(RuntimeError, match="device-side assert"):
        top_k(catalog[:3], catalog, 5, device="cpu")


def test_a_device_that_multiplies_less_exactly_than_its_bound_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = precision.narrowed

    def careless(wide: torch.Tensor, *args: Any, **options: Any) -> Any:
        rows, scale, errors = real(wide, *args, **options)
        return rows.to(torch.bfloat16).float(), scale, errors  # as a GPU may that is told nothing

    monkeypatch.setattr(gpu, "narrowed", careless)
    catalog = units(np.random.default_rng(10), 1000, 64)
    notes = Notes()
    found = top_k(catalog[:30] + catalog[30:60], catalog, 5, device="cpu", progress=notes)
    assert_same(found, exact.top_k(catalog[:30] + catalog[30:60], catalog, 5))
    assert notes.texts == [
        "cpu multiplies less exactly than is known of it; the processor searches instead"
    ]


def test_the_plan_keeps_its_buffers_within_the_memory_setting() -> None:
    for memory_mib in [16, 64, 256, 4096]:
        for dim in [64, 768, 4096]:
            plan = DevicePlan.within(memory_mib, dim, 2000)
            assert plan.block_rows * (40 * dim + 16 * plan.query_rows) <= memory_mib << 20
    assert DevicePlan.within(0, 768, 2000) == DevicePlan(64, 1)
    assert DevicePlan(64, 1).halved() is None

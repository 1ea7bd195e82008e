"""Pairs of hashes that differ little: all of them, once, quickly."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.images.near_duplicates import near_pairs


def test_by_hand():
    hashes = np.array([0b0000, 0b1111, 0b0001, 2**63, 0b0011], np.uint64)
    assert near_pairs(hashes, 2).tolist() == [
        [0, 2, 1],
        [0, 3, 1],
        [0, 4, 2],
        [1, 4, 2],
        [2, 3, 2],
        [2, 4, 1],
    ]
    assert near_pairs(hashes, 0).tolist() == []
    assert near_pairs(np.array([], np.uint64)).shape == (0, 3)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 63), max_size=40),
    st.integers(0, 10),
)
def test_every_pair_is_found_once(hashes: list[int], max_bits: int):
    expected = [
        [i, j, (hashes[i] ^ hashes[j]).bit_count()]
        for i in range(len(hashes))
        for j in range(i + 1, len(hashes))
        if (hashes[i] ^ hashes[j]).bit_count() <= max_bits
    ]
    assert near_pairs(np.array(hashes, np.uint64), max_bits).tolist() == expected


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 256, 500, np.uint64)
    whole = near_pairs(hashes, 1)
    monkeypatch.setattr("lookalike.images.near_duplicates.BLOCK", 7)
    np.testing.assert_array_equal(near_pairs(hashes, 1), whole)


def test_a_picture_repeated_often_keeps_only_its_nearest_partners():
    hashes = np.zeros(1000, np.uint64)
    hashes[::2] = 1
    pairs = near_pairs(hashes, 2, max_partners=3)
    assert len(pairs) < 3000
    first = pairs[pairs[:, 0] == 10]
    assert first.tolist() == [[10, 12, 0], [10, 14, 0], [10, 16, 0]]


@pytest.mark.slow
def test_50_000_pictures_take_seconds():
    hashes = np.random.default_rng(0).integers(0, 2**63, 50_000, np.uint64)
    hashes[40_000] = hashes[5] ^ np.uint64(3)
    start = time.process_time()
    assert near_pairs(hashes).tolist() == [[5, 40_000, 2]]
    assert time.process_time() - start < 30  # of a processor; about 3 on an idle one

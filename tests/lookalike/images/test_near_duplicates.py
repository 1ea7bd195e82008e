"""Pairs of hashes that differ little: all of them, once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.near_duplicates import among_all_pairs, planted
from lookalike.images.near_duplicates import near_pairs

near_to = st.integers(0, 2**64 - 1) | st.integers(0, 63) | st.integers(0, 63).map(lambda i: 1 << i)


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


@given(st.lists(near_to, max_size=40), st.integers(0, 16), st.integers(1, 5))
def test_the_pairs_are_those_of_comparing_all(hashes: list[int], max_bits: int, max_partners: int):
    expected = []
    for i, one in enumerate(hashes):
        after = [((one ^ other).bit_count(), j) for j, other in enumerate(hashes) if j > i]
        nearest = sorted(partner for partner in after if partner[0] <= max_bits)[:max_partners]
        expected += sorted([i, j, bits] for bits, j in nearest)
    assert near_pairs(np.array(hashes, np.uint64), max_bits, max_partners).tolist() == expected


@pytest.mark.parametrize("block", [7, 65_536])
def test_planted_pairs_are_found_among_thousands(monkeypatch: pytest.MonkeyPatch, block: int):
    monkeypatch.setattr("lookalike.images.near_duplicates.BLOCK", block)
    hashes = planted(3000, seed=0)
    found = near_pairs(hashes)
    assert len(found) > 100
    np.testing.assert_array_equal(found, among_all_pairs(hashes))


def test_a_picture_repeated_often_keeps_only_its_nearest_partners():
    hashes = np.zeros(1000, np.uint64)
    hashes[::2] = 1
    pairs = near_pairs(hashes, 2, max_partners=3)
    assert len(pairs) < 3000
    first = pairs[pairs[:, 0] == 10]
    assert first.tolist() == [[10, 12, 0], [10, 14, 0], [10, 16, 0]]


def test_a_hundred_thousand_copies_of_one_picture_are_not_compared_with_each_other():
    pairs = near_pairs(np.zeros(100_000, np.uint64), max_partners=1)
    assert pairs[:, 1].tolist() == list(range(1, 100_000))


@pytest.mark.parametrize("max_bits", [-1, 17])
def test_more_bits_than_banding_can_serve_are_refused(max_bits: int):
    with pytest.raises(ValueError, match="max_bits must be 0 to 16"):
        near_pairs(np.zeros(2, np.uint64), max_bits)

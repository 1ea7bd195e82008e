"""One picture of each group of near-duplicates for each query, as keys that every search knows.

Pure: keys in, keys out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.search.filters import Keys

NO_KEY = -1


def one_of_each(units: Ints, order: Ints, ruled: Sequence[Keys]) -> tuple[Ints, list[Keys]]:
    """Return who may stand for a unit, and keys that leave out all but the first admissible.

    Of each unit a query gets the first member in `order` that `ruled` admits. The first member
    of all stands for the unit unless it is ruled out, so a member behind it is a stand-in: it is
    admitted to the queries that share a key with every one before it. "Shares none of them" is
    said by equality alone: two codes differ where one bit of the one is the other bit of the
    other, so for each choice of a bit of every key there is one key of the result.

    Args:
        units: shape (n_images,), the unit of each image.
        order: shape (n_images,), a permutation: rows from the first to the last choice.
        ruled: keys of which a candidate may share none with its query.

    Returns:
        Shape (n_images,), 1 for who may stand for its unit and 0 else; and further keys of which
        a candidate may share none with its query.
    """
    _, unit, sizes = np.unique(units, return_inverse=True, return_counts=True)
    stands: Ints = (sizes[unit.reshape(-1)] == 1).astype(np.int64)
    before = _before(units, order[stands[order] == 0], ruled)
    stands[list(before)] = 1
    n_levels = max(map(len, before.values()), default=0)
    apart: list[Keys] = []
    for level in range(n_levels):
        pairs = [(row, rows[level]) for row, rows in before.items() if len(rows) > level]
        standins, firsts = np.array(pairs, np.int64).T
        apart += _admitted_beside(standins, firsts, ruled)
    return stands, apart


def _before(units: Ints, order: Ints, ruled: Sequence[Keys]) -> dict[int, list[int]]:
    """Return for each of the rows that may stand for its unit those before it, the first first.

    Who shares every key of one before it is ruled out wherever that one is, and never stands; a
    key that no query has rules nobody out.
    """
    columns = [np.where(np.isin(k.catalog, k.queries), k.catalog, NO_KEY)[order] for k in ruled]
    keys = list(zip(*(column.tolist() for column in columns), strict=True)) or [()] * len(order)
    standing: dict[int, dict[int, tuple[int, ...]]] = {}
    before: dict[int, list[int]] = {}
    for row, unit, mine in zip(order.tolist(), units[order].tolist(), keys, strict=True):
        others = standing.setdefault(unit, {})
        if not any(_covers(other, mine) for other in others.values()):
            before[row] = list(others)
            others[row] = mine
    return before


def _covers(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    return all(one in (other, NO_KEY) for one, other in zip(first, second, strict=True))


def _admitted_beside(standins: Ints, firsts: Ints, ruled: Sequence[Keys]) -> list[Keys]:
    """Return keys that leave stand-ins out where the one before them is not ruled out."""
    codes = [_coded(keys, firsts) for keys in ruled]
    n_bits = [int(max(mine.max(), asked.max(initial=0))).bit_length() for mine, asked in codes]
    apart = []
    for bits in product(*map(range, n_bits)):
        catalog = np.full(len(ruled[0].catalog), NO_KEY, np.int64)
        catalog[standins] = 0
        queries = np.zeros(len(ruled[0].queries), np.int64)
        for place, (bit, (mine, asked)) in enumerate(zip(bits, codes, strict=True)):
            catalog[standins] |= ((mine >> bit) & 1) << place
            queries |= (1 - ((asked >> bit) & 1)) << place
        apart.append(Keys(queries=queries, catalog=catalog))
    return apart


def _coded(keys: Keys, firsts: Ints) -> tuple[Ints, Ints]:
    """Return small numbers for the keys of some rows and of the queries, equal where they share.

    0 stands for a key of a row that no query has, 1 for a key of a query that no such row has.
    """
    mine = keys.catalog[firsts]
    shared = np.intersect1d(mine, keys.queries)
    shared = shared[shared != NO_KEY]

    def code(values: Ints, otherwise: int) -> Ints:
        places = np.searchsorted(shared, values)
        is_shared = np.isin(values, shared)
        return np.where(is_shared, places + 2, otherwise)

    return code(mine, 0), code(keys.queries, 1)

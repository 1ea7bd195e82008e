"""Every measure of a board on labels that may be uncertain: what an estimate of it is made of.

Each measure is a ratio of two sums over queries: of its values where it is defined, and of how
many queries define it. On labels of 0 and 1 both are exact. On probabilities they are what is to
be expected, or near it: a guess that estimates correct by what is judged, whatever it is worth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lookalike.core.arrays import Bools, Floats
from lookalike.io.errors import InputError
from lookalike.planning.pool import RankedPool
from lookalike.stats.defined_values import ratio

AT_RANK = ("P", "Success", "MRR")
OF_PAIRS = ("AP'", "macro_roc_auc", "macro_pr_auc")
MICRO = ("micro_roc_auc", "micro_pr_auc")
BOARD = ("P@5", "MRR@5", "Success@5", "AP'", "macro_roc_auc", "micro_roc_auc")
_AT = re.compile(rf"({'|'.join(AT_RANK)})@([1-9][0-9]{{0,4}})")


@dataclass(frozen=True)
class PartSums:
    """A measure by query: shapes (..., n_models, n_queries) and (..., n_queries)."""

    values: Floats
    defined: Floats


def checked_measures(names: Sequence[str], depth: int) -> tuple[str, ...]:
    """Return the names, if an estimate from partly judged pools exists for each.

    Raises:
        InputError: "not for this measure", and for which.
    """
    for name in names:
        if needed_depth(name) > depth:
            raise InputError(
                f"no estimate for {name!r}: the pool is {depth} deep, and what stands below was "
                "not put to the judges"
            )
    return tuple(dict.fromkeys(names))


def needed_depth(name: str) -> int:
    """Return k of a measure at rank k, 0 for one of all pairs of a pool.

    Raises:
        InputError: no such measure, or none with an estimate.
    """
    at = _AT.fullmatch(name)
    if at is None and name not in (*OF_PAIRS, *MICRO):
        known = ", ".join([*(f"{family}@k" for family in AT_RANK), *OF_PAIRS, *MICRO])
        raise InputError(f"no estimate from a partly judged pool for {name!r}; for {known}")
    return int(at[2]) if at else 0


class Measures:
    """The measures of a pool's models, made ready to be taken on many label tables."""

    def __init__(self, pool: RankedPool, names: Sequence[str]) -> None:
        self.pool = pool
        self.names = tuple(name for name in checked_measures(names, pool.depth))
        self.by_query = tuple(name for name in self.names if name not in MICRO)

    def parts(self, labels: Floats) -> dict[str, PartSums]:
        """Return both parts of every measure but the micro ones.

        Args:
            labels: shape (n_tables, n_queries, width), as `RankedPool.grid` lays them out, each
                in [0, 1].

        Returns:
            For each name (n_tables, n_models, n_queries) and (n_tables, n_queries).
        """
        exists = self.pool.exists
        p = np.where(exists, labels, 0.0)
        none = np.prod(1.0 - p, axis=-1)
        some = 1.0 - none
        mixed = np.maximum(some - np.prod(np.where(exists, labels, 1.0), axis=-1), 0.0)
        found: dict[str, PartSums] = {}
        for name in self.by_query:
            at = _AT.fullmatch(name)
            if at is not None:
                found[name] = PartSums(_at_rank(at[1], self._top(p, int(at[2]))), some)
            elif name == "AP'":
                found[name] = PartSums(self._precision(p) * some[:, None], some)
            elif name == "macro_pr_auc":
                found[name] = PartSums(self._precision(p) * mixed[:, None], mixed)
            else:
                found[name] = PartSums(self._area(p) * mixed[:, None], mixed)
        return found

    def _top(self, p: Floats, k: int) -> Floats:
        """Return the labels in every top k, 0 for what is not in the pool: (t, m, q, k)."""
        places = self.pool.places[:, :, :k]
        q = np.arange(self.pool.n_queries)[None, :, None]
        return np.where(places >= 0, p[:, q, np.maximum(places, 0)], 0.0)

    @cached_property
    def _scores(self) -> Floats:
        return self.pool.grid(self.pool.scores, fill=-np.inf)

    def _compared(self, m: int) -> tuple[Bools, Bools]:
        """Return which pair of a query (first axis) is not below, and is tied with, which."""
        s = self._scores[m]
        both = self.pool.exists[:, :, None] & self.pool.exists[:, None, :]
        other = ~np.eye(s.shape[1], dtype=np.bool_)
        above = (s[:, None, :] >= s[:, :, None]) & both & other
        return above, (s[:, None, :] == s[:, :, None]) & both & other

    def _precision(self, p: Floats) -> Floats:
        """Return average precision of the pool's pairs, ties as one group: (t, m, q)."""
        values = []
        for m in range(len(self.pool.models)):
            above, _ = self._compared(m)
            n_above = above.sum(axis=2) + 1.0
            hits = 1.0 + _counts(above, p)
            values.append(ratio((p * hits / n_above).sum(axis=2), p.sum(axis=2)))
        return np.nan_to_num(np.stack(values, axis=1))

    def _area(self, p: Floats) -> Floats:
        """Return the ROC-AUC of the pool's pairs, a tie counting one half: (t, m, q)."""
        n = np.where(self.pool.exists, 1.0 - p, 0.0)
        total = p.sum(axis=2) * n.sum(axis=2) - (p * n).sum(axis=2)
        values = []
        for m in range(len(self.pool.models)):
            above, tied = self._compared(m)
            lost = _counts(above, n) - 0.5 * _counts(tied, n)
            values.append(1.0 - ratio((p * lost).sum(axis=2), np.where(total > 1e-12, total, 0)))
        return np.nan_to_num(np.stack(values, axis=1))


def _counts(which: Bools, weights: Floats) -> Floats:
    """Sum the weights of those that stand in each pair's row: (q, n, n) and (t, q, n)."""
    sums = which.astype(np.float32) @ np.moveaxis(weights, 0, -1).astype(np.float32)
    return np.moveaxis(sums, -1, 0).astype(np.float64)


def _at_rank(family: str, top: Floats) -> Floats:
    """Return a measure of the top k from its labels, shape (..., k)."""
    k = top.shape[-1]
    ranks = np.arange(1, k + 1)
    if family == "P":
        return np.asarray(top.mean(axis=-1))
    if family == "Success":
        return np.asarray(1.0 - np.prod(1.0 - top, axis=-1))
    before = np.cumprod(1.0 - top, axis=-1)
    first = np.concatenate([np.ones_like(top[..., :1]), before[..., :-1]], axis=-1) * top
    return np.asarray((first / ranks).sum(axis=-1))

"""Agreement coefficients as functions of sums over items, which a jackknife needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Floats, Ints

NAMES = ("percent", "alpha", "ac1", "fleiss", "within_one", "ordinal_alpha")
Coefficients = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Columns:
    """The sums over items that make the coefficients.

    Attributes:
        n: labels.
        is_equal: whether each item with a vote has as many; else Fleiss' kappa is undefined.
    """

    n: int
    is_equal: bool

    def of(self, counts: Ints) -> Floats:
        """Return shape (n_items, n_columns): what each item adds."""
        counts = counts.astype(np.float64)
        votes = counts.sum(axis=1)
        is_pair, is_voted = votes >= 2, votes >= 1
        weight = np.where(is_pair, 1.0 / np.maximum(votes - 1.0, 1.0), 0.0)
        together = counts[:, :, None] * counts[:, None, :] * weight[:, None, None]
        diagonal = np.arange(self.n)
        together[:, diagonal, diagonal] -= counts * weight[:, None]
        share = np.where(is_pair, 1.0 / np.maximum(votes, 1.0), 0.0)
        agreeing = together[:, diagonal, diagonal].sum(axis=1) * share
        is_near = np.abs(diagonal[:, None] - diagonal) <= 1
        near = (together * is_near).sum(axis=(1, 2)) * share
        shares = counts / np.maximum(votes, 1.0)[:, None]
        return np.column_stack(
            [is_pair, agreeing, near, is_voted, shares, counts * is_pair[:, None],
             together.reshape(len(counts), self.n**2)]
        ).astype(np.float64)  # fmt: skip

    def coefficients(self, sums: Floats) -> Floats:
        """Return shape (..., len(NAMES)) from shape (..., n_columns)."""
        n = self.n
        pairs, agreeing, near, voted = (sums[..., place] for place in range(4))
        shares, counts = sums[..., 4 : 4 + n], sums[..., 4 + n : 4 + 2 * n]
        together = sums[..., 4 + 2 * n :].reshape(*sums.shape[:-1], n, n)
        total = counts.sum(axis=-1)
        percent = agreeing / pairs
        different = total - np.trace(together, axis1=-2, axis2=-1)
        expected = (total**2 - (counts**2).sum(axis=-1)) / (total - 1.0)
        pi = shares / voted[..., None]
        by_chance = (pi * (1.0 - pi)).sum(axis=-1) / (n - 1)
        pooled = ((counts / total[..., None]) ** 2).sum(axis=-1)
        fleiss = (percent - pooled) / (1.0 - pooled)
        middle = np.cumsum(counts, axis=-1) - counts / 2.0
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
        far = (counts[..., :, None] * distance * counts[..., None, :]).sum(axis=(-1, -2))
        return np.stack(
            [
                percent,
                1.0 - different / np.where(expected > 0, expected, np.nan),
                (percent - by_chance) / (1.0 - by_chance),
                fleiss if self.is_equal else np.full_like(fleiss, np.nan),
                near / pairs,
                1.0 - (together * distance).sum(axis=(-1, -2)) * (total - 1.0) / far,
            ],
            axis=-1,
        )


def kappa_of_sums(sums: Floats) -> Floats:
    """Return Cohen's kappa, shape (..., 1), of square tables, shape (..., n * n)."""
    n = round(sums.shape[-1] ** 0.5)
    table = sums.reshape(*sums.shape[:-1], n, n)
    total = table.sum(axis=(-1, -2))
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / total**2
    right = np.trace(table, axis1=-2, axis2=-1) / total
    return np.asarray((right - chance) / (1.0 - chance))[..., None]


def by_group(rows: Floats, groups: Ints) -> Floats:
    """Return the sums of each group's rows, shape (n_groups, n_columns)."""
    sums = np.zeros((int(groups.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(sums, groups, rows)
    return sums

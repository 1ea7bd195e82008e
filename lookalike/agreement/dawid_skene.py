"""The Dawid-Skene model of workers who label items, over plain arrays.

Source: Dawid and Skene (Applied Statistics 1979), with the start (shares of votes), the stopping
rule and the number of EM steps of crowd-kit, which a test holds it to. crowd-kit itself loads
pandas and torch, too much for a check that anybody should be able to run.
"""

from __future__ import annotations

import numpy as np

from lookalike.core.arrays import Floats, Ints

N_STEPS = 100
TOLERANCE = 1e-5
_SMALLEST = 1e-10


def label_chances(
    items: Ints, workers: Ints, labels: Ints, n_items: int, n_workers: int, *, n_labels: int = 2
) -> Floats:
    """Return how probable each label of each item is.

    Args:
        items: shape (n_votes,), 0 <= item < n_items.
        workers: shape (n_votes,), 0 <= worker < n_workers.
        labels: shape (n_votes,), what the worker said, 0 <= label < n_labels.
        n_items: how many items.
        n_workers: how many workers.
        n_labels: how many labels, at least two.

    Returns:
        Shape (n_items, n_labels), rows sum to 1; NaN for an item without a vote.

    >>> items, workers = np.divmod(np.arange(9), 3)
    >>> labels = np.array([1, 1, 0, 0, 0, 0, 1, 1, 1])
    >>> label_chances(items, workers, labels, 3, 3).round(2).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    chances = np.full((n_items, n_labels), np.nan)
    voted, item_of_vote, n_votes = np.unique(items, return_inverse=True, return_counts=True)
    if not len(voted):
        return chances
    cells = workers * n_labels + labels
    cells_by_item = cells[np.argsort(items, kind="stable")]
    first_of_item = np.cumsum(n_votes) - n_votes
    # a row for each truth from here on: sums over short columns would take most of the time

    def evidence(known: Floats) -> Floats:
        """Return the log-likelihood of each item's votes: workers err as they do if `known` is."""
        weights = [row[item_of_vote] for row in known]
        table = np.stack([np.bincount(cells, row, n_workers * n_labels) for row in weights])
        table = np.maximum(table.reshape(n_labels, n_workers, n_labels), _SMALLEST)
        errors = table / table.sum(axis=2, keepdims=True)
        rows = np.log(errors).reshape(n_labels, -1)
        return np.stack([np.add.reduceat(row[cells_by_item], first_of_item) for row in rows])

    counts = np.bincount(labels * len(voted) + item_of_vote, minlength=n_labels * len(voted))
    known = counts.reshape(n_labels, -1) / n_votes
    bound, priors, told = -np.inf, known.mean(axis=1), evidence(known)
    for _ in range(N_STEPS):
        known = told + np.log(np.maximum(priors, _SMALLEST))[:, None]
        known = np.exp(known - known.max(axis=0))
        known /= known.sum(axis=0)
        priors = np.maximum(known.mean(axis=1), _SMALLEST)
        told = evidence(known)
        likely = np.maximum(known, _SMALLEST)
        entropy = -(np.log(likely) * likely).sum()
        expected = (known * (told + n_votes * np.log(priors)[:, None])).sum()
        before, bound = bound, (expected + entropy) / items.size
        if bound - before < TOLERANCE:
            break
    chances[voted] = known.T
    return chances

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
    n_votes = np.bincount(items, minlength=n_items)
    counts = np.bincount(items * n_labels + labels, minlength=n_items * n_labels)
    with np.errstate(invalid="ignore"):
        chances = counts.reshape(n_items, n_labels) / n_votes[:, None]
    chances[:, 0] = 1 - chances[:, 1:].sum(axis=1)
    is_voted = n_votes > 0
    if not is_voted.any():
        return chances
    bound = -np.inf
    priors = chances[is_voted].mean(axis=0)
    errors = _errors(chances[items], workers, labels, n_workers)
    for _ in range(N_STEPS):
        chances = _posterior(priors, errors, items, (workers, labels), n_items)
        chances[~is_voted] = np.nan
        priors = np.maximum(chances[is_voted].mean(axis=0), _SMALLEST)
        errors = _errors(chances[items], workers, labels, n_workers)
        logs = np.log(errors)[workers, :, labels] + np.log(priors)
        known = np.maximum(chances[is_voted], _SMALLEST)
        entropy = -(np.log(known) * known).sum()
        before, bound = bound, ((chances[items] * logs).sum() + entropy) / items.size
        if bound - before < TOLERANCE:
            break
    return chances


def _posterior(
    priors: Floats, errors: Floats, items: Ints, votes: tuple[Ints, Ints], n_items: int
) -> Floats:
    """Return the chance of each truth of each item, shape (n_items, n_labels)."""
    workers, labels = votes
    logs = np.log(errors)[workers, :, labels]
    joint = np.log(np.maximum(priors, _SMALLEST)) + np.stack(
        [np.bincount(items, weights=column, minlength=n_items) for column in logs.T],
        axis=1,
    )
    scaled: Floats = np.exp(joint - joint.max(axis=1, keepdims=True))
    scaled /= scaled.sum(axis=1, keepdims=True)
    return scaled


def _errors(weights: Floats, workers: Ints, labels: Ints, n_workers: int) -> Floats:
    """Return the chance of each answer of each worker given the truth: (worker, truth, answer)."""
    n_labels = weights.shape[1]
    cells, n_cells = workers * n_labels + labels, n_workers * n_labels
    table = np.stack(
        [
            np.bincount(cells, weights=column, minlength=n_cells).reshape(n_workers, n_labels)
            for column in weights.T
        ],
        axis=1,
    )
    table = np.maximum(table, _SMALLEST)
    shares: Floats = table / table.sum(axis=2, keepdims=True)
    return shares

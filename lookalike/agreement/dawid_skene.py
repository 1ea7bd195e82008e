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
_MOST_CODES = 1 << 62


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
    if not len(items):
        return chances
    cells = workers * n_labels + labels
    voted, group_of_item, group_of_vote, cells = _alike(items, cells, n_workers * n_labels)
    n_items_of, n_votes = np.bincount(group_of_item), np.bincount(group_of_vote)
    # a row for each truth from here on: sums over short columns would take most of the time

    def evidence(known: Floats) -> Floats:
        """Return the log-likelihood of each group's votes: workers err as they do if `known` is."""
        weights = [row[group_of_vote] for row in known * n_items_of]
        table = np.stack([np.bincount(cells, row, n_workers * n_labels) for row in weights])
        table = np.maximum(table.reshape(n_labels, n_workers, n_labels), _SMALLEST)
        errors = table / table.sum(axis=2, keepdims=True)
        rows = np.log(errors).reshape(n_labels, -1)
        return np.stack([np.bincount(group_of_vote, row[cells]) for row in rows])

    said = cells % n_labels
    counts = [np.bincount(group_of_vote, said == label) for label in range(n_labels)]
    known = np.stack(counts) / n_votes
    bound, priors = -np.inf, (known * n_items_of).sum(axis=1) / len(voted)
    told = evidence(known)
    for _ in range(N_STEPS):
        logs = told + np.log(np.maximum(priors, _SMALLEST))[:, None]
        logs -= logs.max(axis=0)
        known = np.exp(logs)
        total = known.sum(axis=0)
        known /= total
        logs -= np.log(total)
        priors = np.maximum((known * n_items_of).sum(axis=1) / len(voted), _SMALLEST)
        told = evidence(known)
        expected = known * (told + n_votes * np.log(priors)[:, None])
        entropy = -np.maximum(known, _SMALLEST) * np.maximum(logs, np.log(_SMALLEST))
        before, bound = bound, ((expected + entropy) * n_items_of).sum() / items.size
        if bound - before < TOLERANCE:
            break
    chances[voted] = known.T[group_of_item]
    return chances


def _alike(items: Ints, cells: Ints, n_cells: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Group the items that got the same votes, since they have the same chances.

    Args:
        items: shape (n_votes,), as `label_chances`.
        cells: shape (n_votes,), the worker and the label of each, 0 <= cell < n_cells.
        n_cells: how many there are.

    Returns:
        The items that got votes and the group of each, shape (n_voted,); for the votes of one
        item of each group, the group and the cell.
    """
    items, cells = np.divmod(np.sort(items * n_cells + cells), n_cells)
    voted, first, n_votes = np.unique(items, return_index=True, return_counts=True)
    group_of_item = np.empty(len(voted), np.int64)
    groups, votes = [], []
    n_groups = 0
    for n in np.unique(n_votes).tolist():
        here = np.flatnonzero(n_votes == n)
        rows = cells[first[here, None] + np.arange(n)]
        codes, n_codes = rows[:, 0], n_cells
        for column in rows.T[1:]:
            if n_codes > _MOST_CODES // n_cells:
                codes, n_codes = np.unique(codes, return_inverse=True)[1], len(here)
            codes, n_codes = codes * n_cells + column, n_codes * n_cells
        _, examples, group = np.unique(codes, return_index=True, return_inverse=True)
        group_of_item[here] = n_groups + group
        groups.append(np.repeat(np.arange(n_groups, n_groups + len(examples)), n))
        votes.append(rows[examples].ravel())
        n_groups += len(examples)
    return voted, group_of_item, np.concatenate(groups), np.concatenate(votes)

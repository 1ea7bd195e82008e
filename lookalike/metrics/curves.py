"""ROC and precision-recall curves of one set of scored pairs, thinned for drawing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Floats, Ints
from lookalike.core.near_ties import first_of_ties

MOST_POINTS = 240


def roc_points(scores: ArrayLike, labels: ArrayLike) -> Floats:
    """Return the ROC curve: one corner per distinct score, as scikit-learn has it.

    The straight line between two corners is what a tie group is worth, so the area under these
    points is the ROC-AUC with ties counted half.

    Args:
        scores: shape (n,), higher is more similar.
        labels: shape (n,), 0 or 1.

    Returns:
        Shape (n_points, 2), (share of negatives, share of positives) above each score, from
        (0, 0) to (1, 1); empty without a positive or without a negative.

    Raises:
        ValueError: other shapes, a score that is no number, or a label other than 0 and 1.
    """
    positives, negatives = _counts(scores, labels)
    if positives.size == 0 or positives[-1] == 0 or negatives[-1] == 0:
        return np.zeros((0, 2))
    corners = np.stack([negatives / negatives[-1], positives / positives[-1]], axis=1)
    return np.concatenate([np.zeros((1, 2)), corners])


def precision_recall_points(scores: ArrayLike, labels: ArrayLike) -> Floats:
    """Return (recall, precision) at each distinct score, by rising recall.

    Average precision is the step sum over these points, never the area of the drawn line.

    Args:
        scores: shape (n,).
        labels: shape (n,), 0 or 1.

    Returns:
        Shape (n_points, 2); empty without a positive.

    Raises:
        ValueError: as `roc_points`.
    """
    positives, negatives = _counts(scores, labels)
    if positives.size == 0 or positives[-1] == 0:
        return np.zeros((0, 2))
    return np.stack([positives / positives[-1], positives / (positives + negatives)], axis=1)


def thinned(points: Floats, most: int = MOST_POINTS) -> Floats:
    """Return at most `most` of the points, spread evenly along the first axis, ends kept."""
    if len(points) <= most:
        return points
    wanted = np.linspace(points[0, 0], points[-1, 0], most)
    rows = np.unique(np.minimum(np.searchsorted(points[:, 0], wanted), len(points) - 1))
    rows[0], rows[-1] = 0, len(points) - 1
    kept: Floats = points[rows]
    return kept


def _counts(scores: ArrayLike, labels: ArrayLike) -> tuple[Ints, Ints]:
    """Return how many positives and negatives stand at or above each distinct score, falling."""
    s, y = np.asarray(scores), np.asarray(labels)
    if s.ndim != 1 or s.shape != y.shape:
        raise ValueError(f"scores {s.shape} and labels {y.shape} must be one (n,)")
    if s.dtype.kind not in "biuf" or np.isnan(s).any():
        raise ValueError("a score is NaN or no number")
    if not np.isin(y, (0, 1)).all():
        raise ValueError("a label is neither 0 nor 1")
    s, y = s.astype(np.float64), y.astype(np.int64)
    order = np.argsort(-s, kind="stable")
    ends = np.append(first_of_ties(s[order])[1:], True)[: s.size]
    positives = np.cumsum(y[order])[ends]
    return positives, np.flatnonzero(ends) + 1 - positives

"""When two scores are equal: one tolerance, wherever scores are compared.

Rounding would otherwise decide between candidates that are equally near: float32 gives two
vectors of one direction cosines of 1 and 1.0000001. `rank_run(order="trec")` alone compares
scores as trec_eval does.

The tolerance is as wide as rounding needs: our cosines of vectors of one direction, of 2 to 4,096
numbers, differ by up to two steps of float32 below 1 (1.2e-7), and four steps are allowed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Bools, Floats

TOLERANCE32 = 2.5e-7  # of a score that float32 can hold
TOLERANCE64 = 1e-12  # of any other


def share_of(scores: NDArray[np.floating]) -> float:
    """Return the relative tolerance of scores by their precision: float32 or float64.

    Scores that are all whole numbers are exact: 0.

    Args:
        scores: of one system, any shape. float64 numbers that are all float32 numbers count as
            float32.

    >>> share_of(np.array([0.1, 0.2])), share_of(np.array([0.5, 0.25])), share_of(np.ones(3))
    (1e-12, 2.5e-07, 0.0)
    """
    finite = scores[np.isfinite(scores)]
    if (finite == np.rint(finite)).all():
        return 0.0
    if finite.dtype.itemsize <= np.dtype(np.float32).itemsize:
        return TOLERANCE32
    with np.errstate(over="ignore", under="ignore"):
        is_narrow = (finite.astype(np.float32) == finite).all()
    return TOLERANCE32 if is_narrow else TOLERANCE64


def tolerances(scores: NDArray[np.floating]) -> Floats:
    """Return how far below each score another one still equals it, the shape of `scores`.

    That is a share of the score, or of 1 for cosines: scores between -1 and 1, some negative.

    >>> tolerances(np.array([0.5, -0.25])).tolist(), tolerances(np.array([4.5, 1.0])).tolist()
    ([2.5e-07, 2.5e-07], [1.125e-06, 2.5e-07])
    """
    share = share_of(scores)
    size = np.abs(scores.astype(np.float64))
    finite = np.isfinite(scores)
    is_cosine = finite.any() and scores[finite].min() < 0 and size[finite].max() <= 1 + share
    within: Floats = share * np.where(finite, np.ones_like(size) if is_cosine else size, 0.0)
    return within


def are_tied(scores: NDArray[np.floating], others: NDArray[np.floating]) -> Bools:
    """Return whether scores are equal up to rounding; arrays of shapes that broadcast.

    >>> are_tied(np.float32([1.0000001, 0.5]), np.float32([1.0, 0.5001])).tolist()
    [True, False]
    """
    both = np.broadcast_arrays(scores, others)
    within = tolerances(np.stack(both)).max(axis=0)
    with np.errstate(invalid="ignore"):
        is_near: Bools = np.abs(np.subtract(*both, dtype=np.float64)) <= within
    is_near |= both[0] == both[1]
    return is_near


def first_of_ties(
    falling: NDArray[np.floating], is_start: Bools | None = None, within: Floats | None = None
) -> Bools:
    """Mark where a group of equal scores begins; a group is what equals its highest score.

    Args:
        falling: shape (n,), scores by list, and in each list by falling score.
        is_start: shape (n,), True where a list begins; None: one list.
        within: shape (n,), the tolerance at each score; that of `tolerances` if None.

    Returns:
        Shape (n,).

    >>> first_of_ties(np.float32([1.0000001, 1.0, 0.5, 0.4999999])).tolist()
    [True, False, True, False]
    """
    is_first = np.ones(falling.size, np.bool_)
    if not falling.size:
        return is_first
    s = falling.astype(np.float64)
    allowed = tolerances(falling) if within is None else within
    with np.errstate(invalid="ignore"):
        is_first[1:] = (s[1:] != s[:-1]) & ~(s[:-1] - s[1:] <= allowed[:-1])
        if is_start is not None:
            is_first |= is_start
        firsts = np.flatnonzero(is_first)
        lasts = np.append(firsts[1:], s.size) - 1
        is_long = s[firsts] - s[lasts] > allowed[firsts]
    for first, last in zip(firsts[is_long].tolist(), lasts[is_long].tolist(), strict=True):
        chain, reach = s[first : last + 1], allowed[first : last + 1]
        following = np.searchsorted(-chain, reach - chain, side="right").tolist()
        at = 0
        while (at := following[at]) < len(following):
            is_first[first + at] = True
    return is_first

"""What can be said of one judge: agreement with others, gold and self, pace, drift. Pure.

Nothing here ranks judges in public; it is for the admin who vouches for the labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from lookalike.core.arrays import Bools, Ints

IDLE_SECONDS = 60.0  # a pair looked at for longer was left alone


@dataclass(frozen=True)
class Share:
    """How many of how many; `value` is NaN of none."""

    n_hits: int
    n: int

    @property
    def value(self) -> float:
        """The share, 0..1."""
        return self.n_hits / self.n if self.n else float("nan")


@dataclass(frozen=True)
class Pace:
    """How long a judge thinks, in seconds, and how long images kept them waiting.

    Attributes:
        median: of think time (pair on screen, tab in front), idle pairs left out.
        ninth_decile: nine tenths of the answers are faster.
        median_load: of the wait for images, which is no thinking.
        n_timed: answers behind the figures; imported ones have no time.
        n_idle: answers left out as idle.
    """

    median: float
    ninth_decile: float
    median_load: float
    n_timed: int
    n_idle: int


@dataclass(frozen=True)
class SequenceEffect:
    """Whether a judge's answer leans on the one just given.

    Attributes:
        after_similar: share of “similar” right after “similar”, within queries.
        after_different: share of “similar” right after “different”, within queries.
        z: how much rarer (below 0) or more frequent (above 0) changes of answer are than in a
            random order of the same answers, in standard deviations. Below 0: answers cluster
            (the judge follows the last answer); above 0: they alternate (contrast).
        p: two-sided, normal approximation.
        n: pairs of successive answers looked at.
    """

    after_similar: float
    after_different: float
    z: float
    p: float
    n: int


def pace(visible_ms: Ints, load_ms: Ints) -> Pace:
    """Return how fast a judge works, apart from idling and loading.

    Args:
        visible_ms: shape (n,), time on screen; 0 where it is not known.
        load_ms: shape (n,), time until the images were there.
    """
    timed = visible_ms > 0
    seconds = visible_ms[timed] / 1000.0
    at_work = seconds[seconds <= IDLE_SECONDS]
    if not at_work.size:
        return Pace(float("nan"), float("nan"), float("nan"), 0, int(seconds.size))
    return Pace(
        median=float(np.median(at_work)),
        ninth_decile=float(np.quantile(at_work, 0.9)),
        median_load=float(np.median(load_ms[timed])) / 1000.0,
        n_timed=int(at_work.size),
        n_idle=int(seconds.size - at_work.size),
    )


def sequence_effect(is_similar: Bools, query_ids: Ints) -> SequenceEffect:
    """Return whether answers depend on the answer before, by a runs test within queries.

    Source: Wald and Wolfowitz (Annals of Mathematical Statistics 11, 1940), summed over queries.
    Candidates of one query come in a random order, so within a query every order of the same
    answers is equally likely if the judge does not lean on the last one; comparing across
    queries would take a query with many similar candidates for a habit of the judge.

    Args:
        is_similar: shape (n,), in the order in which the votes were given.
        query_ids: shape (n,).

    Returns:
        NaN where there are no successive votes within a query, or no query has both answers.
    """
    same_query = query_ids[1:] == query_ids[:-1]
    before, after = is_similar[:-1][same_query], is_similar[1:][same_query]
    starts = np.append(True, ~same_query)[: is_similar.size]
    block = np.cumsum(starts) - 1
    n_blocks = int(block[-1]) + 1 if block.size else 0
    n = np.bincount(block, minlength=n_blocks).astype(np.float64)
    n_1 = np.bincount(block, weights=is_similar, minlength=n_blocks)
    n_0 = n - n_1
    changes = np.bincount(block[1:][same_query], weights=before != after, minlength=n_blocks)
    both = (n_1 > 0) & (n_0 > 0)
    product = 2.0 * n_1[both] * n_0[both]
    total = n[both]
    expected = (product / total).sum()
    variance = (product * (product - total) / (total**2 * np.maximum(total - 1.0, 1.0))).sum()
    z = (changes[both].sum() - expected) / np.sqrt(variance) if variance > 0 else np.nan
    return SequenceEffect(
        after_similar=_mean(after[before]),
        after_different=_mean(after[~before]),
        z=float(z),
        p=float(2.0 * ndtr(-abs(z))),
        n=int(before.size),
    )


def share_by_part(is_similar: Bools, n_parts: int = 5) -> list[Share]:
    """Return the share of “similar” in successive parts of a judge's work.

    Queries come in a random order, so that the shares differ by chance alone unless the judge's
    threshold drifts.

    Args:
        is_similar: shape (n,), in the order in which the votes were given.
        n_parts: how many parts of equal length.
    """
    return [Share(int(part.sum()), int(part.size)) for part in np.array_split(is_similar, n_parts)]


def _mean(values: Bools) -> float:
    return float(values.mean()) if values.size else float("nan")

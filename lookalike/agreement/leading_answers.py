"""How often a judge says what most others say, whatever the answers are. Pure."""

from __future__ import annotations

import numpy as np

from lookalike.agreement.judge_statistics import Share
from lookalike.core.arrays import Ints


def shares_with_others(questions: Ints, judges: Ints, answers: Ints) -> dict[int, Share]:
    """Return for each judge how many votes are the answer that leads among the others' votes.

    Where two answers lead among the others, or nobody else voted, nothing is compared; a judge
    of whom no vote is compared is left out.

    Args:
        questions: shape (n_votes,), any numbers; at most one vote of each judge on each.
        judges: shape (n_votes,), any numbers.
        answers: shape (n_votes,), any numbers.

    >>> votes = np.array([[1, 7, 0], [1, 8, 0], [1, 9, 1], [2, 7, 0], [2, 8, 1]])
    >>> shares_with_others(*votes.T)
    {7: Share(n_hits=0, n=1), 8: Share(n_hits=0, n=1), 9: Share(n_hits=0, n=1)}
    """
    if not questions.size:
        return {}
    _, question = np.unique(questions, return_inverse=True)
    _, answer = np.unique(answers, return_inverse=True)
    cells, cell, n = np.unique(
        question * (int(answer.max()) + 1) + answer, return_inverse=True, return_counts=True
    )  # a cell: one answer to one question
    at = np.zeros(cells.size, np.int64)
    at[cell] = question
    starts = np.flatnonzero(np.diff(at, prepend=-1))
    most = np.maximum.reduceat(n, starts)
    leads = n == most[at]
    n_leading = np.add.reduceat(leads, starts, dtype=np.int64)
    next_most = np.maximum.reduceat(np.where(leads, 0, n), starts)
    n_next = np.add.reduceat(~leads & (n == next_most[at]), starts, dtype=np.int64)

    own, is_among = n[cell] - 1, leads[cell]
    is_alone = is_among & (n_leading[question] == 1)
    rival = np.where(is_alone, next_most[question], most[question])
    n_rivals = np.where(is_alone, n_next[question], n_leading[question] - is_among)
    agrees = own > rival
    is_compared = agrees | (own < rival) & (n_rivals == 1)
    people, judge = np.unique(judges, return_inverse=True)
    n_compared = np.bincount(judge[is_compared], minlength=people.size).tolist()
    n_agreeing = np.bincount(judge[agrees], minlength=people.size).tolist()
    return {
        person: Share(hits, of)
        for person, hits, of in zip(people.tolist(), n_agreeing, n_compared, strict=True)
        if of
    }

"""Intervals of a panel's agreement on templates or triplets. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lookalike.agreement.intervals import CoefficientIntervals, agreement_intervals
from lookalike.agreement.votes import Votes
from lookalike.conditional.verdicts import OTHER_CHOICES, Vote, answer_column
from lookalike.core.arrays import Ints

SHOWN = ("percent", "alpha", "ac1")  # of `verdict_agreement`


class JudgedAnswer(NamedTuple):
    """One judge's answer to a question: its number, the judge, and the vote."""

    question: int
    judge: str
    vote: Vote


def verdict_intervals(
    answers: Sequence[JudgedAnswer],
    n_candidates: Sequence[int],
    units: Sequence[str],
    others: Sequence[str] = OTHER_CHOICES,
) -> Mapping[str, CoefficientIntervals]:
    """Return the intervals of the figures of `verdict_agreement`, by `SHOWN`.

    Args:
        answers: to the questions, numbered from 0.
        n_candidates: for each question how many images there were.
        units: shape (n_questions,), the independent unit of each, such as its reference's product.
        others: the answers beside picking an image.

    Returns:
        Over other questions, and over other questions and judges; blank with the reason where no
        method holds, as with more than `lookalike.agreement.intervals.MOST_ANSWERS` answers.
    """
    width = max(n_candidates, default=1)
    judges = sorted({one.judge for one in answers})
    place = {judge: at for at, judge in enumerate(judges)}
    columns = [
        answer_column(one.vote, n_candidates[one.question], width, others) for one in answers
    ]
    votes = Votes(
        items=[str(at) for at in range(len(units))],
        workers=judges,
        labels=[str(at) for at in range(width + len(others))],
        item_of=_codes([one.question for one in answers]),
        worker_of=_codes([place[one.judge] for one in answers]),
        label_of=_codes(columns),
        units=_codes(np.unique(np.array(units, dtype=object), return_inverse=True)[1].tolist()),
    )
    found = agreement_intervals(votes)
    return {name: found[name] for name in SHOWN}


def _codes(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)

"""Intervals of agreement on templates and triplets: those of the same answers as labels."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.agreement.intervals import agreement_intervals
from lookalike.agreement.votes import make_votes
from lookalike.conditional.triplet_majority import CANT_TELL
from lookalike.conditional.verdict_intervals import JudgedAnswer, verdict_intervals
from lookalike.conditional.verdicts import PICK, Vote, verdict_agreement

N = 80


def answers(n_judges: int, seed: int = 0, n_questions: int = N) -> list[JudgedAnswer]:
    rng = np.random.default_rng(seed)
    found = []
    for question in range(n_questions):
        likely = rng.integers(2)
        for judge in range(n_judges):
            picked = int(likely if rng.random() < 0.75 else rng.integers(2))
            vote = Vote(CANT_TELL) if rng.random() < 0.1 else Vote(PICK, picked)
            found.append(JudgedAnswer(question, f"j{judge}", vote))
    return found


def test_intervals_of_triplets_are_those_of_their_answers_as_labels():
    given = answers(5)
    units = [f"p{question // 2}" for question in range(N)]
    found = verdict_intervals(given, [2] * N, units, (CANT_TELL,))
    rows = [(f"i{one.question:02d}", one.judge, str(one.vote)) for one in given]
    votes = make_votes(rows)
    plain = agreement_intervals(votes)["alpha"]
    assert found["alpha"].items.low != plain.items.low, "products are the unit"
    alone = verdict_intervals(given, [2] * N, [str(q) for q in range(N)], (CANT_TELL,))
    for name in ("percent", "alpha", "ac1"):
        for side in ("items", "judges"):
            ends, wanted = (
                getattr(alone[name], side),
                getattr(agreement_intervals(votes)[name], side),
            )
            assert (ends.low, ends.high) == pytest.approx((wanted.low, wanted.high))
    figures = verdict_agreement(
        [[one.vote for one in given if one.question == q] for q in range(N)], [2] * N, (CANT_TELL,)
    )
    for name in ("percent", "alpha", "ac1"):
        assert found[name].items.low < getattr(figures, name) < found[name].items.high


@pytest.mark.parametrize(
    ("n_judges", "n_questions", "n_candidates", "items", "judges"),
    [
        (2, N, 2, True, False),
        (5, 8, 2, False, False),
        (5, N, 40, False, False),
        (5, N, 2, True, True),
    ],
)
def test_where_no_method_holds_the_interval_is_blank_with_its_reason(
    n_judges, n_questions, n_candidates, items, judges
):
    found = verdict_intervals(
        answers(n_judges, n_questions=n_questions),
        [n_candidates] * n_questions,
        [str(q) for q in range(n_questions)],
        (CANT_TELL,),
    )
    for of in found.values():
        assert (of.items.is_defined, of.judges.is_defined) == (items, judges)
        assert bool(of.items.reason) != items
        assert bool(of.judges.reason) != judges


def test_answers_of_nobody_have_no_interval():
    assert not verdict_intervals([], [], [])["alpha"].items.is_defined

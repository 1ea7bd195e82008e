"""Who says what most others say: against a count by hand of every vote."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.agreement.judge_statistics import Share
from lookalike.agreement.leading_answers import shares_with_others

votes = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 6)), st.integers(-1, 3), max_size=40
)  # (question, judge): answer


def by_hand(given: dict[tuple[int, int], int]) -> dict[int, Share]:
    found: dict[int, list[bool]] = {}
    for (question, judge), answer in given.items():
        others = Counter(a for (q, j), a in given.items() if q == question and j != judge)
        ranked = others.most_common(2)
        if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
            found.setdefault(judge, []).append(ranked[0][0] == answer)
    return {judge: Share(sum(hits), len(hits)) for judge, hits in found.items()}


@given(votes)
def test_a_vote_is_compared_with_the_answer_that_leads_among_the_others(
    given: dict[tuple[int, int], int],
) -> None:
    table = np.array([(*place, answer) for place, answer in given.items()], np.int64).reshape(-1, 3)
    assert shares_with_others(*table.T) == by_hand(given)


def test_of_three_two_who_agree_lead_for_the_third_alone() -> None:
    questions, judges, answers = np.array([[7, 7, 7], [1, 2, 3], [5, 5, 9]])
    assert shares_with_others(questions, judges, answers) == {3: Share(0, 1)}

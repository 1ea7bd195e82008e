"""What a panel's answers come to."""

from collections import Counter

import numpy as np
import pytest

from lookalike.conditional.verdicts import (
    Outcome,
    Vote,
    count_verdicts,
    decide,
    gallery_order,
    verdict_agreement,
)

TARGET = 14
RIGHT, WRONG, OTHER = Vote("pick", 14), Vote("pick", 3), Vote("pick", 5)
NONE, SEVERAL, BAD = Vote("none"), Vote("several"), Vote("bad_condition")


@pytest.mark.parametrize(
    ("votes", "n_panel", "outcome", "answer"),
    [
        ([], 3, Outcome.WAITING, None),
        ([RIGHT], 3, Outcome.WAITING, None),
        ([RIGHT, RIGHT], 3, Outcome.PASSES, RIGHT),
        ([RIGHT, WRONG, RIGHT], 3, Outcome.PASSES, RIGHT),
        ([WRONG, WRONG, RIGHT], 3, Outcome.FAILS, WRONG),
        ([NONE, NONE], 3, Outcome.FAILS, NONE),
        ([BAD, BAD, BAD], 3, Outcome.FAILS, BAD),
        ([WRONG, OTHER, RIGHT], 3, Outcome.ADJUDICATE, None),
        ([WRONG, NONE], 3, Outcome.WAITING, None),
        ([RIGHT, NONE], 2, Outcome.ADJUDICATE, None),
        ([RIGHT, RIGHT, NONE, SEVERAL], 4, Outcome.ADJUDICATE, None),
        ([RIGHT, NONE, BAD, WRONG], 5, Outcome.ADJUDICATE, None),
        ([RIGHT], 1, Outcome.PASSES, RIGHT),
    ],
)
def test_more_than_half_of_the_panel_decides(votes, n_panel, outcome, answer):
    found = decide(votes, n_panel, TARGET)
    assert (found.outcome, found.answer) == (outcome, answer)


def test_a_unique_answer_is_one_image_right_or_wrong():
    unique = [decide([vote] * 3, 3, TARGET).is_unique for vote in (RIGHT, WRONG, NONE)]
    assert unique == [True, True, False]


def test_shares_are_of_what_is_decided():
    given = [[RIGHT] * 3, [WRONG] * 3, [NONE] * 3, [RIGHT, WRONG, NONE], [RIGHT]]
    share = count_verdicts(decide(votes, 3, TARGET) for votes in given)
    assert (share.n, share.n_decided, share.n_unique) == (5, 4, 2)
    assert (share.unique_share, share.pass_share) == (0.5, 0.25)
    assert np.isnan(count_verdicts([]).unique_share)


def test_judges_agree_on_the_same_answer_only():
    same = verdict_agreement([[RIGHT, RIGHT], [NONE, NONE], [WRONG, WRONG]], [15, 15, 15])
    assert (same.percent, same.alpha) == (1.0, 1.0)
    mixed = verdict_agreement([[RIGHT, RIGHT, WRONG], [WRONG, OTHER, NONE]], [15, 15])
    assert mixed.percent == pytest.approx((1 / 3 + 0) / 2)


def test_targets_of_galleries_of_any_size_are_one_answer():
    found = verdict_agreement([[Vote("pick", 9)] * 2, [Vote("pick", 14)] * 2], [10, 15])
    assert found.prevalence[14] == 1.0
    with pytest.raises(ValueError, match="a pick of 15 among 15"):
        verdict_agreement([[Vote("pick", 15)]], [15])


def test_every_judge_sees_a_gallery_in_an_order_of_their_own():
    orders = {tuple(gallery_order(5, judge, 7, 15)) for judge in range(20)}
    assert len(orders) == 20
    assert all(sorted(order) == list(range(15)) for order in orders)
    assert gallery_order(5, 1, 7, 15) == gallery_order(5, 1, 7, 15)


def test_the_target_stands_everywhere_equally_often():
    places = Counter(gallery_order(1, 0, template, 10).index(9) for template in range(4000))
    expected = 400
    chi_squared = sum((places[place] - expected) ** 2 / expected for place in range(10))
    assert chi_squared < 27.9  # 9 degrees of freedom, p = 0.001

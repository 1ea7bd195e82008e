"""What votes on triplets come to: hand-made cases, a slow oracle, and properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.conditional.triplet_majority import (
    CANT_TELL,
    Closer,
    Standing,
    decide_closer,
    tally_outcomes,
)
from lookalike.conditional.triplet_scores import human_ceiling
from lookalike.conditional.triplets import TripletTable, group_questions
from lookalike.conditional.types import Triplet
from lookalike.conditional.verdicts import PICK, Vote, verdict_agreement

VOTE = {"1": Vote(PICK, 0), "2": Vote(PICK, 1), "?": Vote(CANT_TELL)}


def outcome(text, n_panel=3):
    return decide_closer([VOTE[one] for one in text], n_panel)


@pytest.mark.parametrize(
    ("votes", "n_panel", "standing", "place"),
    [
        ("", 3, Standing.WAITING, None),
        ("1", 3, Standing.WAITING, None),
        ("11", 3, Standing.DECIDED, 0),
        ("22", 3, Standing.DECIDED, 1),
        ("12", 3, Standing.WAITING, None),
        ("122", 3, Standing.DECIDED, 1),
        ("12?", 3, Standing.UNDECIDED, None),
        ("1?", 3, Standing.WAITING, None),
        ("1??", 3, Standing.DECIDED, 0),
        ("???", 3, Standing.UNDECIDED, None),
        ("1122", 4, Standing.UNDECIDED, None),
        ("112", 4, Standing.WAITING, None),
        ("1", 1, Standing.DECIDED, 0),
        ("?", 1, Standing.UNDECIDED, None),
    ],
)
def test_votes_come_to_what_is_said_by_hand(votes, n_panel, standing, place):
    found = outcome(votes, n_panel)
    assert (found.standing, found.place) == (standing, place)


def test_figures_are_counted_over_votes_that_name_a_side():
    tally = tally_outcomes([outcome("112"), outcome("22"), outcome("12?"), outcome("1")])
    assert (tally.n, tally.n_decided, tally.n_undecided, tally.n_waiting) == (4, 2, 1, 1)
    assert (tally.n_votes, tally.n_cant_tell, tally.n_with_majority) == (8, 1, 6)
    assert tally.ceiling == 0.75
    assert tally.cant_tell_share == pytest.approx(1 / 9)
    assert math.isnan(tally_outcomes([outcome("???")]).ceiling)
    assert math.isnan(tally_outcomes([]).cant_tell_share)


@pytest.mark.parametrize("votes", [[Vote("none")], [Vote(PICK, 2)], [Vote(PICK, 0)] * 4])
def test_what_is_no_answer_to_a_triplet_is_refused(votes):
    with pytest.raises(ValueError, match=r"answers to a triplet|votes of 3 judges"):
        decide_closer(votes, 3)


SEEN = st.text("12?", max_size=7)


@given(SEEN, st.integers(0, 3))
def test_an_outcome_is_open_exactly_if_missing_votes_could_change_it(votes, n_missing):
    def final(text):
        n_first, n_second = text.count("1"), text.count("2")
        return None if n_first == n_second else int(n_second > n_first)

    ends = {final(votes + more) for more in _all_texts(n_missing)}
    found = outcome(votes, len(votes) + n_missing)
    if len(ends) > 1:
        assert found.standing == Standing.WAITING
    else:
        assert found.standing != Standing.WAITING
        assert {found.place} == ends


def _all_texts(n):
    return [""] if n == 0 else [one + rest for one in "12?" for rest in _all_texts(n - 1)]


@given(SEEN)
def test_mirroring_the_sides_mirrors_the_outcome_and_order_means_nothing(votes):
    found = outcome(votes, 7)
    mirrored = outcome(votes.translate(str.maketrans("12", "21"))[::-1], 7)
    assert mirrored == Closer(found.standing, found.n_second, found.n_first, found.n_cant_tell)
    if found.place is not None:
        assert mirrored.place == 1 - found.place


@given(st.lists(SEEN, min_size=1, max_size=6))
def test_majority_and_ceiling_are_those_of_the_scoring_of_triplets(questions):
    triplets = [
        Triplet(f"a{number}", *(("b", "c") if one == "1" else ("c", "b")))
        for number, votes in enumerate(questions)
        for one in votes
        if one != "?"
    ]
    tally = tally_outcomes(outcome(votes, len(votes)) for votes in questions)
    assert tally.n_votes == len(triplets)
    if triplets:
        found = group_questions(TripletTable.of(triplets))
        assert tally.ceiling == pytest.approx(human_ceiling(found))
        assert tally.n_decided == int((found.majority != 0).sum())


def test_agreement_counts_cant_tell_as_an_answer_of_its_own():
    votes = [[VOTE[one] for one in text] for text in ("111", "222", "12?", "???")]
    found = verdict_agreement(votes, [2] * 4, others=(CANT_TELL,))
    assert found.percent == 0.75
    assert len(found.prevalence) == 3
    assert found.prevalence == pytest.approx([4 / 12, 4 / 12, 4 / 12])

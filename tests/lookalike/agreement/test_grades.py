"""Medians, their thresholds and ordinal agreement of grades."""

from __future__ import annotations

from itertools import product
from statistics import median_high, median_low

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.agreement.grades import (
    Scale,
    agrees,
    consensus_grades,
    is_settled,
    median_grades,
    ordinal_agreement,
    ordinal_alpha,
    share_within,
)
from lookalike.agreement.majority import majority

SCALE = Scale(("no", "a little", "yes", "very"), 2)
NAN = np.nan
# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section E: four observers
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def counted(ratings, grades):
    return np.array([[(column == grade).sum() for grade in grades] for column in ratings.T])


def test_ordinal_alpha_is_the_published_one():
    assert ordinal_alpha(counted(PUBLISHED, range(1, 6))) == pytest.approx(0.815, abs=5e-4)


@pytest.mark.parametrize("seed", range(30))
def test_ordinal_alpha_is_that_of_the_package(seed):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, 4, (4, 15)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = NAN
    theirs = krippendorff.alpha(ratings, level_of_measurement="ordinal")
    assert ordinal_alpha(counted(ratings, range(4))) == pytest.approx(theirs, abs=1e-12)


def test_agreement_of_nothing_and_of_one_grade_is_undefined():
    for counts in (np.zeros((0, 4), int), np.array([[1, 0, 0, 0]]), np.array([[3, 0, 0, 0]])):
        assert np.isnan(ordinal_agreement(counts).alpha)
    assert np.isnan(share_within(np.array([[1, 0]]), 0))
    assert share_within(np.array([[3, 0, 0, 0]]), 0) == 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_the_median_is_that_of_the_standard_library(votes):
    lower, upper = median_grades(np.bincount(votes, minlength=4)[None])
    assert (lower[0], upper[0]) == (median_low(votes), median_high(votes))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(1, 3))
def test_the_median_is_similar_where_the_majority_is(votes, similar_from):
    counts = np.bincount(votes, minlength=4)
    similar, different = counts[similar_from:].sum(), counts[:similar_from].sum()
    for rule in ("negative", "undecided"):
        [grade], [is_decided] = consensus_grades(counts[None], similar_from, rule)
        label = majority(np.array([similar]), np.array([different]), rule)
        assert is_decided == label.is_decided[0]
        if is_decided:
            assert (grade >= similar_from) == label.is_similar[0]


@given(
    st.lists(st.integers(0, 3), max_size=4),
    st.integers(0, 3),
    st.sampled_from(["negative", "undecided"]),
)
def test_settled_means_that_no_votes_to_come_can_change_it(votes, n_missing, rule):
    futures = {
        consensus_of([*votes, *more], rule)
        for n in range(n_missing + 1)
        for more in product(range(4), repeat=n)
    }
    is_sure = len(futures) == 1 and None not in futures
    assert is_settled(votes, len(votes) + n_missing, SCALE, rule) == is_sure


def consensus_of(votes, rule):
    counts = np.bincount(np.array(votes, int), minlength=4)[None]
    [grade], [is_decided] = consensus_grades(counts, SCALE.similar_from, rule)
    return int(grade) if is_decided else None


@pytest.mark.parametrize(
    ("words", "similar_from", "reason"),
    [
        (("one",), 1, "2 to 5 grades, not 1"),
        (tuple("abcdef"), 2, "2 to 5 grades, not 6"),
        (("a", " "), 1, "needs a word"),
        (("a", "A"), 1, "the same word"),
        (("a", "b"), 0, "from grade 1 to 1 on, not from 0"),
        (("a", "b", "c"), 3, "from grade 1 to 2 on, not from 3"),
    ],
)
def test_a_scale_that_is_none_is_refused(words, similar_from, reason):
    with pytest.raises(ValueError, match=reason):
        Scale(words, similar_from)


def test_a_check_is_met_by_the_next_grade_on_the_same_side():
    answers = list(SCALE.answers)
    met = {(a, b) for a in answers for b in answers if agrees(a, b)}
    same_side = {(a, b) for a in answers for b in answers if a[:4] == b[:4]}
    assert met == same_side
    wide = Scale(tuple("abcde"), 1)
    assert not agrees(wide.answer(1), wide.answer(4))
    assert agrees("similar", "similar")
    assert not agrees("cant_tell", "similar:2")
    assert not agrees("pick:1", "pick:2")

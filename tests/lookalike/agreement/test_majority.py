from itertools import product

import numpy as np
import pytest

from lookalike.agreement.majority import (
    accuracy_by_tie_side,
    accuracy_range,
    accuracy_with_split_ties,
    is_settled,
    majority,
    top_labels,
)

SIMILAR = np.array([3, 2, 1, 1, 0, 0, 2])
DIFFERENT = np.array([0, 1, 2, 1, 3, 0, 2])


@pytest.mark.parametrize(
    ("rule", "similar", "decided"),
    [
        ("negative", [1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0, 1]),
        ("undecided", [1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0]),
        ("unanimous", [1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0, 0]),
    ],
)
def test_each_rule_decides_what_it_says(rule, similar, decided):
    labels = majority(SIMILAR, DIFFERENT, rule)
    assert labels.is_similar.tolist() == [bool(x) for x in similar]
    assert labels.is_decided.tolist() == [bool(x) for x in decided]


def test_the_golden_votes_give_the_golden_majority():
    votes = ["111", "110", "100", "111", "000", "111", "101", "111", "111", "011"]
    n_similar = np.array([row.count("1") for row in votes])
    labels = majority(n_similar, 3 - n_similar, "negative")
    assert "".join(str(int(x)) for x in labels.is_similar) == "1101011111"
    with_missing = majority(np.array([1]), np.array([1]), "negative")  # item 3 is 1:1
    assert not with_missing.is_similar[0]


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="unknown rule 'coin'"):
        majority(SIMILAR, DIFFERENT, "coin")


@pytest.mark.parametrize("rule", ["negative", "undecided"])
@pytest.mark.parametrize("n_wanted", [1, 2, 3, 4, 5])
def test_settled_means_that_no_completion_changes_the_label(rule, n_wanted):
    for n_similar in range(n_wanted + 1):
        for n_different in range(n_wanted + 1 - n_similar):
            left = n_wanted - n_similar - n_different
            outcomes = set()
            for more in range(left + 1):
                labels = majority(
                    np.array([n_similar + more]), np.array([n_different + left - more]), rule
                )
                outcomes.add((bool(labels.is_similar[0]), bool(labels.is_decided[0])))
            settled = is_settled(n_similar, n_different, n_wanted, rule)
            if settled:
                assert len(outcomes) == 1
            elif left:
                assert len(outcomes) > 1


COUNTS = np.array([[3, 0], [1, 2], [2, 2], [0, 0], [1, 1]])


def test_ties_are_marked_not_hidden():
    first, is_tied = top_labels(COUNTS)
    assert first[:2].tolist() == [0, 1]
    assert is_tied.tolist() == [False, False, True, True, True]


def test_a_split_tie_is_half_right_and_each_side_gives_its_own_accuracy():
    counts, truth = COUNTS[[0, 1, 2, 4]], np.array([0, 0, 1, 1])
    assert accuracy_with_split_ties(counts, truth) == pytest.approx((1 + 0 + 0.5 + 0.5) / 4)
    assert accuracy_by_tie_side(counts, truth) == [0.25, 0.75]


def test_the_range_of_accuracies_holds_every_way_to_decide_ties():
    counts = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [2, 1, 0]])
    truth = np.array([0, 1, 2, 0])
    ways = [
        np.mean([label == true for label, true in zip(labels, truth, strict=True)])
        for labels in product(*[np.flatnonzero(row == row.max()) for row in counts])
    ]
    assert accuracy_range(counts, truth) == (min(ways), max(ways)) == (0.25, 1.0)
    assert max(accuracy_by_tie_side(counts, truth)) < accuracy_with_split_ties(counts, truth)


def test_a_label_that_nobody_gave_is_never_right():
    assert accuracy_with_split_ties(COUNTS[:1], np.array([-1])) == 0.0
    assert accuracy_by_tie_side(COUNTS[2:3], np.array([-1])) == [0.0, 0.0]


def test_accuracy_of_nothing_is_undefined():
    assert np.isnan(accuracy_with_split_ties(COUNTS[:0], np.zeros(0, dtype=int)))

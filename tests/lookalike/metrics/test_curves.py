"""Curves of scored pairs: the same of every kind of number, and of numbers alone."""

import numpy as np
import pytest

from lookalike.metrics.curves import precision_recall_points, roc_points


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float16, np.float64])
def test_scores_of_any_kind_have_the_same_curves(kind):
    scores, labels = np.array([0, 1, 2, 3], kind), [0, 1, 0, 1]
    roc = [[0, 0], [0, 0.5], [0.5, 0.5], [0.5, 1], [1, 1]]
    assert roc_points(scores, labels).tolist() == roc
    precision = precision_recall_points(scores, labels)
    np.testing.assert_allclose(precision, [[0.5, 1], [0.5, 1 / 2], [1, 2 / 3], [1, 1 / 2]])


def test_yes_and_no_are_scores_and_labels_too():
    answers = np.array([True, False, True])
    assert roc_points(answers, answers).tolist() == [[0, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize("curve", [roc_points, precision_recall_points])
@pytest.mark.parametrize(
    ("scores", "labels", "reason"),
    [
        ([0.1, np.nan], [0, 1], "NaN or no number"),
        (["a", "b"], [0, 1], "NaN or no number"),
        ([0.1, 0.2], [0, 5], "neither 0 nor 1"),
        ([0.1, 0.2], [0.0, np.nan], "neither 0 nor 1"),
        ([0.1, 0.2, 0.3], [0, 1], r"scores \(3,\) and labels \(2,\)"),
    ],
)
def test_what_has_no_curve_is_refused(curve, scores, labels, reason):
    with pytest.raises(ValueError, match=reason):
        curve(scores, labels)

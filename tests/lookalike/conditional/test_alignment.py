"""The WS-CSL criterion: goldens, an oracle and its properties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from lookalike.conditional.alignment import (
    accuracy_matrix,
    align,
    reversed_diagnostic,
    sinkhorn_accuracy,
)
from lookalike.conditional.triplet_scores import verdicts
from lookalike.conditional.triplets import TripletTable
from lookalike.conditional.types import Triplet

A = np.array([[0.9, 0.6, 0.5], [0.8, 0.7, 0.55], [0.85, 0.65, 0.6]])
B = np.array([[0.5, 0.9, 0.6], [0.4, 0.8, 0.7], [0.6, 0.55, 0.95]])
NEAR_TIE = np.array([[0.8, 0.7], [0.7995, 0.7]])
BAD_ROW = np.array([[0.9, 0.05], [0.1, 0.02]])
TALL = np.array([[0.9, 0.6], [0.8, 0.7], [0.85, 0.65]])
WIDE = np.array([[0.9, 0.6, 0.5, 0.88], [0.8, 0.7, 0.55, 0.5], [0.85, 0.65, 0.6, 0.5]])


def signs_of(table, *embeddings):
    return np.stack([verdicts(table, one, "euclidean") for one in embeddings], axis=1)


def accuracies(shape):
    return arrays(np.float64, shape, elements=st.integers(0, 100).map(lambda n: n / 100))


@pytest.mark.parametrize(
    ("matrix", "ot", "greedy"),
    [
        (A, 0.733333, 0.85),
        (NEAR_TIE, 0.75, 0.79975),
        (BAD_ROW, 0.46, 0.5),
        (TALL, 0.783333, 0.85),
        (WIDE, 0.7575, 0.85),
    ],
)
def test_golden_matrices(matrix, ot, greedy):
    found = align(matrix)
    assert found.ot == pytest.approx(ot, abs=1e-6)
    assert found.greedy == found.greedy_on_test == pytest.approx(greedy, abs=1e-6)


def test_the_golden_choices():
    assert align(A).main_choice.tolist() == [0, 1, 2]
    assert align(A).greedy_choice.tolist() == [0, 0, 0]
    assert align(TALL).by_condition == pytest.approx([0.9, 0.7, 0.75])


def test_what_is_fitted_on_validation_is_scored_on_test():
    found = align(A, B)
    assert found.ot == pytest.approx(0.75)
    assert found.greedy == pytest.approx(0.5)
    assert found.greedy_on_test == pytest.approx(0.883333, abs=1e-6)


@pytest.mark.parametrize(
    ("regularisation", "reported"), [(1e-3, 0.733333), (1e-2, 0.733094), (1e-1, 0.698594)]
)
def test_sinkhorn_of_the_golden_matrix(regularisation, reported):
    found = sinkhorn_accuracy(A, regularisation=regularisation)
    assert found.reported == pytest.approx(reported, abs=1e-6)
    assert found.mass == pytest.approx(1.0)
    assert not found.failure


def test_sinkhorn_averages_near_ties_and_reports_1_on_underflow():
    assert sinkhorn_accuracy(NEAR_TIE).reported == pytest.approx(0.749890, abs=1e-6)
    broken = sinkhorn_accuracy(BAD_ROW)
    assert broken.reported == pytest.approx(1.0)
    assert broken.mass < 1e-6
    assert broken.failure.startswith("underflow: the plan has mass")


@given(accuracies((3, 3)))
def test_square_transport_is_the_best_assignment(matrix):
    best = max(
        np.mean([matrix[row, column] for row, column in enumerate(order)])
        for order in permutations(range(3))
    )
    assert align(matrix).ot == pytest.approx(best)


@given(st.sampled_from([(2, 3), (3, 2), (4, 3), (1, 3), (3, 1)]).flatmap(accuracies))
def test_rectangular_transport_has_its_marginals_and_is_optimal(matrix):
    n_rows, n_columns = matrix.shape
    plan = align(matrix).plan
    assert plan.sum(axis=1) == pytest.approx(1 / n_rows)
    assert plan.sum(axis=0) == pytest.approx(1 / n_columns)
    equal = np.vstack(
        [
            np.kron(np.eye(n_rows), np.ones(n_columns)),
            np.kron(np.ones(n_rows), np.eye(n_columns)),
        ]
    )
    marginals = [1 / n_rows] * n_rows + [1 / n_columns] * n_columns
    best = linprog(-matrix.ravel(), A_eq=equal, b_eq=marginals, method="highs")
    assert align(matrix).ot == pytest.approx(-best.fun, abs=1e-9)


@given(accuracies((4, 4)), st.permutations(range(4)))
def test_permuting_embeddings_changes_neither_score_and_transport_is_at_most_greedy(matrix, order):
    found, permuted = align(matrix), align(matrix[:, order])
    assert permuted.ot == pytest.approx(found.ot)
    assert permuted.greedy == pytest.approx(found.greedy)
    assert found.ot <= found.greedy + 1e-12


@given(accuracies((4, 1)))
def test_with_one_embedding_both_scores_are_its_mean_accuracy(matrix):
    found = align(matrix)
    assert found.ot == pytest.approx(found.greedy)
    assert found.ot == pytest.approx(matrix.mean())


@pytest.mark.parametrize(
    ("validation", "test", "reason"),
    [
        (np.array([[0.5, 1.2]]), None, r"validation\[0, 1\] is 1.2"),
        (A, np.where(B > 0.9, np.nan, B), r"test\[2, 2\] is nan"),
        (A, TALL, "test .3, 2."),
        (np.zeros((0, 2)), None, "shape .0, 2."),
    ],
)
def test_bad_matrices_are_refused_with_the_place(validation, test, reason):
    with pytest.raises(ValueError, match=reason):
        align(validation, test)
    with pytest.raises(ValueError, match=reason):
        sinkhorn_accuracy(validation, test)


def test_sinkhorn_needs_a_regularisation():
    with pytest.raises(ValueError, match="not above 0"):
        sinkhorn_accuracy(A, regularisation=0)


def test_the_matrix_counts_each_condition_for_itself():
    triplets = [
        Triplet("a", "b", "c", "left"),
        Triplet("b", "a", "c", "left"),
        Triplet("a", "c", "b", "right"),
    ]
    table = TripletTable.of(triplets)
    line, other = np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [5.0], [1.0]])
    flat = np.zeros((3, 1))
    found = accuracy_matrix(table, signs_of(table, line, other, flat))
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_a_collapsed_embedding_scores_half_on_half_reversed_triplets():
    triplets = [Triplet("a", "b", "c", "x"), Triplet("b", "a", "c", "x")]
    table = TripletTable.of(triplets, [True, False])
    assert accuracy_matrix(table, signs_of(table, np.zeros((3, 2)))).tolist() == [[0.5]]
    with pytest.raises(ValueError, match="no embedding"):
        accuracy_matrix(table, np.zeros((2, 0), np.int8))


def test_conditions_without_triplets_are_nan_and_refused_by_the_alignment():
    table = TripletTable.of([Triplet("a", "b", "c", "x"), Triplet("b", "a", "c", "y")])
    only = table.kept(table.conditions == 0)
    matrix = accuracy_matrix(only, signs_of(only, np.eye(3)))
    assert np.isnan(matrix[1, 0])
    with pytest.raises(ValueError, match="is nan"):
        align(matrix)


def test_a_model_that_may_choose_its_condition_explains_a_triplet_both_ways():
    # two embeddings that disagree on the first triplet and agree on the second
    far, close = np.array([[2.0, 1.0], [2.0, 2.0]]), np.array([[1.0, 3.0], [1.0, 1.0]])
    even = reversed_diagnostic(far, close)
    assert (even.valid, even.valid_reversed) == (0.5, 0.5)
    assert (even.explained, even.explained_reversed, even.explained_both_ways) == (1.0, 0.5, 0.5)
    forth, back = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    chooser = reversed_diagnostic(far, close, forth, back)
    assert (chooser.valid, chooser.valid_reversed) == (1.0, 0.5)


def test_one_consistent_distance_never_calls_both_ways_valid():
    rng = np.random.default_rng(0)
    far, close = rng.integers(0, 3, (2, 200, 4)).astype(float)
    weights = rng.dirichlet(np.ones(4), 200)
    found = reversed_diagnostic(far, close, weights)
    assert found.valid + found.valid_reversed <= 1
    swapped = reversed_diagnostic(close, far, weights)
    assert (swapped.valid, swapped.valid_reversed) == (found.valid_reversed, found.valid)


@pytest.mark.parametrize(
    ("far", "close", "weights", "reason"),
    [
        (np.ones((2, 2)), np.ones((2, 3)), None, "distances of shapes"),
        (np.ones((0, 2)), np.ones((0, 2)), None, "distances of shapes"),
        (np.full((1, 2), np.nan), np.ones((1, 2)), None, "NaN"),
        (np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 2)), "rows that sum to 1"),
    ],
)
def test_bad_distances_are_refused(far, close, weights, reason):
    with pytest.raises(ValueError, match=reason):
        reversed_diagnostic(far, close, weights)

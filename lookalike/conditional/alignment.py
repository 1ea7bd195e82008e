"""The WS-CSL criterion: do K embeddings cover M conditions?

Source: Ye, Shi, Zhan (CVPR 2022), "Identifying Ambiguous Similarity Conditions via Semantic
Matching", section 4. Their code uses Sinkhorn with regularisation 1e-3; here transport is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.transport import Plan, exact_plan, sinkhorn_plan
from lookalike.conditional.triplet_scores import Signs, valid_and_right
from lookalike.conditional.triplets import TripletTable
from lookalike.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Alignment:
    """Conditions matched with embeddings, and the accuracies that follow.

    Attributes:
        plan: shape (n_conditions, n_embeddings), row sums 1/M, column sums 1/K; fitted on the
            validation matrix.
        by_condition: shape (n_conditions,), test accuracy of each condition under the plan.
        ot: their mean, OT accuracy.
        greedy: mean over conditions of the best embedding's accuracy, chosen on validation.
        greedy_on_test: the same chosen on the test matrix, as the released code does; it never
            falls below `ot`.
        greedy_choice: shape (n_conditions,), the embedding chosen on validation, the first of
            equals.
        main_choice: shape (n_conditions,), the embedding with most of the condition's mass, the
            first of equals.
    """

    plan: Plan
    by_condition: Floats
    ot: float
    greedy: float
    greedy_on_test: float
    greedy_choice: Ints
    main_choice: Ints


@dataclass(frozen=True)
class SinkhornResult:
    """What Sinkhorn makes of the same matrices, for comparison.

    Attributes:
        reported: 1 - sum(T * cost), as the released code computes it.
        mass: sum of T, which should be 1. Where a whole row of costs is large, exp(-cost / reg)
            underflows, T is 0 and `reported` says 1.0 for a bad model.
        failure: what went wrong, or "".
    """

    reported: float
    mass: float
    failure: str


@dataclass(frozen=True)
class ReversedDiagnostic:
    """How willing a model is to call triplets valid, whichever way round they stand.

    Attributes:
        valid: share of triplets whose fused distance says valid.
        valid_reversed: share of the reversed ones. A consistent distance has
            `valid + valid_reversed` <= 1; the sum is 1 where there are no ties.
        explained, explained_reversed: share that at least one of the embeddings calls valid.
        explained_both_ways: share for which some embedding says valid and some (another one)
            says valid of the reversed triplet: what a model that may choose its condition after
            seeing the triplet can always get right.
    """

    valid: float
    valid_reversed: float
    explained: float
    explained_reversed: float
    explained_both_ways: float


def accuracy_matrix(table: TripletTable, signs: Signs) -> Floats:
    """Return which share of each condition's triplets each embedding gets right.

    As the released code counts: predicted valid if strictly nearer (`valid_and_right`).

    Args:
        table: triplets of M conditions.
        signs: shape (n_triplets, K), a column of `verdicts` for each embedding.

    Returns:
        Shape (M, K), rows in the order of `table.condition_names`; NaN in the row of a
        condition without triplets.

    Raises:
        ValueError: no embeddings, or signs of other triplets.
    """
    if signs.ndim != 2 or signs.shape[0] != len(table) or not signs.shape[1]:
        raise ValueError(f"signs of shape {signs.shape} for {len(table)} triplets, or no embedding")
    return shares_by_condition(table, valid_and_right(signs, table.swapped[:, None]))


def shares_by_condition(table: TripletTable, marked: Bools) -> Floats:
    """Return which share of each condition's triplets is marked, for each column.

    Args:
        table: triplets of M conditions.
        marked: shape (n_triplets, K).

    Returns:
        Shape (M, K); NaN in the row of a condition without triplets.
    """
    n_triplets = np.bincount(table.conditions, minlength=len(table.condition_names))[:, None]
    n_marked = np.zeros((len(n_triplets), marked.shape[1]))
    np.add.at(n_marked, table.conditions, marked)
    shares = np.full(n_marked.shape, np.nan)
    np.divide(n_marked, n_triplets, out=shares, where=n_triplets > 0)
    return shares


def align(validation: NDArray[np.floating], test: NDArray[np.floating] | None = None) -> Alignment:
    """Match conditions with embeddings on one matrix and score the match on another.

    For K = M exact transport has a permutation as optimum, found by assignment; for K != M the
    uniform marginals split embeddings or conditions. Where several plans are optimal one of them
    is taken; with `test` given, another one could score differently there.

    Args:
        validation: shape (M, K), accuracies in [0, 1].
        test: the same shape; by default the validation matrix.

    Returns:
        The alignment; with `test` left out, `ot <= greedy` holds.

    Raises:
        ValueError: an empty matrix, NaN, a value outside [0, 1], or two shapes.
    """
    fitted, scored = _both(validation, test)
    plan = exact_plan(1.0 - fitted)
    n_conditions = len(fitted)
    by_condition = (plan * scored).sum(axis=1) * n_conditions
    choice = fitted.argmax(axis=1)
    return Alignment(
        plan=plan,
        by_condition=by_condition,
        ot=float(by_condition.mean()),
        greedy=float(scored[np.arange(n_conditions), choice].mean()),
        greedy_on_test=float(scored.max(axis=1).mean()),
        greedy_choice=choice,
        main_choice=plan.argmax(axis=1),
    )


def sinkhorn_accuracy(
    validation: NDArray[np.floating],
    test: NDArray[np.floating] | None = None,
    regularisation: float = 1e-3,
) -> SinkhornResult:
    """Return what the released code reports, and whether its plan is a plan at all.

    Never use it as a score: near-ties are averaged, and underflow reports 1.0.

    Args:
        validation: as in `align`.
        test: as in `align`.
        regularisation: of the entropy; the released code has 1e-3.

    Raises:
        ValueError: as `align`, or a regularisation that is not above 0.
    """
    fitted, scored = _both(validation, test)
    plan = sinkhorn_plan(1.0 - fitted, regularisation)
    mass = float(plan.sum())
    failure = ""
    if not abs(mass - 1.0) < 1e-3:
        failure = (
            f"underflow: the plan has mass {mass:.3g} instead of 1, so the value means nothing"
        )
    elif np.abs(plan.sum(axis=1) - 1.0 / len(plan)).max() > 1e-3:
        failure = "not converged: conditions do not weigh the same"
    return SinkhornResult(float(1.0 - (plan * (1.0 - scored)).sum()), mass, failure)


def reversed_diagnostic(
    far: Floats,
    close: Floats,
    weights: Floats | None = None,
    reversed_weights: Floats | None = None,
) -> ReversedDiagnostic:
    """Judge triplets and their reversed copies without naming the condition (the old criterion).

    Args:
        far: shape (n_triplets, K), distance of the anchor to the farther image under each
            embedding.
        close: the same to the closer image.
        weights: shape (n_triplets, K), how the model weighs its embeddings for each triplet,
            rows summing to 1; by default all the same.
        reversed_weights: its weights for the reversed triplets; by default the same as
            `weights`, as under a set module.

    Returns:
        The shares; valid means strictly nearer.

    Raises:
        ValueError: other shapes, no triplets, NaN, or weights that do not sum to 1.
    """
    if far.ndim != 2 or far.size == 0 or far.shape != close.shape:
        raise ValueError(f"distances of shapes {far.shape} and {close.shape}")
    if not (np.isfinite(far).all() and np.isfinite(close).all()):
        raise ValueError("a distance is NaN or infinite")
    uniform = np.full(far.shape, 1.0 / far.shape[1])
    weights = uniform if weights is None else weights
    reversed_weights = weights if reversed_weights is None else reversed_weights
    for found in (weights, reversed_weights):
        if found.shape != far.shape or not np.allclose(found.sum(axis=1), 1.0):
            raise ValueError("weights need the shape of the distances, and rows that sum to 1")
    margin = far - close
    forth, back = (margin > 0).any(axis=1), (margin < 0).any(axis=1)
    return ReversedDiagnostic(
        valid=float(((weights * margin).sum(axis=1) > 0).mean()),
        valid_reversed=float(((reversed_weights * margin).sum(axis=1) < 0).mean()),
        explained=float(forth.mean()),
        explained_reversed=float(back.mean()),
        explained_both_ways=float((forth & back).mean()),
    )


def _both(
    validation: NDArray[np.floating], test: NDArray[np.floating] | None
) -> tuple[Floats, Floats]:
    fitted = _checked(validation, "validation")
    scored = fitted if test is None else _checked(test, "test")
    if scored.shape != fitted.shape:
        raise ValueError(f"validation has shape {fitted.shape}, test {scored.shape}")
    return fitted, scored


def _checked(matrix: NDArray[np.floating], what: str) -> Floats:
    found = np.asarray(matrix, np.float64)
    if found.ndim != 2 or found.size == 0:
        raise ValueError(f"the {what} matrix has shape {found.shape}")
    bad = np.argwhere(~((found >= 0) & (found <= 1)))
    if bad.size:
        row, column = bad[0]
        value = found[row, column]
        raise ValueError(f"{what}[{row}, {column}] is {value}, not an accuracy in [0, 1]")
    return found

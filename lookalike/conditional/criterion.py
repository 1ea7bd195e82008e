"""The WS-CSL criterion of triplets under several embeddings: from the answers to the figures.

Source: Ye, Shi, Zhan (CVPR 2022), section 4; `lookalike.conditional.alignment` has the measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lookalike.conditional.alignment import (
    Alignment,
    ReversedDiagnostic,
    SinkhornResult,
    accuracy_matrix,
    align,
    reversed_diagnostic,
    shares_by_condition,
    sinkhorn_accuracy,
)
from lookalike.conditional.triplet_scores import Metric, Signs, distances, verdicts
from lookalike.conditional.triplets import TripletTable, Vectors, group_questions
from lookalike.core.arrays import Bools, Floats, Ints

NO_CONDITION = "(no condition)"
MIN_QUESTIONS = 20  # of a condition, for a part to fit on and a part to score on


@dataclass(frozen=True)
class Seen:
    """What one embedding says of triplets.

    Attributes:
        name: what it is called.
        signs: shape (n_triplets,), as `verdicts`.
        far, close: shape (n_triplets,), distances of the anchor to both candidates, divided by
            their mean, so that distances of several embeddings can be added.
    """

    name: str
    signs: Signs
    far: Floats
    close: Floats


def seen_by(table: TripletTable, name: str, vectors: Vectors, metric: Metric) -> Seen:
    """Compare the candidates of every triplet.

    Raises:
        ValueError: as `verdicts`.
    """
    signs = verdicts(table, vectors, metric)
    far, close = distances(table, vectors, metric)
    mean = float((far.mean() + close.mean()) / 2) or 1.0
    return Seen(name, signs, far / mean, close / mean)


@dataclass(frozen=True)
class Part:
    """Accuracies on a part of the triplets.

    Attributes:
        accuracy: shape (M, K), share of each condition's triplets that each embedding gets
            right, as `accuracy_matrix`.
        ties: shape (M, K), share for which both candidates are equally near.
        n: shape (M,), how many triplets.
    """

    accuracy: Floats
    ties: Floats
    n: Ints


@dataclass(frozen=True)
class Criterion:
    """How well K embeddings cover M conditions.

    Attributes:
        conditions, embeddings: the names of rows and columns.
        validation: where the match is fitted.
        test: where it is scored; the same where there are too few questions for two parts.
        is_split: whether they are two parts.
        alignment, sinkhorn: of both matrices.
        reversed: of all triplets, every embedding having the same say.
    """

    conditions: tuple[str, ...]
    embeddings: tuple[str, ...]
    validation: Part
    test: Part
    is_split: bool
    alignment: Alignment
    sinkhorn: SinkhornResult
    reversed: ReversedDiagnostic

    @property
    def whole(self) -> Part:
        """Accuracies on all triplets."""
        fitted, scored = self.validation, self.test
        if not self.is_split:
            return fitted
        n = fitted.n + scored.n
        of_fitted, of_scored = (fitted.n / n)[:, None], (scored.n / n)[:, None]
        accuracy = fitted.accuracy * of_fitted + scored.accuracy * of_scored
        ties = fitted.ties * of_fitted + scored.ties * of_scored
        return Part(np.minimum(accuracy, 1.0), np.minimum(ties, 1.0), n)

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored and printed."""
        found = self.alignment
        return {
            "conditions": list(self.conditions),
            "embeddings": list(self.embeddings),
            "is_split": self.is_split,
            "validation": _lists(self.validation),
            "test": _lists(self.test),
            "ot_accuracy": found.ot,
            "greedy_accuracy": found.greedy,
            "greedy_accuracy_chosen_on_test": found.greedy_on_test,
            "by_condition": found.by_condition.tolist(),
            "plan": found.plan.tolist(),
            "main_choice": found.main_choice.tolist(),
            "greedy_choice": found.greedy_choice.tolist(),
            "sinkhorn": asdict(self.sinkhorn),
            "reversed": asdict(self.reversed),
        }


def measure(table: TripletTable, seen: Sequence[Seen], seed: int) -> Criterion:
    """Match conditions with embeddings on one part of the questions, and score it on the other.

    Args:
        table: triplets of at least two conditions.
        seen: what each embedding says of them.
        seed: of the parts.

    Raises:
        ValueError: fewer than two conditions, no embedding, or two of one name.
    """
    names = tuple(one.name for one in seen)
    if len(table.condition_names) < 2:
        raise ValueError("the triplets have one condition; at least two are matched")
    if not names or len(set(names)) != len(names):
        raise ValueError("at least one embedding is needed, each with its own name")
    signs = np.stack([one.signs for one in seen], axis=1)
    in_test = scored_part(table, seed)
    whole = np.ones(len(table), np.bool_)
    fitted = _part(table, signs, whole if in_test is None else ~in_test)
    scored = fitted if in_test is None else _part(table, signs, in_test)
    far = np.stack([one.far for one in seen], axis=1)
    close = np.stack([one.close for one in seen], axis=1)
    return Criterion(
        conditions=tuple(name or NO_CONDITION for name in table.condition_names),
        embeddings=names,
        validation=fitted,
        test=scored,
        is_split=in_test is not None,
        alignment=align(fitted.accuracy, scored.accuracy),
        sinkhorn=sinkhorn_accuracy(fitted.accuracy, scored.accuracy),
        reversed=reversed_diagnostic(far, close),
    )


def scored_part(table: TripletTable, seed: int) -> Bools | None:
    """Draw half of each condition's questions, to score on; all answers to one go together.

    Returns:
        Shape (n_triplets,); None where a condition has fewer than MIN_QUESTIONS questions.
    """
    questions = group_questions(table)
    rng = np.random.default_rng([seed, 5])
    in_test = np.zeros(len(questions), np.bool_)
    for code in range(len(table.condition_names)):
        own = np.flatnonzero(questions.conditions == code)
        if own.size < MIN_QUESTIONS:
            return None
        in_test[rng.permutation(own)[: own.size // 2]] = True
    drawn: Bools = in_test[questions.of_triplet]
    return drawn


def _part(table: TripletTable, signs: Signs, is_kept: Bools) -> Part:
    kept, its_signs = table.kept(is_kept), signs[is_kept]
    n = np.bincount(kept.conditions, minlength=len(table.condition_names))
    ties = shares_by_condition(kept, its_signs == 0)
    return Part(accuracy_matrix(kept, its_signs), ties, n)


def _lists(part: Part) -> dict[str, Any]:
    return {name: values.tolist() for name, values in vars(part).items()}

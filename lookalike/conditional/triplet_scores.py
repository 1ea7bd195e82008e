"""How well an embedding, or a known scale, agrees with human triplets, and how far people agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.triplets import Questions, TripletTable, Vectors, group_questions
from lookalike.core.arrays import Bools, Floats
from lookalike.core.near_ties import share_of
from lookalike.core.unit_vectors import unit_rows

Metric = Literal["cosine", "euclidean"]
Signs = NDArray[np.int8]
BLOCK = 8192


@dataclass(frozen=True)
class Agreement:
    """How often something predicts the closer image, over votes or questions.

    Attributes:
        n: how many were compared.
        n_right: how many predictions are right.
        n_ties: where both candidates are equally near, so that nothing is predicted.
    """

    n: int
    n_right: int
    n_ties: int

    @property
    def accuracy(self) -> float:
        """Share that is right, a tie counting half (a coin); NaN where nothing was compared."""
        return (self.n_right + self.n_ties / 2) / self.n if self.n else float("nan")

    @property
    def pessimistic(self) -> float:
        """Share that is right, a tie counting as wrong; NaN where nothing was compared."""
        return self.n_right / self.n if self.n else float("nan")

    @property
    def decided(self) -> float:
        """Share that is right among those without tie; NaN where all are ties."""
        n_decided = self.n - self.n_ties
        return self.n_right / n_decided if n_decided else float("nan")


@dataclass(frozen=True)
class TripletScore:
    """What an embedding scores on triplets.

    Attributes:
        votes: over all answers, so that a question weighs as many as answered it.
        majority: over questions with a majority, each once.
        n_human_ties: questions with as many votes for either candidate; in no `majority`.
        ceiling: the largest share of the votes that any fixed prediction for each question can
            be right about (the share of votes with the majority). 1 where every question was
            answered once, which says nothing.
        by_condition: {condition: agreement over its votes}.
        by_condition_majority: {condition: agreement over its questions with a majority}.
        macro: mean of the conditions' accuracies over votes, each condition weighing the same.
    """

    votes: Agreement
    majority: Agreement
    n_human_ties: int
    ceiling: float
    by_condition: Mapping[str, Agreement]
    by_condition_majority: Mapping[str, Agreement]
    macro: float


@dataclass(frozen=True)
class HumanFigures:
    """How people answered, against a known order of the candidates.

    Attributes:
        single: over votes.
        majority: over questions, a human tie counting half like any other tie.
        n_questions: how many questions were compared.
        n_undefined: votes on questions where the known order has a tie; left out of all.
    """

    single: Agreement
    majority: Agreement
    n_questions: int
    n_undefined: int


def verdicts(table: TripletTable, vectors: Vectors, metric: Metric = "cosine") -> Signs:
    """Say which candidate an embedding puts nearer to the anchor.

    Cosine compares the dot products of unit vectors, euclidean the squared distances, both in
    the vectors' own precision, but at least in float32. Values within the tolerance
    of `core.near_ties` (of 1 for cosines, of the larger distance otherwise) are equal, or rounding
    would decide where both candidates lie in the anchor's direction.

    Args:
        table: the triplets.
        vectors: shape (n_images, d), in the order of `table.images`, finite.
        metric: cosine or euclidean.

    Returns:
        Shape (n_triplets,): 1 where the closer image is nearer, -1 where the farther one is, 0
        where both are equally near.

    Raises:
        ValueError: another metric or shape, a value that is no finite number, a vector too long
            or too short for its precision, or (cosine) a zero vector.
    """
    far, near = _nearness(table, _checked(table, vectors, metric), metric)
    return _signs(near, far, np.ones_like(near) if metric == "cosine" else None)


def distances(
    table: TripletTable, vectors: Vectors, metric: Metric = "cosine"
) -> tuple[Floats, Floats]:
    """Return how far the anchor is from both candidates: 1 - cosine, or the euclidean distance.

    Args:
        table: the triplets.
        vectors: as in `verdicts`.
        metric: cosine or euclidean.

    Returns:
        Two arrays of shape (n_triplets,): to the farther image, and to the closer one.

    Raises:
        ValueError: as `verdicts`.
    """
    found = _nearness(table, _checked(table, vectors, metric), metric).astype(np.float64)
    apart = 1.0 - found if metric == "cosine" else np.sqrt(-found)
    return apart[0], apart[1]


def score_triplets(
    table: TripletTable, vectors: Vectors, metric: Metric = "cosine"
) -> TripletScore:
    """Score an embedding against human triplets.

    Model ties count half (`Agreement.accuracy`) and are also counted apart; questions that
    people leave undecided are left out of `majority` and counted.

    Args:
        table: at least one triplet.
        vectors: as in `verdicts`.
        metric: cosine or euclidean.

    Raises:
        ValueError: as `verdicts`.
    """
    signs = verdicts(table, vectors, metric)
    questions = group_questions(table)
    right = _says_right(table, questions, signs)
    has_majority = questions.majority != 0
    by_votes = {
        name: _agreement(signs[table.conditions == code])
        for code, name in enumerate(table.condition_names)
    }
    by_majority = {
        name: _agreement(right[has_majority & (questions.conditions == code)])
        for code, name in enumerate(table.condition_names)
    }
    return TripletScore(
        votes=_agreement(signs),
        majority=_agreement(right[has_majority]),
        n_human_ties=int((~has_majority).sum()),
        ceiling=human_ceiling(questions),
        by_condition=by_votes,
        by_condition_majority=by_majority,
        macro=float(np.mean([found.accuracy for found in by_votes.values() if found.n])),
    )


def human_ceiling(questions: Questions, min_votes: int = 1) -> float:
    """Return the share of votes that are with the majority of their question.

    No prediction that depends on the question alone agrees with more of these votes. It is
    optimistic for new votes. NaN where no question has `min_votes` votes.
    """
    kept = questions.n_votes >= min_votes
    n_votes = int(questions.n_votes[kept].sum())
    with_majority = np.maximum(questions.n_first, questions.n_second)[kept].sum()
    return float(with_majority / n_votes) if n_votes else float("nan")


def human_figures(table: TripletTable, scale: Floats, min_votes: int = 1) -> HumanFigures:
    """Compare votes and majorities with a known one-dimensional scale.

    The candidate whose value is nearer to the anchor's is the right one; a question whose two
    candidates are equally far is undefined and left out.

    Args:
        table: the answers.
        scale: shape (n_images,), values in the order of `table.images`, finite.
        min_votes: only questions with at least so many votes are compared.

    Raises:
        ValueError: another number of values, or one that is not finite.
    """
    if scale.shape != (len(table.images),) or not np.isfinite(scale).all():
        raise ValueError(f"{len(table.images)} images need as many finite values")
    questions = group_questions(table)
    anchors = scale[questions.anchors]
    truth = _signs(
        np.abs(anchors - scale[questions.second]), np.abs(anchors - scale[questions.first])
    )
    enough = questions.n_votes >= min_votes
    kept = enough & (truth != 0)
    votes = np.where(questions.says_first, 1, -1).astype(np.int8)
    of_vote = questions.of_triplet
    return HumanFigures(
        single=_agreement((votes * truth[of_vote])[kept[of_vote]]),
        majority=_agreement((questions.majority * truth)[kept]),
        n_questions=int(kept.sum()),
        n_undefined=int((enough & (truth == 0))[of_vote].sum()),
    )


def _signs(
    values: NDArray[np.floating],
    others: NDArray[np.floating],
    of: NDArray[np.floating] | None = None,
) -> Signs:
    """Return the signs of differences, 0 within a share of `of`, or of the larger."""
    unit = np.maximum(np.abs(values), np.abs(others)) if of is None else of
    apart = values - others
    is_apart = np.abs(apart) > share_of(np.stack([values, others])) * unit
    return np.where(is_apart, np.sign(apart), 0).astype(np.int8)


def _checked(table: TripletTable, vectors: Vectors, metric: Metric) -> Vectors:
    """Return the vectors in at least float32, for cosines of length 1."""
    if metric not in get_args(Metric):
        raise ValueError(f"unknown metric {metric!r}; one of {', '.join(get_args(Metric))}")
    if vectors.ndim != 2 or len(vectors) != len(table.images):
        raise ValueError(f"{len(table.images)} images need as many vectors, not {vectors.shape}")
    if vectors.dtype.kind not in "fiu":
        raise ValueError(f"vectors must be real numbers, not {vectors.dtype}")
    wide = vectors.astype(np.result_type(vectors.dtype, np.float32), copy=False)
    if not np.isfinite(wide).all():
        raise ValueError("a vector holds NaN or infinity")
    is_cosine = metric == "cosine"
    if is_cosine and not wide.any(axis=1).all():
        raise ValueError("a vector has length 0, so no cosine")
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("nd,nd->n", wide, wide)
        longest = 4 * squares.max(initial=0)  # no squared distance is larger
    shortest = squares.min() if is_cosine else squares.max(initial=0)
    is_short = wide.any() and shortest < np.finfo(wide.dtype).tiny
    if is_short or not np.isfinite(longest):
        what = "cosines" if is_cosine else "squared distances"
        raise ValueError(f"a vector is too long or too short for {what} in {wide.dtype}")
    return unit_rows(wide) if is_cosine else wide


def _nearness(table: TripletTable, vectors: Vectors, metric: Metric) -> NDArray[np.floating]:
    """Shape (2, n_triplets): of the anchor to the farther image, and to the closer one."""
    found = np.empty((2, len(table)), vectors.dtype)
    for start in range(0, len(table), BLOCK):
        part = slice(start, start + BLOCK)
        anchors = vectors[table.anchors[part]]
        for row, others in enumerate((table.farther, table.closer)):
            if metric == "cosine":
                found[row, part] = np.einsum("ij,ij->i", anchors, vectors[others[part]])
            else:
                gaps = anchors - vectors[others[part]]
                found[row, part] = -np.einsum("ij,ij->i", gaps, gaps)
    return found


def _says_right(table: TripletTable, questions: Questions, signs: Signs) -> Signs:
    """Shape (n_questions,): 1 where the prediction is the majority's, -1 not, 0 undecided."""
    says_first = np.where(questions.says_first, signs, -signs)
    of_question = np.empty(len(questions), np.int8)
    of_question[questions.of_triplet] = says_first
    return of_question * questions.majority


def _agreement(signs: Signs | NDArray[np.signedinteger]) -> Agreement:
    return Agreement(int(signs.size), int((signs > 0).sum()), int((signs == 0).sum()))


def valid_and_right(signs: Signs, swapped: Bools) -> Bools:
    """Mark the triplets that the WS-CSL criterion counts as right.

    Source: Ye et al. (CVPR 2022), section 4.1, as its code does it: a triplet as presented is
    predicted valid if the image presented as closer is strictly nearer; right if the triplet
    is not swapped. Ties are predicted invalid, so they are right for swapped triplets: with half
    of them swapped, a collapsed embedding scores .5.

    Args:
        signs: of `verdicts`, about the truly closer image.
        swapped: which triplets are presented the wrong way round.

    Returns:
        Shape (n_triplets,).
    """
    is_right: Bools = np.where(swapped, signs >= 0, signs > 0)
    return is_right

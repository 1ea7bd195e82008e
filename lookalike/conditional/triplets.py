"""Triplets as arrays, and the questions behind them with their votes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.types import Triplet
from lookalike.core.arrays import Bools, Ints
from lookalike.io.errors import InputError
from lookalike.io.matched_names import MatchedNames
from lookalike.io.vectors import VectorTable

Vectors = NDArray[np.floating]


@dataclass(frozen=True)
class TripletTable:
    """Answers to triplet questions; an answer that was given twice stands there twice.

    Attributes:
        images: the images that occur, in ascending order.
        anchors, closer, farther: shape (n_triplets,), positions in `images`.
        condition_names: the conditions that occur, in ascending order; "" where none was given.
        conditions: shape (n_triplets,), positions in `condition_names`.
        swapped: shape (n_triplets,); True where the file presents the farther image as the
            closer one, so that "valid" is the wrong answer. Only the measures of the WS-CSL
            criterion look at it.
    """

    images: tuple[str, ...]
    anchors: Ints
    closer: Ints
    farther: Ints
    condition_names: tuple[str, ...]
    conditions: Ints
    swapped: Bools

    @classmethod
    def of(cls, triplets: Sequence[Triplet], swapped: Sequence[bool] | None = None) -> TripletTable:
        """Code triplets as arrays.

        Raises:
            ValueError: no triplets, an anchor that is a candidate, two equal candidates, or
                another number of flags; with the place of the first such triplet.
        """
        if not triplets:
            raise ValueError("there are no triplets")
        if swapped is not None and len(swapped) != len(triplets):
            raise ValueError(f"{len(swapped)} flags for {len(triplets)} triplets")
        columns = list(zip(*triplets, strict=True))
        names = [name for column in columns[:3] for name in column]
        images, codes = _coded(names)
        anchors, closer, farther = codes.reshape(3, -1)
        bad = np.flatnonzero((anchors == closer) | (anchors == farther) | (closer == farther))
        if bad.size:
            raise ValueError(f"triplet {bad[0]} does not name three images: {triplets[bad[0]]}")
        condition_names, conditions = _coded(columns[3])
        flags = np.zeros(len(triplets), np.bool_) if swapped is None else np.array(swapped, bool)
        return cls(images, anchors, closer, farther, condition_names, conditions, flags)

    def kept(self, is_kept: Bools) -> TripletTable:
        """Return the triplets where `is_kept`; `images` and `condition_names` stay."""
        columns = ("anchors", "closer", "farther", "conditions", "swapped")
        return replace(self, **{name: getattr(self, name)[is_kept] for name in columns})

    def __len__(self) -> int:
        return int(self.anchors.size)


@dataclass(frozen=True)
class Questions:
    """The questions that triplets answer, each with the votes for its two candidates.

    Attributes:
        of_triplet: shape (n_triplets,), the question that a triplet answers.
        says_first: shape (n_triplets,), whether it says that the question's first candidate is
            the closer one; the first is the one whose id sorts first.
        anchors, first, second, conditions: shape (n_questions,), positions as in the table.
        n_first, n_second: shape (n_questions,), the votes for either candidate.
    """

    of_triplet: Ints
    says_first: Bools
    anchors: Ints
    first: Ints
    second: Ints
    conditions: Ints
    n_first: Ints
    n_second: Ints

    @property
    def n_votes(self) -> Ints:
        """Shape (n_questions,): how often each question was answered."""
        return self.n_first + self.n_second

    @property
    def majority(self) -> NDArray[np.int8]:
        """Shape (n_questions,): 1 the first candidate, -1 the second, 0 as many votes for both."""
        signs: NDArray[np.int8] = np.sign(self.n_first - self.n_second).astype(np.int8)
        return signs

    def __len__(self) -> int:
        return int(self.anchors.size)


def group_questions(table: TripletTable) -> Questions:
    """Group answers by anchor, unordered pair of candidates and condition.

    Questions are ordered by condition, anchor, first and second candidate.
    """
    says_first = table.closer < table.farther
    first = np.minimum(table.closer, table.farther)
    second = np.maximum(table.closer, table.farther)
    rows = np.stack([table.conditions, table.anchors, first, second])
    order = np.lexsort(rows[::-1])
    ordered = rows[:, order]
    is_new = np.ones(len(table), np.bool_)
    is_new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    of_triplet = np.empty(len(table), np.int64)
    of_triplet[order] = np.cumsum(is_new) - 1
    n_questions = int(is_new.sum())
    conditions, anchors, firsts, seconds = ordered[:, is_new]
    n_first = np.bincount(of_triplet[says_first], minlength=n_questions)
    n_second = np.bincount(of_triplet[~says_first], minlength=n_questions)
    return Questions(
        of_triplet, says_first, anchors, firsts, seconds, conditions, n_first, n_second
    )


def vectors_for(table: TripletTable, found: VectorTable) -> NDArray[np.float32]:
    """Return the vectors of a table's images, in its order.

    Returns:
        Shape (n_images, d).

    Raises:
        InputError: an image has no vector, or two.
    """
    row_of: dict[str, int] = {}
    wanted = frozenset(table.images)
    matched = MatchedNames(wanted, "the triplets").match(found.ids, "the vectors")
    for row, written in enumerate(found.ids):
        name = matched.get(written, written)
        if name in wanted and row_of.setdefault(name, row) != row:
            raise InputError(f"image {name!r} has two vectors")
    missing = [name for name in table.images if name not in row_of]
    if missing:
        reason = f"{len(missing):,} of {len(table.images):,} images of the triplets have no vector"
        raise InputError(f"{reason} (first: {missing[0]!r})")
    return found.vectors[[row_of[name] for name in table.images]]


def _coded(names: Iterable[str]) -> tuple[tuple[str, ...], Ints]:
    names = list(names)
    known = tuple(sorted(set(names)))
    place = {name: code for code, name in enumerate(known)}
    return known, np.fromiter((place[name] for name in names), np.int64, len(names))

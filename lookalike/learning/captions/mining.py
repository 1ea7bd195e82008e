"""Triplets mined from captions: a reference, a target and a condition.

Source: Vaze et al., "GeneCIS" (CVPR 2023), section 5.2, with the details of its released code:
where a target has the reference's object or image, another target is drawn for that reference.
Unlike there, a draw depends on seed and number alone, and a triplet that breaks a rule is never
accepted for want of a better one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from lookalike.core.arrays import Floats, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.captions.concreteness import MISSING
from lookalike.learning.captions.relations import CaptionRow

FEWEST_IMAGES, FEWEST_OBJECTS = 5, 2  # of a subject that is drawn
THRESHOLD = 4.8  # of the mean concreteness; a triplet has to be above it
TRIES = 1000  # draws for one triplet; then there is none
TARGET_TRIES = 100  # draws of a target for one reference, as in the released code
TARGET, TRIPLET = "target", "triplet"
REDRAWS = (TARGET, TRIPLET)
SAME_OBJECT = "target of the same object"
SAME_IMAGE = "target on the same image"
UNKNOWN_WORD = "an entity that has no rating"
NOT_CONCRETE = "not concrete enough"


class Rated(Protocol):
    """Ratings of how concrete an entity is."""

    def score(self, entity: str) -> float:
        """Return its rating, or MISSING."""


class MinedTriplet(NamedTuple):
    """Rows of a caption table.

    Attributes:
        number: of the draw.
        reference, target: of one subject, with other objects, on other images.
        distractor: of the target's object; may be the target.
    """

    number: int
    reference: int
    target: int
    distractor: int


@dataclass(frozen=True)
class Mined:
    """Mined triplets, and why other draws were rejected.

    Attributes:
        triplets: in the order of their numbers; a number without a triplet is left out.
        rejected: {reason: draws}.
        n_given_up: numbers without a triplet after all their draws.
    """

    triplets: tuple[MinedTriplet, ...]
    rejected: dict[str, int]
    n_given_up: int


@dataclass(frozen=True)
class Rules:
    """Which draws are accepted.

    Attributes:
        threshold: a triplet's mean concreteness must be above it; used only with ratings.
        n_rows: how many rows the mean is over: 3 (reference, target and distractor, as in the
            released code) or 2 (without the distractor, as in the paper).
        fewest_images: of a subject.
        tries: draws for one triplet, those of another target included.
        redraw: what is drawn again where the target has the reference's object or image. "target"
            is the authors' rule and leaves subjects as frequent as their images. "triplet" draws
            the reference again, too, so a subject with n objects comes up 1 - 1/n as often.
    """

    threshold: float = THRESHOLD
    n_rows: int = 3
    fewest_images: int = FEWEST_IMAGES
    tries: int = TRIES
    redraw: str = TARGET

    def __post_init__(self) -> None:
        if self.redraw not in REDRAWS:
            raise Refused("redraw", f"{self.redraw!r} is none of {', '.join(REDRAWS)}")
        if self.n_rows not in (2, 3) or min(self.fewest_images, self.tries) < 1:
            raise Refused("rules", "rows are 2 or 3, images and tries at least 1")


class CaptionTable:
    """Relations of captions by subject and object.

    Args:
        rows: as `flatten` returns them; their places are their ids.
        rules: which draws are accepted.
        ratings: of entities; None accepts entities that are not concrete, too.

    Raises:
        Refused: there is no relation, or no subject can be drawn.
    """

    def __init__(
        self, rows: Sequence[CaptionRow], rules: Rules | None = None, ratings: Rated | None = None
    ) -> None:
        if not rows:
            raise Refused("captions", "no relation is in them, so there is nothing to compare")
        self.rows, self.rules, self._ratings = rows, rules or Rules(), ratings
        self.subject, n_subjects = _codes(row.subject for row in rows)
        self.object, _ = _codes(row.object for row in rows)
        self.image, _ = _codes(row.image for row in rows)
        by_subject = _places(self.subject, n_subjects)
        n_images = np.array([len(np.unique(self.image[at])) for at in by_subject])
        n_objects = np.array([len(np.unique(self.object[at])) for at in by_subject])
        drawn = np.flatnonzero(
            (n_images >= self.rules.fewest_images) & (n_objects >= FEWEST_OBJECTS)
        )
        if not drawn.size:
            reason = f"no subject is on {self.rules.fewest_images} images with two objects"
            raise Refused("captions", f"{reason}; {len(rows):,} relations were read")
        self._of_subject = [by_subject[code] for code in drawn]
        self._chance = np.cumsum(n_images[drawn])
        self._objects = [_grouped(self.object, at) for at in self._of_subject]

    @property
    def subjects(self) -> list[str]:
        """The subjects that are drawn."""
        return [self.rows[at[0]].subject for at in self._of_subject]

    @cached_property
    def _of_object(self) -> list[Ints]:
        return _places(self.object, int(self.object.max()) + 1)

    @cached_property
    def _concreteness(self) -> Floats:
        """Rating of each row's subject and object, shape (n, 2)."""
        if self._ratings is None:
            return np.empty((len(self.rows), 0))
        score = self._ratings.score
        return np.array([[score(row.subject), score(row.object)] for row in self.rows])

    def draw(
        self, rng: np.random.Generator, rejected: Counter[str] | None = None
    ) -> tuple[int, int, int] | None:
        """Draw reference, target and distractor until they are a triplet, or return None.

        Subjects are drawn by how many images they are on; then the reference among the subject's
        rows, the target's object among the subject's objects, and so on.

        Args:
            rng: of all draws.
            rejected: counts the draws that are no triplet, by reason.
        """
        rejected = Counter() if rejected is None else rejected
        place = reference = n_targets = 0
        for _ in range(self.rules.tries):
            if not n_targets:
                place, reference = self._reference(rng)
            target = self._target(place, rng)
            reason = self._why_no_target(reference, target)
            if not reason:
                distractor = _one(self._of_object[self.object[target]], rng)
                reason = self._reason((reference, target, distractor))
                if not reason:
                    return reference, target, distractor
            rejected[reason] += 1
            is_redrawn = self.rules.redraw == TARGET and reason in (SAME_OBJECT, SAME_IMAGE)
            n_targets = (n_targets + 1) % TARGET_TRIES if is_redrawn else 0
        return None

    def _reference(self, rng: np.random.Generator) -> tuple[int, int]:
        """Draw a subject's place and one of its rows."""
        place = int(np.searchsorted(self._chance, rng.integers(self._chance[-1]), "right"))
        return place, _one(self._of_subject[place], rng)

    def _target(self, place: int, rng: np.random.Generator) -> int:
        objects = self._objects[place]
        return _one(objects[rng.integers(len(objects))], rng)

    def _why_no_target(self, reference: int, target: int) -> str:
        if self.object[target] == self.object[reference]:
            return SAME_OBJECT
        return SAME_IMAGE if self.image[target] == self.image[reference] else ""

    def _reason(self, rows: tuple[int, int, int]) -> str:
        if self._ratings is None:
            return ""
        terms = self._concreteness[list(rows[: self.rules.n_rows])].ravel()
        if round(float(terms.mean()), 9) > self.rules.threshold:  # 4.8 itself is too little
            return ""
        return UNKNOWN_WORD if (terms == MISSING).any() else NOT_CONCRETE

    def condition(self, triplet: MinedTriplet) -> str:
        """Return the condition of a triplet: the relation and object of its target."""
        row = self.rows[triplet.target]
        return f"{row.relation} {row.object}"


def mine(
    table: CaptionTable, numbers: Iterable[int], seed: int, progress: Progress = SILENT
) -> Mined:
    """Draw the triplets of some numbers; each depends on table, seed and number alone.

    Args:
        table: of the captions.
        numbers: of the triplets, for example those of a shard.
        seed: from 0.
        progress: gets the number of triplets that are done.
    """
    wanted = list(numbers)
    progress.start(0, len(wanted), "Drawing triplets")
    triplets, rejected = [], Counter[str]()
    for done, number in enumerate(wanted, 1):
        found = table.draw(np.random.default_rng([seed, number]), rejected)
        if found is not None:
            triplets.append(MinedTriplet(number, *found))
        progress.update(done, len(wanted))
    return Mined(tuple(triplets), dict(rejected.most_common()), len(wanted) - len(triplets))


def shard(n: int, number: int, n_shards: int) -> range:
    """Return the numbers of a shard's triplets: a range, of equal size up to one.

    >>> [len(shard(10, part, 4)) for part in range(4)]
    [2, 3, 2, 3]

    Args:
        n: triplets in all.
        number: of the shard, from 0.
        n_shards: how many there are.

    Raises:
        Refused: the shard does not exist.
    """
    if not 0 <= number < n_shards:
        raise Refused("shard", f"{number + 1} of {n_shards} is none")
    return range(number * n // n_shards, (number + 1) * n // n_shards)


def join(parts: Iterable[Mined]) -> Mined:
    """Join the shards of one draw, in any order."""
    parts = list(parts)
    rejected = sum((Counter(part.rejected) for part in parts), Counter[str]())
    triplets = sorted(triplet for part in parts for triplet in part.triplets)
    n_given_up = sum(part.n_given_up for part in parts)
    return Mined(tuple(triplets), dict(rejected.most_common()), n_given_up)


def _codes(names: Iterable[str]) -> tuple[Ints, int]:
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(name, len(place)) for name in names], np.int64)
    return codes, len(place)


def _places(codes: Ints, n: int) -> list[Ints]:
    """Return the positions of each code, ascending."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=n))[:-1])


def _grouped(codes: Ints, places: Ints) -> list[Ints]:
    """Group positions by their codes."""
    found, inverse = np.unique(codes[places], return_inverse=True)
    return [places[at] for at in _places(inverse, len(found))]


def _one(of: Ints, rng: np.random.Generator) -> int:
    return int(of[rng.integers(len(of))])

"""What all builders share: caps, fair turns between the conditions, and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from lookalike.conditional.types import Distractor, DistractorKind, RetrievalTemplate, View
from lookalike.conditional.validate import identity
from lookalike.core.arrays import Ints

NO_TARGET = "no target"
FEW_LACKING = "too few images like the reference that lack the condition"
FEW_HAVING = "too few images that meet the condition and are unlike the reference"
DUPLICATE = "reference, condition and target of an earlier template"
REFERENCE_USED = "reference used often enough"


@dataclass(frozen=True)
class Limits:
    """How many templates to draw.

    Attributes:
        n_templates: stop there.
        per_condition: at most so many of one condition; None for no cap.
        per_reference: at most so many of one reference image.
        n_tries: give up after trying so many references; None for never.
    """

    n_templates: int
    per_condition: int | None = 50
    per_reference: int | None = 5
    n_tries: int | None = None

    def __post_init__(self) -> None:
        for name in ("n_templates", "per_condition", "per_reference", "n_tries"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}, not at least 1")


@dataclass(frozen=True)
class BuildReport:
    """How a set came about.

    Attributes:
        n_tried: references with a condition that were tried.
        n_built: templates.
        rejected: {reason: how many tries ended so}.
        by_condition: {condition: templates}, every condition that was tried.
        n_capped: conditions that ended at their cap, maybe with references left.
    """

    n_tried: int
    n_built: int
    rejected: Mapping[str, int]
    by_condition: Mapping[str, int]
    n_capped: int


@dataclass(frozen=True)
class Built:
    """Templates, numbered in the order they were drawn, and how they came about."""

    templates: tuple[RetrievalTemplate, ...]
    report: BuildReport


Attempt = Callable[[str, int], RetrievalTemplate | str]


def draw_in_turns(
    references: Mapping[str, Ints],
    attempt: Attempt,
    images: Ints,
    limits: Limits,
    rng: np.random.Generator,
) -> Built:
    """Give each condition its turn until the limits are reached or nothing is left to try.

    A turn takes the condition's references in random order until one gives a template.

    Args:
        references: {condition: positions to try}.
        attempt: makes a template of a condition and a position, or says why it cannot.
        images: shape (n_positions,), the image of each position, for the cap per reference.
        limits: how many.
        rng: decides the order of conditions and references.
    """
    names = [str(name) for name in rng.permutation(sorted(references))]
    waiting = {name: iter(rng.permutation(references[name]).tolist()) for name in names}
    state = _State(attempt, images, limits)
    n_of: Counter[str] = Counter()
    n_capped = 0
    while waiting and len(state.templates) < limits.n_templates:
        for name in list(waiting):
            if limits.per_condition is not None and n_of[name] >= limits.per_condition:
                n_capped += 1
                del waiting[name]
            elif any(
                state.takes(name, position)
                for position in takewhile(lambda _: not state.is_spent, waiting[name])
            ):
                n_of[name] += 1
            else:
                del waiting[name]
            if len(state.templates) == limits.n_templates:
                break
    by_condition = {name: n_of[name] for name in sorted(names)}
    n_built = len(state.templates)
    rejected = dict(state.rejected.most_common())
    report = BuildReport(state.n_tried, n_built, rejected, by_condition, n_capped)
    return Built(tuple(state.templates), report)


class _State:
    """What was drawn so far."""

    def __init__(self, attempt: Attempt, images: Ints, limits: Limits) -> None:
        self.attempt, self.images, self.limits = attempt, images, limits
        self.templates: list[RetrievalTemplate] = []
        self.rejected: Counter[str] = Counter()
        self.n_tried = 0
        self._of_image: Counter[int] = Counter()
        self._seen: set[tuple[object, ...]] = set()

    @property
    def is_spent(self) -> bool:
        """Whether no further reference may be tried."""
        return self.limits.n_tries is not None and self.n_tried >= self.limits.n_tries

    def takes(self, name: str, position: int) -> bool:
        """Try one reference and say whether it gave a template."""
        self.n_tried += 1
        image, cap = int(self.images[position]), self.limits.per_reference
        if cap is not None and self._of_image[image] >= cap:
            self.rejected[REFERENCE_USED] += 1
            return False
        found = self.attempt(name, position)
        if isinstance(found, str):
            self.rejected[found] += 1
            return False
        key = (found.condition, identity(found.reference), identity(found.target))
        if key in self._seen:
            self.rejected[DUPLICATE] += 1
            return False
        self._seen.add(key)
        self._of_image[image] += 1
        provenance = replace(found.provenance, index=len(self.templates))
        self.templates.append(replace(found, provenance=provenance))
        return True


def shuffled_gallery(
    rng: np.random.Generator, lacking: list[View], having: list[View]
) -> tuple[tuple[Distractor, ...], int]:
    """Return the distractors in a random order, and a random place for the target."""
    gallery = [Distractor(view, DistractorKind.LACKS_CONDITION) for view in lacking]
    gallery += [Distractor(view, DistractorKind.LACKS_REFERENCE) for view in having]
    order = rng.permutation(len(gallery)).tolist()
    return tuple(gallery[place] for place in order), int(rng.integers(len(gallery) + 1))


def pick_apart(candidates: Ints, groups: Ints, taken: set[int], n: int) -> list[int]:
    """Return the first `n` candidates of different groups, none of a taken one.

    The groups of what is returned are added to `taken`; fewer come back where there are no more.
    """
    chosen: list[int] = []
    for position in candidates.tolist():
        group = int(groups[position])
        if group not in taken:
            taken.add(group)
            chosen.append(position)
            if len(chosen) == n:
                break
    return chosen


def group_codes(images: list[str], products: list[str | None]) -> Ints:
    """Number what must not meet in a gallery: the product where it is known, else the image."""
    keys = [
        ("image", image) if product is None else ("product", product)
        for image, product in zip(images, products, strict=True)
    ]
    return number_keys(keys)


def number_keys(keys: list[tuple[str, str]] | list[str]) -> Ints:
    """Number distinct keys in the order of their first appearance."""
    place: dict[object, int] = {}
    return np.array([place.setdefault(key, len(place)) for key in keys], np.int64)

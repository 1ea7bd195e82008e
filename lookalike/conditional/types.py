"""The nouns of conditional similarity: templates, triplets, and the facts they are made from.

Plain frozen values without a database. An image is named by a string: the id that its source gives
it, or the uid of a catalog image. `details` keep what else a source says, so that a file that was
read can be written again without loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

Details = Mapping[str, object]


class Task(StrEnum):
    """What a template asks for: the four tasks of GeneCIS, and composed retrieval (CIRR)."""

    FOCUS_ATTRIBUTE = "focus_attribute"
    CHANGE_ATTRIBUTE = "change_attribute"
    FOCUS_OBJECT = "focus_object"
    CHANGE_OBJECT = "change_object"
    COMPOSED = "composed"

    @property
    def n_distractors(self) -> int | None:
        """How many images a gallery holds beside the target; None where any number may."""
        if self is Task.COMPOSED:
            return None
        return 9 if self is Task.FOCUS_ATTRIBUTE else 14


class DistractorKind(StrEnum):
    """Why an image of the gallery looks right and is not.

    Sources that do not say have `UNKNOWN`.
    """

    LACKS_CONDITION = "lacks_condition"  # like the reference, but does not meet the condition
    LACKS_REFERENCE = "lacks_reference"  # meets the condition, but is not like the reference
    UNKNOWN = "unknown"


class Box(NamedTuple):
    """A rectangle of an image in pixels: its left upper corner and its size, maybe fractional."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class View:
    """What is shown of an image: all of it, or one box.

    Attributes:
        image: the image's id, not empty.
        box: the part that is shown before dilation and padding; None for the whole image.
        details: further keys of the source, as they stood there. Not compared.
    """

    image: str
    box: Box | None = None
    details: Details = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Distractor:
    """One wrong image of a gallery and why it is there."""

    view: View
    kind: DistractorKind = DistractorKind.UNKNOWN


@dataclass(frozen=True)
class Provenance:
    """Where a template comes from.

    Attributes:
        source: "genecis", "cirr", "vaw", "coco_panoptic", "catalog" or another name.
        index: 0-based place in the imported file or in the built set.
        seed: of the draw; None for an imported template.
        facts: what made the builder choose it (the shared object, the attribute's value, …).
    """

    source: str
    index: int
    seed: int | None = None
    facts: Details = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class RetrievalTemplate:
    """Which image of a gallery is most like the reference, given the condition?

    The gallery holds the distractors only, in the order of the file or of the draw; the target is
    kept apart, as in the official files. `candidates` puts it back at `answer`.

    Attributes:
        task: which of the tasks it belongs to.
        condition: the text that the judge and the model read.
        reference: what is compared.
        target: the one right answer.
        gallery: the wrong answers.
        provenance: where it comes from.
        answer: 0-based place of the target among the candidates, in [0, len(gallery)]; drawn by
            the builders, None for an imported template, whose order says nothing.
        details: further keys of the source. Not compared.
    """

    task: Task
    condition: str
    reference: View
    target: View
    gallery: tuple[Distractor, ...]
    provenance: Provenance
    answer: int | None = None
    details: Details = field(default_factory=dict, compare=False, repr=False)

    def candidates(self, answer: int | None = None) -> tuple[View, ...]:
        """Return distractors and target in one order.

        Args:
            answer: where to put the target; by default `self.answer`.

        Raises:
            ValueError: no place for the target is known, or it is outside the gallery.
        """
        place = self.answer if answer is None else answer
        if place is None or not 0 <= place <= len(self.gallery):
            raise ValueError(f"the target has no place among the candidates: answer is {place}")
        views = [distractor.view for distractor in self.gallery]
        return (*views[:place], self.target, *views[place:])

    def views(self) -> Iterator[tuple[str, View]]:
        """Yield every view with its role: "reference", "target", "gallery[0]", …"""
        yield "reference", self.reference
        yield "target", self.target
        for place, distractor in enumerate(self.gallery):
            yield f"gallery[{place}]", distractor.view


@dataclass(frozen=True)
class Instance:
    """An object in an image and what is known of its attributes (VAW, or a catalog's row).

    A value in neither set is unlabelled: nothing is known of it, and no rule takes it for absent.

    Attributes:
        image: id of the image.
        name: id of the instance; the image's id where an image is one instance.
        object_name: what it is ("bag").
        positive: values that it has.
        negative: values that it is known not to have.
        box: where it is in the image; None for the whole image.
        product: images of one product never share a gallery; None where products are unknown.
        details: further keys of the source. Not compared.
    """

    image: str
    name: str
    object_name: str
    positive: frozenset[str]
    negative: frozenset[str]
    box: Box | None = None
    product: str | None = None
    details: Details = field(default_factory=dict, compare=False, repr=False)

    @property
    def contradictions(self) -> frozenset[str]:
        """The values that it is said to have and not to have."""
        return self.positive & self.negative


@dataclass(frozen=True)
class Scene:
    """An image and the categories that it is known to show; what is not listed is absent.

    Attributes:
        image: id of the image.
        shares: {category: share of the image's pixels, in (0, 1]}.
        product: as in `Instance`.
    """

    image: str
    shares: Mapping[str, float] = field(hash=False)
    product: str | None = None

    def categories(self, min_share: float = 0.01) -> frozenset[str]:
        """Return the categories that cover more than `min_share` of the pixels."""
        return frozenset(name for name, share in self.shares.items() if share > min_share)


class Triplet(NamedTuple):
    """One answer: to `anchor`, `closer` is more similar than `farther` is.

    Attributes:
        condition: in what respect; "" where none was given.
        worker: who answered; "" where that is unknown.
    """

    anchor: str
    closer: str
    farther: str
    condition: str = ""
    worker: str = ""


@dataclass(frozen=True, order=True)
class Defect:
    """What is wrong with one entry of a set.

    Attributes:
        index: 0-based place in the set.
        code: which rule is broken, for counting: "duplicate", "gallery_size", …
        reason: for a person.
    """

    index: int
    code: str
    reason: str

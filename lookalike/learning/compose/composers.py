"""What answers templates by an image and a text: the Combiner, and what it has to beat.

Each is a `lookalike.learning.conditions.composer.Composer` and so scores templates of any catalog
whose vectors stand in the same space as the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.template_scores import Baseline, baseline_queries, unit
from lookalike.core.arrays import Bools, Float32s, Floats
from lookalike.core.errors import Refused
from lookalike.learning.compose.combiner import TrainedCombiner

Read = Callable[[str], Float32s]  # from a condition to its vector, shape (d,)


@dataclass(frozen=True)
class BaselineComposer:
    """Image only, text only, or half of each (GeneCIS, section 6.1).

    Attributes:
        baseline: which.
        read: returns the vector of a condition.
        normalised: as `baseline_queries`.
    """

    baseline: Baseline
    read: Read
    normalised: bool = False

    def scores(self, reference: Float32s, candidates: Float32s, condition: str) -> Floats:
        """Return cosines, shape (n,), as `Composer`."""
        text = self.read(condition)[None]
        query = baseline_queries(reference[None], text, self.baseline, normalised=self.normalised)
        return _cosines(query[0], candidates)


@dataclass(frozen=True)
class CombinerComposer:
    """Cosine with what a Combiner makes of reference and condition.

    Attributes:
        combiner: trained.
        read: returns the vector of a condition.
    """

    combiner: TrainedCombiner
    read: Read

    def scores(self, reference: Float32s, candidates: Float32s, condition: str) -> Floats:
        """Return cosines, shape (n,), as `Composer`."""
        query = self.combiner.queries(reference[None], self.read(condition)[None])
        return _cosines(query[0], candidates)


@dataclass(frozen=True)
class ValueComposer:
    """The specific solution for "focus on an attribute".

    Of the attribute's values the one whose text is nearest to the reference is taken to be its
    value, and the text of that value is looked for. The paper says so much (section 6.1); its
    appendix B with all details is not known to us.

    Attributes:
        values: {condition: vectors of the attribute's values, shape (n_values, d)}.
    """

    values: Mapping[str, Float32s]

    def scores(self, reference: Float32s, candidates: Float32s, condition: str) -> Floats:
        """Return cosines with the value's text, shape (n,), as `Composer`.

        Raises:
            Refused: the condition names no attribute whose values are known.
        """
        texts = self.values.get(condition)
        if texts is None:
            raise Refused("condition", f"no values are known of {condition!r}")
        return _cosines(texts[_cosines(reference, texts).argmax()], candidates)


@dataclass(frozen=True)
class ObjectComposer:
    """The specific solution for "change an attribute".

    The object whose text is nearest to the reference is taken to be what it shows, and a text
    of this object with the condition is looked for; what `ValueComposer` says of the paper holds.

    Attributes:
        names: of the objects.
        objects: vectors of their texts, shape (n_objects, d).
        read: returns the vector of an object's name and a condition together.
    """

    names: Sequence[str]
    objects: Float32s
    read: Callable[[str, str], Float32s]

    def scores(self, reference: Float32s, candidates: Float32s, condition: str) -> Floats:
        """Return cosines with the text, shape (n,), as `Composer`."""
        name = self.names[int(_cosines(reference, self.objects).argmax())]
        return _cosines(self.read(name, condition), candidates)


@dataclass(frozen=True)
class BagComposer:
    """The specific solution for objects: the words for what is seen, as sets.

    A candidate that shows what the condition names goes before all that do not; among these, and
    among those, the share of other words in common with the reference decides (Jaccard's). The
    paper compares bags of what a detector finds; how exactly is not known to us.

    Attributes:
        words: that images are described by; a condition is one of them.
        find: returns which words each of some images shows, shape (n, n_words).
    """

    words: Sequence[str]
    find: Callable[[Float32s], Bools]

    def scores(self, reference: Float32s, candidates: Float32s, condition: str) -> Floats:
        """Return scores from 0 to 2, shape (n,), as `Composer`.

        Raises:
            Refused: the condition is none of the words.
        """
        if condition not in self.words:
            raise Refused("condition", f"{condition!r} is none of the words that are looked for")
        place = list(self.words).index(condition)
        shown = self.find(np.vstack([reference[None], candidates]))
        shows = shown[1:, place].astype(np.float64)
        others = np.delete(shown, place, axis=1)
        common = (others[1:] & others[0]).sum(axis=1)
        either = (others[1:] | others[0]).sum(axis=1)
        scores: Floats = shows + common / np.maximum(either, 1)
        return scores


def _cosines(query: NDArray[np.floating], candidates: Float32s) -> Floats:
    found: Floats = unit(candidates) @ unit(query)
    return found

"""Composed retrieval among all images of a set: CIRR and MIT-States."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.template_scores import unit
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.errors import Refused

CUTOFFS = (1, 5, 10)
BLOCK = 256  # queries that are compared at once
# of MIT-States, as Vo et al. (CVPR 2019) split it; all other nouns are for training
TEST_NOUNS = frozenset({
    "armor", "bracelet", "bush", "camera", "candy", "castle", "ceramic", "cheese", "clock",
    "clothes", "coffee", "fan", "fig", "fish", "foam", "forest", "fruit", "furniture", "garden",
    "gate", "glass", "horse", "island", "laptop", "lead", "lightning", "mirror", "orange", "paint",
    "persimmon", "plastic", "plate", "potato", "road", "rubber", "sand", "shell", "sky", "smoke",
    "steel", "stream", "table", "tea", "tomato", "vacuum", "wax", "wheel", "window", "wool",
})  # fmt: skip


@dataclass(frozen=True)
class Composed:
    """Queries among all images of a set.

    Attributes:
        references: row of each query's image, shape (n_queries,).
        conditions: of the queries.
        labels: what an image is, shape (n_images,); for CIRR its own number.
        wanted: label of the images that are right, shape (n_queries,).
    """

    references: Ints
    conditions: tuple[str, ...]
    labels: Ints
    wanted: Ints

    def hits(self, query: int) -> Bools:
        """Return which images are right, never the reference itself."""
        right: Bools = self.labels == self.wanted[query]
        right[self.references[query]] = False
        return right


def named_targets(triplets: Sequence[tuple[str, str, str]], row_of: Mapping[str, int]) -> Composed:
    """Return queries that have one right image each, as CIRR's.

    Args:
        triplets: reference, target and condition.
        row_of: row of each image of the split, in which all are looked for.

    Raises:
        Refused: an image is not of the split, or is its own target.
    """
    for number, (reference, target, _) in enumerate(triplets):
        if unknown := [image for image in (reference, target) if image not in row_of]:
            raise Refused("queries", f"query {number + 1} names {unknown[0]!r}, which is not there")
        if reference == target:
            raise Refused("queries", f"query {number + 1} asks for its own image {target!r}")
    return Composed(
        np.array([row_of[one[0]] for one in triplets], np.int64),
        tuple(one[2] for one in triplets),
        np.arange(len(row_of)),
        np.array([row_of[one[1]] for one in triplets], np.int64),
    )


def changed_states(
    nouns: Sequence[str], states: Sequence[str], kept: frozenset[str] = TEST_NOUNS
) -> tuple[Ints, Composed]:
    """Return the queries of MIT-States: each image, in every other state of its noun.

    Source: Vo et al., "Composing Text and Image for Image Retrieval" (CVPR 2019). The condition
    is the state alone; every image of noun and state is right. Images without a state are in no
    query and are not looked among.

    Args:
        nouns: of all images.
        states: of all images, "" where one has none.
        kept: the nouns that are asked about.

    Returns:
        Rows of the images that are looked among, and the queries about these.

    Raises:
        Refused: none of the nouns has images in two states.
    """
    rows = [n for n, (noun, state) in enumerate(zip(nouns, states, strict=True))
            if noun in kept and state]  # fmt: skip
    states_of: dict[str, dict[str, None]] = {}
    for row in sorted(rows, key=lambda row: states[row]):
        states_of.setdefault(nouns[row], {})[states[row]] = None
    place = {pair: n for n, pair in enumerate(
        (noun, state) for noun in sorted(states_of) for state in states_of[noun]
    )}  # fmt: skip
    queries = [
        (n, state, place[nouns[row], state])
        for n, row in enumerate(rows)
        for state in states_of[nouns[row]]
        if state != states[row]
    ]
    if not queries:
        raise Refused("images", "no noun that is asked about is there in two states")
    labels = np.array([place[nouns[row], states[row]] for row in rows], np.int64)
    references, conditions, wanted = zip(*queries, strict=True)
    asked = Composed(np.array(references), tuple(conditions), labels, np.array(wanted))
    return np.array(rows, np.int64), asked


def score_composed(
    queries: NDArray[np.floating],
    vectors: NDArray[np.floating],
    asked: Composed,
    cutoffs: Sequence[int] = CUTOFFS,
) -> dict[int, float]:
    """Return Recall@k among all images but the reference, mean over queries.

    A query counts where one of its right images is among the first k. Equal cosines count at
    their expected value, the mean over all orders of them.

    Args:
        queries: what is looked for, shape (n_queries, d), such as `baseline_queries` and
            `TrainedCombiner.queries` return.
        vectors: of all images, shape (n_images, d).
        asked: the queries.
        cutoffs: the k's.

    Raises:
        Refused: another number of queries, or one that nothing answers, with its place.
        ValueError: a vector of length 0, or with NaN.
    """
    if len(queries) != len(asked.conditions) or not len(queries):
        raise Refused("queries", f"{len(queries)} vectors for {len(asked.conditions)} conditions")
    wanted, images = unit(queries), unit(vectors)
    recalls = np.zeros((len(queries), len(cutoffs)))
    for start in range(0, len(queries), BLOCK):
        for number, scores in enumerate(wanted[start : start + BLOCK] @ images.T, start):
            hits = asked.hits(number)
            if not hits.any():
                said = asked.conditions[number]
                raise Refused("queries", f"no image answers query {number + 1}, {said!r}")
            scores[asked.references[number]] = -np.inf
            recalls[number] = [_recall(scores, hits, k) for k in cutoffs]
    return dict(zip(cutoffs, recalls.mean(axis=0).tolist(), strict=True))


def _recall(scores: Floats, hits: Bools, k: int) -> float:
    """Return the chance that a hit is among the first k, over all orders of equal scores."""
    best = scores[hits].max()
    n_left = k - int((scores > best).sum())
    if n_left <= 0:
        return 0.0
    equal = scores == best
    n, n_wrong = int(equal.sum()), int((equal & ~hits).sum())
    return 1.0 - comb(n_wrong, n_left) / comb(n, n_left) if n_left <= n else 1.0

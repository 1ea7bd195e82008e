"""Suggest triplets where models disagree which of two candidates is closer to an anchor. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class ScoredCandidates:
    """The candidates of one anchor with what each model scores them.

    Attributes:
        anchor: id of the image that is compared.
        product: of the anchor; "" where it is unknown.
        images: shape (n,), ids of the candidates, each once.
        products: n products, "" where unknown.
        scores: shape (n_models, n), higher is closer; NaN where a model did not say.
        floors: shape (n_models,): a model's score for what it did not propose is at most this;
            NaN where nothing is known of it.
    """

    anchor: int
    product: str
    images: Ints
    products: Sequence[str]
    scores: Floats
    floors: Floats


@dataclass(frozen=True)
class SuggestLimits:
    """How many triplets to suggest.

    Attributes:
        n_triplets: at most so many in all.
        per_anchor: at most so many of one anchor.
        min_disagreement: only triplets with more than this.
    """

    n_triplets: int = 200
    per_anchor: int = 3
    min_disagreement: float = 0.0

    def __post_init__(self) -> None:
        for name in ("n_triplets", "per_anchor"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, not at least 1")
        if not 0 <= self.min_disagreement < np.inf:
            raise ValueError(f"min_disagreement is {self.min_disagreement}, not a number from 0")


@dataclass(frozen=True)
class SuggestedTriplet:
    """A question that models answer differently.

    Attributes:
        anchor, first, second: image ids, `first` the smaller id of the candidates.
        disagreement: see `suggest_triplets`.
        margins: shape (n_models,); above 0 where the model puts `first` closer.
    """

    anchor: int
    first: int
    second: int
    disagreement: float
    margins: tuple[float, ...] = field(repr=False)


@dataclass(frozen=True)
class SuggestReport:
    """What was looked at.

    Attributes:
        n_anchors: anchors with at least two candidates that may be compared.
        n_compared: pairs of candidates.
        n_same_product: pairs that were left out: a product would have been shown twice.
        n_disagreed: of the compared, those with more disagreement than asked for.
    """

    n_anchors: int
    n_compared: int
    n_same_product: int
    n_disagreed: int


@dataclass(frozen=True)
class Suggested:
    """Triplets, those of most disagreement first in each round, and how they came about."""

    triplets: tuple[SuggestedTriplet, ...]
    report: SuggestReport


def score_spreads(anchors: Sequence[ScoredCandidates], n_models: int) -> Floats:
    """Return each model's own spread: the standard deviation of all its scores.

    Returns:
        Shape (n_models,); NaN for a model without two different scores, which has no opinion.
    """
    found = np.full(n_models, np.nan)
    for model in range(n_models):
        scores = np.concatenate([one.scores[model] for one in anchors] or [np.empty(0)])
        scores = np.sort(scores[~np.isnan(scores)])  # so that no order shows in the last bit
        if scores.size and np.ptp(scores) > 0:
            found[model] = scores.std()
    return found


def score_margins(one: ScoredCandidates, spreads: Floats) -> Floats:
    """Return by how much each model puts one candidate closer than another.

    The margin of model m for candidates i and j is (s_m(i) - s_m(j)) / spread_m. Where m
    proposed one of them only, its floor stands for the other, so the margin is a lower bound;
    where it proposed neither, or has no spread or no floor, it is 0: no opinion.

    Returns:
        Shape (n_models, n, n), antisymmetric in the last two.
    """
    filled = np.where(np.isnan(one.scores), one.floors[:, None], one.scores)
    differences = filled[:, :, None] - filled[:, None, :]
    return np.nan_to_num(differences / spreads[:, None, None], nan=0.0)


def suggest_triplets(
    anchors: Sequence[ScoredCandidates], limits: SuggestLimits, seed: int
) -> Suggested:
    """Suggest the triplets that models disagree most about.

    The disagreement about anchor a and candidates i, j is

        D(a, i, j) = min(sum over m of max(g_m, 0), sum over m of max(-g_m, 0)) / n_models

    with g_m the margin of `score_margins`: how strongly the weaker side is held, in spreads of a
    model's scores, averaged over all models. It is 0 where nobody holds one of the sides, and
    does not change when a model's scores are scaled or shifted.

    For an anchor, pairs are taken by falling D; no product, and no image, stands in two of its
    triplets or twice in one. Then the anchors take turns: the best triplet of each, by falling
    D, then the second of each. Equal D are put in an order that the seed decides; neither the
    order of anchors nor that of candidates matters.

    Args:
        anchors: each anchor once, all with the same models in one order.
        limits: how many.
        seed: at least 0.

    Raises:
        ValueError: an anchor or one of its candidates twice, an anchor among its candidates,
            or shapes that do not fit.
    """
    n_models = _checked(anchors)
    spreads = score_spreads(anchors, n_models)
    n_seen = n_compared = n_same = n_disagreed = 0
    waiting: list[tuple[int, float, float, SuggestedTriplet]] = []
    for one in sorted(anchors, key=lambda found: found.anchor):
        rng = np.random.default_rng([seed, one.anchor])
        shuffled = _shuffled(one, rng)
        allowed, n_out = _may_meet(shuffled)
        margins = score_margins(shuffled, spreads)
        disagreement = _disagreement(margins).round(12)  # rounding alone orders nothing
        is_wanted = allowed & (disagreement > limits.min_disagreement)
        n_pairs = int(allowed.sum())
        n_seen += n_pairs > 0
        n_compared += n_pairs
        n_same += n_out
        n_disagreed += int(is_wanted.sum())
        chosen = _best(shuffled, np.where(is_wanted, disagreement, -1.0), limits.per_anchor)
        for turn, (i, j) in enumerate(chosen):
            found = _triplet(shuffled, i, j, float(disagreement[i, j]), margins)
            waiting.append((turn, -found.disagreement, rng.random(), found))
    waiting.sort(key=lambda row: row[:3])
    return Suggested(
        tuple(row[3] for row in waiting[: limits.n_triplets]),
        SuggestReport(n_seen, n_compared, n_same, n_disagreed),
    )


def _checked(anchors: Sequence[ScoredCandidates]) -> int:
    """Return the number of models."""
    if len({one.anchor for one in anchors}) < len(anchors):
        raise ValueError("an anchor stands there twice")
    counts = {len(one.scores) for one in anchors} | {len(one.floors) for one in anchors}
    if len(counts) > 1:
        raise ValueError(f"anchors with different numbers of models: {sorted(counts)}")
    for one in anchors:
        n = len(one.images)
        if one.scores.shape[1:] != (n,) or len(one.products) != n:
            raise ValueError(f"anchor {one.anchor}: {n} candidates, scores {one.scores.shape}")
        if len(set(one.images.tolist())) < n or one.anchor in one.images:
            raise ValueError(f"anchor {one.anchor} has a candidate twice, or is one itself")
    return counts.pop() if counts else 0


def _shuffled(one: ScoredCandidates, rng: np.random.Generator) -> ScoredCandidates:
    """Return the candidates in an order that depends on the generator and their ids alone."""
    order = np.argsort(one.images)[rng.permutation(len(one.images))]
    products = [one.products[place] for place in order.tolist()]
    return ScoredCandidates(
        one.anchor, one.product, one.images[order], products, one.scores[:, order], one.floors
    )


def _may_meet(one: ScoredCandidates) -> tuple[Bools, int]:
    """Mark the pairs i < j of three different products, and count those that are not."""
    names = {name: code for code, name in enumerate(sorted({*one.products, one.product} - {""}))}
    codes = np.array([names.get(name, -1) for name in one.products], np.int64)
    is_known = codes >= 0
    is_alike = (codes[:, None] == codes[None, :]) & is_known[:, None]
    if one.product:
        is_own = codes == names[one.product]
        is_alike |= is_own[:, None] | is_own[None, :]
    upper = np.triu(np.ones(is_alike.shape, np.bool_), 1)
    return upper & ~is_alike, int((upper & is_alike).sum())


def _disagreement(margins: Floats) -> Floats:
    if not len(margins):
        return np.zeros(margins.shape[1:])
    for_first = np.maximum(margins, 0).sum(axis=0)
    for_second = np.maximum(-margins, 0).sum(axis=0)
    found: Floats = np.minimum(for_first, for_second) / len(margins)
    return found


def _best(one: ScoredCandidates, values: Floats, n: int) -> list[tuple[int, int]]:
    """Return the places of the best pairs; a product or image stands in one of them only."""
    values = values.copy()
    products = np.array(one.products, dtype=object)
    chosen: list[tuple[int, int]] = []
    while values.size and len(chosen) < n:
        i, j = divmod(int(values.argmax()), values.shape[1])
        if values[i, j] < 0:
            break
        chosen.append((i, j))
        for place in (i, j):
            name = products[place]
            used = products == name if name else np.arange(len(products)) == place
            values[used, :] = -1.0
            values[:, used] = -1.0
    return chosen


def _triplet(
    one: ScoredCandidates, i: int, j: int, disagreement: float, margins: Floats
) -> SuggestedTriplet:
    if one.images[i] > one.images[j]:
        i, j = j, i
    said = tuple(float(value) for value in margins[:, i, j])
    return SuggestedTriplet(one.anchor, int(one.images[i]), int(one.images[j]), disagreement, said)

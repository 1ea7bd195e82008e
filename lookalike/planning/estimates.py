"""Measures of a pool that is judged in part, with intervals that hold the design.

In every round a query has a guess of its measure, made of the labels known before and of a label
model; what the round revealed corrects it, step by step from its most to its least likely pairs:

    value = guess_0 + sum over steps j of [step j was asked] / probability_j * (guess_j - guess_j-1)

guess_j knows the labels of all steps up to j, and the last guess is the value itself. So whatever
the guesses are worth, the expectation of the sum is the value on the full labels: of every measure
that is a function of a query's labels. Source: the difference estimator (Särndal, Swensson,
Wretman, Model Assisted Survey Sampling, 1992, chapter 6) along nested samples; the same telescope
as in Rhee and Glynn (Operations Research 2015). With one step and a measure linear in the labels it
is active statistical inference (Zrnic, Candès 2024).

Rounds are combined by weights that follow from what was known before each (Des Raj). A query is
one independent draw, of the world and of the design, so the spread of the values over queries is
the error of both together. Where queries share a product, the product is the independent draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.blas import blas_alone
from lookalike.core.errors import Refused
from lookalike.planning.intervals import estimate_interval, yes_no_interval
from lookalike.planning.label_model import QueryLevels, fit_label_model
from lookalike.planning.measures import MICRO, Measures, PartSums
from lookalike.planning.pool import RankedPool
from lookalike.planning.rounds import Round, known_before
from lookalike.stats.micro_values import micro_values
from lookalike.stats.proportion import Interval

N_FOLDS = 4
_TINY = 1e-9


@dataclass(frozen=True)
class Estimate:
    """One measure of all models.

    Attributes:
        name: of the measure.
        values: shape (n_models,); NaN where nothing defines it.
        by_query: shape (n_models, n_queries), values whose mean is the measure and whose spread is
            its error; of a measure that not every query defines, in linear form.
        groups: shape (n_queries,), the independent unit of each query; None: each is one.
    """

    name: str
    values: Floats
    by_query: Floats
    groups: Ints | None = None

    @property
    def shown(self) -> Floats:
        """The values inside [0, 1]: an estimate without bias may be outside."""
        return np.asarray(np.clip(self.values, 0.0, 1.0))

    def intervals(
        self,
        level: float = 0.95,
        beside: Floats | None = None,
        *,
        n_queries: int | None = None,
    ) -> list[Interval]:
        """Return the interval of each model, inside [0, 1]; see `estimate_interval`.

        Args:
            level: coverage.
            beside: shape (n_models,), standard errors of something else that they shall hold, too.
            n_queries: that there would be, with the same spread; None: those there are.
        """
        others = np.zeros(len(self.values)) if beside is None else beside
        of_one = yes_no_interval if self.name.startswith("Success") else estimate_interval
        return [
            of_one(float(value), row, float(other), level, n_queries=n_queries, groups=self.groups)
            for value, row, other in zip(self.values, self.by_query, others, strict=True)
        ]


@dataclass(frozen=True)
class Estimates:
    """What is known of a partly judged pool.

    Attributes:
        pool: the pairs.
        judged: share of them that have a label.
        labels: shape (n_pairs,), estimates of every label without bias: outside of [0, 1], too.
        heaviest: for how many open pairs one that was drawn can stand; 0 if all are judged.
        measures: one for each asked.
    """

    pool: RankedPool
    judged: float
    labels: Floats
    heaviest: float
    measures: tuple[Estimate, ...]


def estimate(
    pool: RankedPool,
    labels: Floats,
    rounds: Sequence[Round],
    names: Sequence[str],
    *,
    with_model: bool = True,
    guesses_from: RankedPool | None = None,
) -> Estimates:
    """Return the measures of every model.

    Args:
        pool: the pairs.
        labels: shape (n_pairs,), 0 or 1; NaN where unjudged.
        rounds: in the order in which they were drawn. A pair with a label that no round drew was
            judged before the first. Where all pairs are judged, more of them than rounds
            drew, rounds do not matter.
        names: of measures, as `checked_measures` knows them.
        with_model: False guesses every open label as 0, which makes it Horvitz and Thompson's.
        guesses_from: the same pairs as the models see them that labels are guessed from; None:
            those of `pool`. For models that came when labels were known already.

    Raises:
        InputError: a measure without an estimate.
        Refused: a drawn pair has no label; a round could have drawn a labelled pair and neither
            it nor a later one did (see `undrawn`); no round covers the pool.
    """
    estimator = Estimator(pool, names, with_model=with_model, guesses_from=guesses_from)
    return estimator.estimate(labels, rounds)


class Estimator:
    """Estimates of one pool, look after look: what a round told is worked out once.

    Args:
        pool: the pairs.
        names: of measures.
        with_model: as `estimate` takes it.
        guesses_from: as `estimate` takes it.

    Raises:
        InputError: a measure without an estimate.
    """

    def __init__(
        self,
        pool: RankedPool,
        names: Sequence[str],
        *,
        with_model: bool = True,
        guesses_from: RankedPool | None = None,
    ) -> None:
        self.pool = pool
        self.guesses_from = guesses_from or pool
        self.with_model = with_model
        self._measures = Measures(pool, names)
        self._parts: dict[bytes, _RoundPart] = {}

    def estimate(self, labels: Floats, rounds: Sequence[Round]) -> Estimates:
        """Return the measures of every model; arguments and refusals are those of `estimate`."""
        before = known_before(labels, rounds)
        is_complete = [
            bool((known | ~np.isnan(drawn.probabilities)).all())
            for known, drawn in zip(before, rounds, strict=True)
        ]
        for at, (known, drawn) in enumerate(zip(before, rounds, strict=True)):
            n = int((known & ~np.isnan(drawn.probabilities)).sum())
            if n and is_complete[at]:
                if not np.isnan(labels).any():
                    return self.estimate(labels, [])
                raise Refused(
                    "labels",
                    f"{n:,} labelled pairs were open in round {at + 1} and drawn by no round from "
                    "there on: leave these labels out, and name rounds in their order",
                )
        if not any(is_complete):
            if np.isnan(labels).any():
                raise Refused("rounds", "no round could have drawn every pair that was open")
            nothing = np.zeros(self.pool.n_pairs, dtype=np.bool_)
            rounds = [Round(np.full(self.pool.n_pairs, np.nan), nothing)]
            before, is_complete = [~nothing], [True]
        total, weights, heaviest = _Sums(self._measures), 0.0, 0.0
        with blas_alone():
            for known, drawn, complete in zip(before, rounds, is_complete, strict=True):
                if complete:
                    part = self._part(np.where(known | drawn.drawn, labels, np.nan), known, drawn)
                    total.add(part)
                    weights += part.weight
                    heaviest = max(heaviest, part.weight / drawn.least)
        return Estimates(
            pool=self.pool,
            judged=float(np.mean(~np.isnan(labels))),
            labels=total.labels / weights,
            heaviest=heaviest / weights if np.isnan(labels).any() else 0.0,
            measures=tuple(total.estimate(name, weights) for name in self._measures.names),
        )

    def _part(self, labels: Floats, known: Bools, drawn: Round) -> _RoundPart:
        """Return what a round told, from what was known before it and what it drew."""
        told = b"".join(table.tobytes() for table in (labels, known, drawn.probabilities))
        if told not in self._parts:
            features = self.guesses_from.features
            self._parts[told] = _of_round(
                self._measures, features, labels, known, drawn, with_model=self.with_model
            )
        return self._parts[told]


@dataclass(frozen=True)
class _RoundPart:
    parts: dict[str, PartSums]
    labels: Floats  # of each pair, without bias: (n_pairs,)
    weight: float


class _Sums:
    """Weighted sums over rounds."""

    def __init__(self, measures: Measures) -> None:
        self.measures = measures
        self.values: dict[str, Floats] = {}
        self.defined: dict[str, Floats] = {}
        self.labels = np.zeros(measures.pool.n_pairs)

    def add(self, part: _RoundPart) -> None:
        self.labels = self.labels + part.weight * part.labels
        for name, sums in part.parts.items():
            self.values[name] = self.values.get(name, 0.0) + part.weight * sums.values
            self.defined[name] = self.defined.get(name, 0.0) + part.weight * sums.defined

    def estimate(self, name: str, weights: float) -> Estimate:
        pool = self.measures.pool
        if name in MICRO:
            kept = np.ones((1, pool.n_pairs), dtype=np.bool_)
            both = micro_values(
                pool.scores, self.labels / weights, pool.queries, pool.n_queries, kept
            )
            by_query = both[MICRO.index(name)][:, 0]
            return Estimate(name, by_query.mean(axis=1), by_query, pool.groups)
        values, defined = self.values[name] / weights, self.defined[name] / weights
        share = defined.mean()
        if not share > 0:
            nothing = np.full(values.shape, np.nan)
            return Estimate(name, nothing[:, 0], nothing, pool.groups)
        means = values.mean(axis=1) / share
        linear = means[:, None] + (values - means[:, None] * defined) / share
        return Estimate(name, means, linear, pool.groups)


def undrawn(labels: Floats, rounds: Sequence[Round]) -> Bools:
    """Return which labels must be left out: of pairs that were open and that no round drew.

    How they came to be judged is unknown, so no probability makes up for it.

    Args:
        labels: shape (n_pairs,), NaN where unjudged.
        rounds: in any order.
    """
    found = np.zeros(labels.size, dtype=np.bool_)
    for one in rounds:
        found |= ~np.isnan(one.probabilities)
    for one in rounds:
        found &= ~one.drawn
    return found & ~np.isnan(labels)


def _expected_variance(
    pool: RankedPool, features: Floats, labels: Floats, known: Bools, drawn: Round
) -> float:
    """Return what the round was to leave open, from what was known before it."""
    is_open = ~np.isnan(drawn.probabilities)
    if not is_open.any():
        return 0.0
    p = fit_label_model(pool, features, labels, known).probabilities(features)[is_open]
    return float((p * (1.0 - p) * (1.0 / drawn.probabilities[is_open] - 1.0)).sum())


def _of_round(
    measures: Measures,
    features: Floats,
    labels: Floats,
    known: Bools,
    drawn: Round,
    *,
    with_model: bool,
) -> _RoundPart:
    """Return both parts of every measure and the labels, without bias by this round's design."""
    pool = measures.pool
    p, spread = _cross_fitted(pool, features, labels, known, drawn.drawn)
    guess, y = pool.grid(p, fill=0.5), pool.grid(np.nan_to_num(labels))
    revealed, is_drawn = pool.grid(known) > 0, pool.grid(drawn.drawn) > 0
    probabilities = pool.grid(np.nan_to_num(drawn.probabilities))
    steps = np.unique(probabilities[probabilities > 0])[::-1]
    levels = QueryLevels(guess, y)

    def table() -> Floats:
        unknown = levels.guesses(revealed, spread) if with_model else 0.0
        return np.where(revealed, y, unknown)

    tables, factors = [table()], []
    for step in steps:
        of_step = probabilities == step
        factors.append((of_step & is_drawn).any(axis=1) / step)
        revealed = revealed | of_step
        tables.append(table())
    stack = np.stack(tables)
    found = measures.parts(stack)
    f = np.stack(factors) if factors else np.zeros((0, pool.n_queries))
    parts = {
        name: PartSums(
            one.values[0] + (f[:, None] * np.diff(one.values, axis=0)).sum(axis=0),
            one.defined[0] + (f * np.diff(one.defined, axis=0)).sum(axis=0),
        )
        for name, one in found.items()
    }
    cells = stack[0] + (f[:, :, None] * np.diff(stack, axis=0)).sum(axis=0)
    weight = 1.0 / (_expected_variance(pool, features, labels, known, drawn) + _TINY)
    return _RoundPart(parts, pool.flat(cells), weight)


def _cross_fitted(
    pool: RankedPool, features: Floats, labels: Floats, known: Bools, drawn: Bools
) -> tuple[Floats, Floats]:
    """Return the guess of each pair and the spread of each query, not learnt from its own draw.

    Learnt from what was known before and from the round's labels of the other folds of queries:
    a query's guess then does not depend on whether it was drawn.
    """
    p, spread = np.full(pool.n_pairs, 0.5), np.zeros(pool.n_queries)
    if known.all():
        return p, spread
    fold_of = np.arange(pool.n_queries) % N_FOLDS
    for fold in range(N_FOLDS):
        inside = fold_of[pool.queries] == fold
        model = fit_label_model(pool, features, labels, known | (drawn & ~inside))
        p[inside] = model.probabilities(features[inside])
        spread[fold_of == fold] = model.spread
    return p, spread

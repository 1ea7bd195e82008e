"""A machine judge on trial: its answers compared with those of a panel. It never votes.

The machine and each expert are compared with the same label: the strict majority of the other
votes, after one vote is left out. Each vote is left out in turn. So an expert is never measured by
their own vote, and the machine never by a surer label than an expert. Strata go by the other votes
as well: a stratum that the left-out vote helps to define would settle the expert's kappa in
advance (in a panel of three it is -1 on pairs with both answers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lookalike.agreement.intervals import table_kappa_interval
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.errors import Refused
from lookalike.stats.intervals import LEAST_QUERIES, UNDEFINED, standard_error, statistic_interval
from lookalike.stats.proportion import Interval

ALL, UNANIMOUS, DIVIDED = "all", "others unanimous", "others divided"


@dataclass(frozen=True)
class Stratum:
    """How well the machine and an expert agree with the other experts on some pairs.

    Attributes:
        name: of the stratum.
        n_pairs: pairs that the machine answered and whose other votes have a majority. A pair can
            be in `UNANIMOUS` for one left-out vote and in `DIVIDED` for another.
        kappa, human_kappa: Cohen's, of the machine and of the experts; NaN where undefined.
        interval, human_interval: of the kappas, over other queries judged by the same judges.
        misses, false_alarms: how often the machine calls a similar pair different, and the
            reverse; NaN where there is none.
    """

    name: str
    n_pairs: int
    kappa: float
    human_kappa: float
    misses: float
    false_alarms: float
    interval: Interval = UNDEFINED
    human_interval: Interval = UNDEFINED


@dataclass(frozen=True)
class Trial:
    """What the answers of a machine are worth.

    Attributes:
        strata: all pairs; `UNANIMOUS` and `DIVIDED` by the votes other than the one left out;
            and the strata that the caller named. Of three votes, `DIVIDED` others have no
            majority, so it is empty.
        saved: share of the votes that it would save in the place of one judge.
        changed: share of the labels that would then be another or none.
    """

    strata: tuple[Stratum, ...]
    saved: float
    changed: float


@dataclass(frozen=True)
class Leaning:
    """How much sooner the machine says similar where its own family proposed the pair.

    Attributes:
        own, other: share of pairs, which experts call different, that it calls similar.
        n_own, n_other: those pairs.
        error: standard error of own - other, over queries; NaN for fewer than ten.
    """

    own: float
    other: float
    n_own: int
    n_other: int
    error: float


def trial(
    n_similar: Ints,
    n_different: Ints,
    answers: Floats,
    strata: Mapping[str, Bools] | None = None,
    *,
    units: Ints | None = None,
) -> Trial:
    """Return what a machine's answers are worth.

    Args:
        n_similar: shape (n_pairs,), votes.
        n_different: shape (n_pairs,), votes.
        answers: shape (n_pairs,), 1 similar, 0 different, NaN where the machine says nothing.
        strata: further parts of the pairs by name, shape (n_pairs,) each. They must not depend on
            the votes.
        units: shape (n_pairs,), the query of each pair, or its product; None where each pair is
            independent.

    Raises:
        Refused: it answered no pair of three votes.

    >>> votes = np.array([3, 3, 0, 1]), np.array([0, 0, 3, 2])
    >>> found = trial(*votes, np.array([1.0, 1, 0, 0]))
    >>> found.strata[0].kappa, round(found.saved, 2), found.changed
    (1.0, 0.33, 0.0)
    """
    kept = ~np.isnan(answers) & (n_similar + n_different > 2)
    if not kept.any():
        raise Refused("answers", "no pair of three votes or more has an answer of the machine")
    s, d, a = n_similar[kept], n_different[kept], answers[kept] == 1
    groups = np.arange(s.size) if units is None else units[kept]
    everything = np.ones(s.size, dtype=np.bool_)
    rest = [(s - similar, d - (1 - similar)) for similar in (1, 0)]
    unanimous = np.stack([(yes == 0) | (no == 0) for yes, no in rest])
    named = {ALL: everything, UNANIMOUS: unanimous, DIVIDED: ~unanimous}
    named |= {name: part[kept] for name, part in (strata or {}).items()}
    n = s + d
    before = np.sign(s - d)
    changed = np.zeros(s.size)
    for left_out, similar in ((s, 1), (d, 0)):  # whose place it takes
        after = np.sign((s - similar + a) - (d - (1 - similar) + ~a))
        changed += left_out / n * (after != before)
    return Trial(
        strata=tuple(_stratum(name, (s, d, a, groups), part) for name, part in named.items()),
        saved=float(s.size / n.sum()),
        changed=float(changed.mean()),
    )


def answers_by_score(scores: Floats, labels: Floats) -> Floats:
    """Return the answers of a model that scores pairs: the highest are similar, as many as experts.

    Args:
        scores: shape (n_pairs,), NaN where the model scores nothing.
        labels: shape (n_pairs,), of experts: 0 or 1, NaN where there is none.

    Raises:
        Refused: it scores no judged pair.
    """
    judged = ~np.isnan(scores) & ~np.isnan(labels)
    if not judged.any():
        raise Refused("answers", "no judged pair has a score")
    line = np.quantile(scores[judged], 1.0 - labels[judged].mean())
    return np.where(np.isnan(scores), np.nan, scores > line)


def leaning(labels: Floats, answers: Floats, is_own: Bools, queries: Ints) -> Leaning:
    """Return whether the machine calls false finds of its own family similar more often.

    Args:
        labels: shape (n_pairs,), of experts: 0 or 1, NaN where there is none.
        answers: shape (n_pairs,), of the machine; NaN where it says nothing.
        is_own: shape (n_pairs,), which pairs its family proposed.
        queries: shape (n_pairs,), from 0.
    """
    kept = (labels == 0) & ~np.isnan(answers)
    says, own, q = answers[kept], is_own[kept], queries[kept]
    shares, beyond = [], np.zeros(int(queries.max(initial=-1)) + 1)
    for part, sign in ((own, 1.0), (~own, -1.0)):
        n = int(part.sum())
        share = float(says[part].mean()) if n else float("nan")
        shares.append(share)
        beyond += sign * np.bincount(q, part * (says - share), beyond.size) / max(n, 1)
    n_queries = np.unique(q).size
    error = standard_error(beyond) * beyond.size if n_queries >= LEAST_QUERIES else float("nan")
    return Leaning(shares[0], shares[1], int(own.sum()), int((~own).sum()), error)


def powered_share(labels: Floats, answers: Floats, queries: Ints) -> tuple[float, Interval]:
    """Return the share of similar pairs, from experts' labels of some and a machine's of all.

    Valid where the labelled pairs are a random part of all, whatever the machine is worth.
    Source: prediction-powered inference with power tuning (Angelopoulos, Duchi, Zrnic 2023,
    arXiv 2311.01453), its error over queries.

    Args:
        labels: shape (n_pairs,), 0 or 1, NaN where no expert judged.
        answers: shape (n_pairs,), of the machine, for every pair.
        queries: shape (n_pairs,), from 0.

    Raises:
        Refused: the machine left out a pair, or no pair has a label.
    """
    known = ~np.isnan(labels)
    if np.isnan(answers).any() or not known.any():
        raise Refused("answers", "an estimate takes answers to every pair, and labels of some")
    y, f, rest = labels[known], answers[known], answers[~known]
    weight = 0.0
    if rest.size and f.var() > 0:
        covariance = float(np.mean((y - y.mean()) * (f - f.mean())))
        weight = covariance / float(f.var()) / (1.0 + known.sum() / rest.size)
    tuned = np.where(known, np.nan_to_num(labels) - weight * answers, weight * answers)
    n_queries = int(queries.max()) + 1
    value, beyond = 0.0, np.zeros(n_queries)
    for part in (known, ~known):
        if part.any():
            mean = float(tuned[part].mean())
            value += mean
            sums = np.bincount(queries[part], tuned[part] - mean, n_queries)
            beyond += sums * n_queries / part.sum()
    if n_queries < LEAST_QUERIES:
        return value, UNDEFINED
    return value, statistic_interval(value, standard_error(beyond), n_queries)


def _stratum(name: str, judged: tuple[Ints, Ints, Bools, Ints], part: Bools) -> Stratum:
    """Count the machine and each expert against the majority of the other votes.

    Args:
        name: of the stratum.
        judged: shape (n_pairs,) each: votes for similar, votes for different, whether the machine
            says similar, and the unit of the pair.
        part: shape (n_pairs,), the pairs of the stratum; or (2, n_pairs): when a vote for similar
            is left out, and when one for different is.
    """
    s, d, a, groups = judged
    machine, human = np.zeros((s.size, 2, 2)), np.zeros((s.size, 2, 2))
    rows, n_pairs = np.arange(s.size), np.zeros(s.size, dtype=np.bool_)
    parts = np.broadcast_to(part, (2, s.size))
    for left_out, similar, at in ((s, 1, parts[0]), (d, 0, parts[1])):
        margin = (s - similar) - (d - (1 - similar))
        has = at & (left_out > 0) & (margin != 0)
        n_pairs |= has
        weight, label = left_out * has / (s + d), (margin > 0).astype(np.int64)
        np.add.at(machine, (rows, a.astype(np.int64), label), weight)
        np.add.at(human, (rows, np.full(s.size, similar), label), weight)
    ends = [table_kappa_interval(cells, groups) for cells in (machine, human)]
    machine, human = machine.sum(axis=0), human.sum(axis=0)
    different, similar = machine.sum(axis=0)
    return Stratum(
        name=name,
        n_pairs=int(n_pairs.sum()),
        kappa=_kappa(machine),
        human_kappa=_kappa(human),
        misses=float(machine[0, 1] / similar) if similar else float("nan"),
        false_alarms=float(machine[1, 0] / different) if different else float("nan"),
        interval=ends[0],
        human_interval=ends[1],
    )


def _kappa(table: Floats) -> float:
    """Return Cohen's kappa of a table of answers and labels."""
    total = table.sum()
    if not total:
        return float("nan")
    by_chance = float(table.sum(axis=1) @ table.sum(axis=0)) / total**2
    if by_chance >= 1.0:
        return float("nan")
    return float((np.trace(table) / total - by_chance) / (1.0 - by_chance))

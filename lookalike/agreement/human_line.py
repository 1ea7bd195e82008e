"""How well people reach the labels that models are scored on: each judge against the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.defined_values import mean_defined
from lookalike.stats.intervals import mean_interval, statistic_interval
from lookalike.stats.proportion import Interval
from lookalike.stats.roc_auc import auc_and_ap
from lookalike.stats.units import Units, unit_spread

CHANCE = 0.5


@dataclass(frozen=True)
class HumanLine:
    """The judges, scored as models are.

    Attributes:
        auc: macro ROC-AUC, averaged over the judges; NaN where undefined.
        interval: over queries.
        n_queries: with an AUC for at least one judge.
        lowest, highest: the AUC of the judges who reach least and most. A query weighs as much in
            a judge's as in `auc`, which so lies between: one over the number of judges it has.
        n_judges: with an AUC.
        accuracy: share of answers that agree with the majority of the others.
        n_answers: behind it.
    """

    auc: float
    interval: Interval
    n_queries: int
    lowest: float
    highest: float
    n_judges: int
    accuracy: float
    n_answers: int


def human_line(
    query_of: Ints,
    pair_of: Ints,
    judge_of: Ints,
    is_similar: Bools,
    *,
    units: Units | None = None,
) -> HumanLine | None:
    """Return how well each judge agrees with the majority of the others, as an AUC.

    A judge's answers, 0 or 1, are the scores, and the strict majority of everybody else's on the
    same pair the label; pairs without one do not count. Within a query the AUC of yes-no answers
    is the mean of the shares of similar and of different pairs that the judge tells: a model that
    ranks can be above people who may only say yes or no.

    Args:
        query_of: shape (n_answers,), the query of the pair, from 0.
        pair_of: shape (n_answers,), the pair, from 0.
        judge_of: shape (n_answers,), the judge, from 0; one answer to a pair each.
        is_similar: shape (n_answers,), the answer.
        units: of the queries; None: each query is a unit.

    Returns:
        The line; None where no pair has a majority of others.

    >>> pairs, judges = np.repeat([0, 1, 2, 3], 3), np.tile([0, 1, 2], 4)
    >>> answers = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], bool)
    >>> line = human_line(np.zeros(12, int), pairs, judges, answers)
    >>> line.lowest, line.highest, line.accuracy
    (0.75, 1.0, 0.9)
    """
    n_pairs = int(pair_of.max(initial=-1)) + 1
    n_yes = np.bincount(pair_of, is_similar, n_pairs)[pair_of] - is_similar
    n_others = np.bincount(pair_of, minlength=n_pairs)[pair_of] - 1
    is_decided = 2 * n_yes != n_others
    if not is_decided.any():
        return None
    queries, judges = query_of[is_decided], judge_of[is_decided]
    answers, labels = is_similar[is_decided], (2 * n_yes > n_others)[is_decided]
    by_judge = _auc_by_judge(queries, judges, answers, labels)
    of_judges = _weighted_means(by_judge)
    by_query, _ = mean_defined(by_judge.T)
    is_defined = ~np.isnan(by_query)
    codes = np.arange(by_query.size) if units is None else units.codes[: by_query.size]
    by_query, codes = by_query[is_defined], codes[is_defined]
    nothing = float("nan")
    return HumanLine(
        auc=float(by_query.mean()) if by_query.size else nothing,
        interval=_interval(by_query, codes),
        n_queries=int(by_query.size),
        lowest=float(of_judges.min()) if of_judges.size else nothing,
        highest=float(of_judges.max()) if of_judges.size else nothing,
        n_judges=int(of_judges.size),
        accuracy=float((answers == labels).mean()),
        n_answers=int(answers.size),
    )


def _weighted_means(by_judge: Floats) -> Floats:
    """Return the mean of each judge with an AUC, a query weighing one over its judges."""
    is_defined = ~np.isnan(by_judge)
    weights = is_defined / np.maximum(is_defined.sum(axis=0), 1)
    sums = (weights * np.nan_to_num(by_judge)).sum(axis=1)
    has_any = is_defined.any(axis=1)
    means: Floats = sums[has_any] / weights[has_any].sum(axis=1)
    return means


def _interval(by_query: Floats, codes: Ints) -> Interval:
    """Return the interval over queries.

    One more unit, at which judges guess, counts in the spread: where they hardly ever differ, few
    queries show too little of it.
    """
    if np.isin(by_query, (0.0, 1.0)).all():
        return mean_interval(by_query, groups=codes)
    spread = unit_spread(np.append(by_query, CHANCE), np.append(codes, codes.max() + 1))
    n_units = spread.n_units - 1
    return statistic_interval(
        float(by_query.mean()), spread.error, n_units, freedom=spread.freedom - 1.0
    )


def _auc_by_judge(queries: Ints, judges: Ints, answers: Bools, labels: Bools) -> Floats:
    """Return shape (n_judges, n_queries), NaN where undefined: each judge on their own pairs."""
    n_judges, n_queries = int(judges.max()) + 1, int(queries.max()) + 1
    flat = auc_and_ap(
        answers[None].astype(np.float64),
        labels.astype(np.float64),
        judges * n_queries + queries,
        n_judges * n_queries,
    )
    auc: Floats = flat.auc[0, 0].reshape(n_judges, n_queries)
    return auc

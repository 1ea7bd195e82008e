"""How sure the numbers of a leaderboard are: intervals, paired tests, groups told apart by none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from lookalike.core.arrays import Floats
from lookalike.metrics.measures import parse_measure
from lookalike.metrics.scoring import Scored
from lookalike.stats.bootstrap import Resampling, bootstrap_means
from lookalike.stats.defined_values import common_queries
from lookalike.stats.intervals import mean_interval
from lookalike.stats.proportion import Interval
from lookalike.stats.significance import MeasureTests, paired_tests
from lookalike.stats.units import Units

ALPHA = 0.05


def mean_intervals(
    scored: Sequence[Scored], level: float = 0.95, *, units: Units | None = None
) -> dict[str, list[Interval]]:
    """Return the interval of every mean over queries.

    Args:
        scored: the models.
        level: coverage.
        units: of the queries; None: each query is a unit.

    Returns:
        {measure: one interval per model}; measures that are no mean over queries are left out.
    """
    groups = None if units is None else units.codes
    return {
        name: [mean_interval(of_model, level, groups=groups) for of_model in values]
        for name, values in _by_query(scored).items()
    }


def leaderboard_tests(
    scored: Sequence[Scored], measures: Sequence[str], resampling: Resampling
) -> list[MeasureTests]:
    """Return the paired tests of some measures, corrected by Holm within each.

    Args:
        scored: the models.
        measures: names of means over queries.
        resampling: samples of the queries and sign flips.
    """
    values = _by_query(scored)
    names = [one.name for one in scored]
    return [
        paired_tests(name, names, values[name], resampling, is_yes_no=parse_measure(name).is_yes_no)
        for name in measures
    ]


def order_probabilities(
    models: Sequence[str], values: Floats, resampling: Resampling
) -> dict[tuple[str, str], float]:
    """Return how often a bootstrap of the queries puts one model above another.

    Args:
        models: names, n_models of them.
        values: shape (n_models, n_queries); queries that some model leaves undefined do not
            count, unless it defines none.
        resampling: bootstrap samples of the queries.

    Returns:
        {(a, b): the share of samples in which a stands above b}, a tie counting half; NaN where
        no query is defined.
    """
    kept = np.where(common_queries(values), values, np.nan)
    samples = bootstrap_means(kept.T, resampling.counts)
    return {
        (a, b): _share_above(samples[:, i] - samples[:, j])
        for (i, a), (j, b) in permutations(enumerate(models), 2)
    }


def _share_above(differences: Floats) -> float:
    defined = differences[~np.isnan(differences)]
    if not defined.size:
        return float("nan")
    return float((defined > 0).mean() + (defined == 0).mean() / 2.0)


def significance_letters(
    order: Sequence[str], differs: Mapping[tuple[str, str], bool], start: int = 0
) -> dict[str, str]:
    """Return the compact letter display: models that share a letter are not told apart.

    Source: Piepho (Journal of Computational and Graphical Statistics 2004), insert and absorb.

    Args:
        order: the models, the best first.
        differs: for two models in either order, whether a test tells them apart; a pair
            without a test is not told apart.
        start: the place in the alphabet of the first letter.

    Returns:
        {model: its letters}, "a" for the group of the best.
    """
    groups = [set(order)]
    for i, first in enumerate(order):
        for second in order[i + 1 :]:
            if differs.get((first, second), differs.get((second, first), False)):
                groups = _split(groups, first, second)
    place = {name: at for at, name in enumerate(order)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    return {
        name: "".join(_letter(at) for at, group in enumerate(groups, start) if name in group)
        for name in order
    }


def _split(groups: list[set[str]], first: str, second: str) -> list[set[str]]:
    """Cut every group that holds both models into two, and drop groups inside others."""
    cut: list[set[str]] = []
    for group in groups:
        if first in group and second in group:
            cut += [group - {first}, group - {second}]
        else:
            cut.append(group)
    kept: list[set[str]] = []
    for group in sorted(cut, key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.append(group)
    return kept


def _letter(at: int) -> str:
    """Return a, b, … z, then α by its place: no leaderboard has that many groups by chance."""
    return chr(ord("a") + at) if at < 26 else chr(ord("α") + at - 26)


def _by_query(scored: Sequence[Scored]) -> dict[str, Floats]:
    """Return {measure: (n_models, n_queries)}, NaN at queries that some model leaves undefined.

    A model that defines none of them is undefined itself, and no reason to leave out a query.
    """
    by_name = {}
    for name, outcome in scored[0].outcomes.items() if scored else ():
        if outcome.by_query is None:
            continue
        values = np.stack([np.asarray(system.outcomes[name].by_query) for system in scored])
        by_name[name] = np.where(common_queries(values), values, np.nan)
    return by_name

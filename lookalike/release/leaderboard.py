"""The leaderboard of a release, as a campaign's: intervals, groups, what may be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.words.advice import OF_THE_POOL, comparable_with
from lookalike.core.arrays import Bools, Floats
from lookalike.metrics.families import family_tests
from lookalike.metrics.leaderboard import (
    NOBODY,
    Cell,
    Entrant,
    Leaderboard,
    Measured,
    comparison_groups,
    make_leaderboard,
)
from lookalike.metrics.measures import parse_measure
from lookalike.metrics.uncertainty import order_probabilities
from lookalike.release.format.folder import Folder
from lookalike.release.format.tables import coded, numbers
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.defined_values import common_queries
from lookalike.stats.intervals import LEAST_QUERIES, UNDEFINED, mean_interval
from lookalike.stats.significance import PairedTest, paired_tests
from lookalike.stats.units import PRODUCT, Units

N_BOOTSTRAPS = 1000
FLIPS, DRAWS = 1, 2  # which random numbers
Draws = Callable[[int, int], Resampling]  # which random numbers, of how many queries


@dataclass(frozen=True)
class ReleaseScores:
    """What is known of a model on a release.

    Attributes:
        model: it.
        values: by measure, None where undefined.
        n_queries: by measure, how many queries the value is the mean of; None where not told.
        ends: by measure, of intervals that came with the values.
        by_query: by measure, shape (n_queries,) in the order of the release's queries, NaN where
            undefined; empty where only the means are told.
        whom: by measure, with whom its value may be compared, and why, where its part in the pool
            does not say it.
    """

    model: Entrant
    values: Mapping[str, float | None]
    n_queries: Mapping[str, int | None] = field(default_factory=dict)
    ends: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    by_query: Mapping[str, Floats] = field(default_factory=dict)
    whom: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def release_leaderboard(
    scores: Iterable[ReleaseScores],
    columns: Sequence[tuple[str, str]],
    by: str = "",
    *,
    depth: int,
    units: Units | None = None,
) -> Leaderboard:
    """Return the models of a release, and what was submitted to it.

    Cut-off measures may be compared among models that built the pool, as far as it is deep;
    annotated AUC and AP' among these or among outsiders. Intervals and tests are over the queries
    that are defined for all models; their random numbers are the same each time.

    Args:
        scores: the models.
        columns: (measure, title).
        by: the measure to sort by.
        depth: of the pool, see `pool_depth`.
        units: of the queries, see `query_units`; None: each query is a unit.
    """
    scores = list(scores)
    measured = measured_columns(scores, columns, by, depth=depth, units=units)
    return make_leaderboard([entry.model for entry in scores], measured, by)


def measured_columns(
    scores: Sequence[ReleaseScores],
    columns: Sequence[tuple[str, str]],
    by: str = "",
    *,
    depth: int,
    units: Units | None = None,
) -> list[Measured]:
    """Return the columns of a board with their tests; see `release_leaderboard`."""

    @cache  # each column begins with the same ones, which take a while
    def draws(part: int, n_queries: int) -> Resampling:
        """Return the random numbers that a campaign's evaluation makes with the seed 0."""
        rng = np.random.default_rng([0, part])
        return Resampling.of(n_queries, n_bootstraps=N_BOOTSTRAPS, rng=rng, units=units)

    return [_column(scores, named, depth, draws, is_sorted=named[0] == by) for named in columns]


def query_units(folder: Folder, unit: str | None = None) -> Units:
    """Return the unit of each query of a release's results, in the order of their values.

    Args:
        folder: the release.
        unit: as `Folder.unit_of` takes it; None: the product, as on the release's board.
    """
    queries, _ = coded(folder.table("results", ["query_id"])["query_id"])
    return Units.of(queries, folder.unit_of(unit), unit or PRODUCT)


def pool_depth(folder: Folder) -> int:
    """Return the deepest rank of a release's pool; of several pools, that of the shallowest.

    0 without a pool.
    """
    table = folder.table("pool", ["pool", "rank"])
    names, pool_of = coded(table["pool"])
    deepest = np.zeros(len(names), np.int64)
    np.maximum.at(deepest, pool_of, numbers(table["rank"]))
    return int(deepest.min()) if names else 0


def values_by_query(folder: Folder) -> dict[str, dict[str, Floats]]:
    """Return the table results as {model: {measure: values in the order of the queries}}."""
    table = folder.table("results", ["model_id", "measure", "query_id", "value"])
    models, model = coded(table["model_id"])
    measures, measure = coded(table["measure"])
    row_of = model * len(measures) + measure
    order = np.lexsort((coded(table["query_id"])[1], row_of))
    values = np.array(table["value"].to_pylist(), np.float64)[order]  # NaN for null
    rows, starts = np.unique(row_of[order], return_index=True)
    found: dict[str, dict[str, Floats]] = defaultdict(dict)
    for row, start, end in zip(rows.tolist(), starts, [*starts[1:], values.size], strict=False):
        at, name = divmod(row, len(measures))
        found[models[at]][measures[name]] = values[start:end]
    return found


def _column(
    scores: Sequence[ReleaseScores],
    named: tuple[str, str],
    depth: int,
    draws: Draws,
    *,
    is_sorted: bool,
) -> Measured:
    name, title = named
    known = [entry for entry in scores if name in entry.by_query]
    public = [entry for entry in known if not entry.model.is_private]
    n_queries = known[0].by_query[name].size if known else 0
    flips = draws(FLIPS, n_queries)
    tables = {entry.model.name: _values([*public, entry], name) for entry in scores}
    cells = {
        entry.model.name: _cell(
            entry, name, depth, common_queries(tables[entry.model.name]), flips.units
        )
        for entry in scores
    }
    is_coverage, is_yes_no = _kind(name)
    if is_coverage:
        return Measured(name, title, cells)
    tests: list[PairedTest] = []
    kept: dict[tuple[str, str], float] = {}
    private = [entry for entry in known if entry.model.is_private]
    for alone in (None, *private):  # what is private changes nothing that others see
        entries = public if alone is None else [*public, alone]
        names, values = [entry.model.name for entry in entries], _values(entries, name)
        if not names or np.count_nonzero(common_queries(values)) < LEAST_QUERIES:
            continue
        own = replace(flips, rng=deepcopy(flips.rng))
        made = paired_tests(name, names, values, own, is_yes_no=is_yes_no).tests
        tests += [t for t in made if alone is None or alone.model.name in (t.first, t.second)]
        if is_sorted:
            kept = order_probabilities(names, values, draws(DRAWS, n_queries)) | kept
    hidden = [entry.model.name for entry in private]
    return Measured(name, title, cells, family_tests(tests, comparison_groups(cells), hidden), kept)


def _values(entries: Sequence[ReleaseScores], name: str) -> Floats:
    """Return the values of the entries that have some, shape (n_entries, n_queries)."""
    by_model = {
        entry.model.name: entry.by_query[name] for entry in entries if name in entry.by_query
    }
    return np.array(list(by_model.values())) if by_model else np.zeros((1, 0))


def _cell(
    entry: ReleaseScores, name: str, depth: int, is_common: Bools, units: Units | None
) -> Cell:
    is_coverage, _ = _kind(name)
    group, reason = _whom(entry, name, depth)
    interval, n_units = UNDEFINED, None
    if name in entry.by_query and not is_coverage:
        values = np.where(is_common, entry.by_query[name], np.nan)
        interval = mean_interval(values, groups=None if units is None else units.codes)
        n_units = None if units is None else units.count(~np.isnan(entry.by_query[name]))
    low, high = (interval.low, interval.high) if interval.is_defined else (None, None)
    if name in entry.ends:
        low, high = entry.ends[name]
    return Cell(
        value=entry.values.get(name),
        low=low,
        high=high,
        n_queries=entry.n_queries.get(name),
        n_units=n_units,
        no_interval=interval.reason,
        comparable_with=group,
        reason=reason,
    )


def _kind(name: str) -> tuple[bool, bool]:
    """Return whether a column tells of the pool, not of a model, and whether of yes and no."""
    if name == EQUAL_OUTSIDER:
        return False, False
    measure = parse_measure(name)
    return measure.family in OF_THE_POOL, measure.is_yes_no


def _whom(entry: ReleaseScores, name: str, depth: int) -> tuple[str, str]:
    if name == EQUAL_OUTSIDER:
        return entry.whom.get(name, (NOBODY, "it was scored without a look at the pool"))
    judged = entry.values.get(f"judged@{parse_measure(name).parameter}")
    return comparable_with(name, entry.model.badge, judged, depth)

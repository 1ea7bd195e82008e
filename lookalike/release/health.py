"""How a benchmark wears from version to version: what it still tells apart, and what it misses.

A board whose best models are all tied is used up; one that new models leave for what nobody has
judged is blind to them; labels that change from version to version were never sure. Source of the
discriminative power: Sakai (SIGIR 2006), by tests that are corrected as on the board.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lookalike.metrics.leaderboard import Cell, Entrant, Section
from lookalike.metrics.measures import parse_measure
from lookalike.release.diff import labels_by_content
from lookalike.release.errors import ReleaseError
from lookalike.release.leaderboard import (
    ReleaseScores,
    pool_depth,
    query_units,
    release_leaderboard,
    values_by_query,
)
from lookalike.release.opened import Release
from lookalike.release.rounds import judged_share
from lookalike.stats.intervals import mean_interval
from lookalike.stats.proportion import Interval
from lookalike.stats.rank_correlation import correlations

Labels = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Rivals:
    """Models of a version that may be compared with each other.

    Attributes:
        whom: as the board names them.
        n_models: of them.
        n_tied: of those, how many are not told apart from the best, itself among them; None where
            nothing is tested.
        power: share of their pairs that are told apart; NaN without a pair or a test.
    """

    whom: str
    n_models: int
    n_tied: int | None
    power: float


@dataclass(frozen=True)
class Hole:
    """What a version does not know of a model that has not built its pool.

    Attributes:
        model: its name.
        is_new: whether the version before lacks it.
        share: of its first k that nobody has judged, mean over queries; NaN without lists.
    """

    model: str
    is_new: bool
    share: float


@dataclass(frozen=True)
class Drift:
    """What became of the labels and of the order since the version before.

    Attributes:
        n_shared: pairs with a label in both.
        n_to_similar, n_to_different: of those, how many have another one now.
        interval: of the share that has, over queries.
        tau: Kendall's tau_b between the orders of the models of both; NaN of fewer than two.
    """

    n_shared: int
    n_to_similar: int
    n_to_different: int
    interval: Interval
    tau: float

    @property
    def share(self) -> float:
        """Share of the pairs that have another label now."""
        return (self.n_to_similar + self.n_to_different) / self.n_shared


@dataclass(frozen=True)
class VersionHealth:
    """One version.

    Attributes:
        title: name and version.
        n_queries: of it.
        n_labels, n_similar: public labels.
        judged: share of the pool with a label; below 1 nothing is tested, and no hole is known.
        rivals: models by whom they may be compared with; the best group first.
        holes: of the models that have not built the pool.
        drift: since the version before; None for the first.
    """

    title: str
    n_queries: int
    n_labels: int
    n_similar: int
    judged: float
    rivals: tuple[Rivals, ...]
    holes: tuple[Hole, ...]
    drift: Drift | None

    @property
    def top(self) -> Rivals | None:
        """The group of models that the board begins with."""
        return self.rivals[0] if self.rivals else None

    def mean_hole(self, *, of_new: bool = False) -> float:
        """Return the mean share of holes, or of those of new models; NaN where none is known."""
        shares = [hole.share for hole in self.holes if hole.is_new or not of_new]
        known = [share for share in shares if not math.isnan(share)]
        return sum(known) / len(known) if known else math.nan


def versions_health(
    releases: Sequence[Release], measure: str = "AP'", k: int = 5
) -> list[VersionHealth]:
    """Return how each version is, in the order given.

    Args:
        releases: versions of one benchmark, the oldest first.
        measure: by which models are compared.
        k: how far down lists are searched for what nobody has judged.

    Raises:
        ReleaseError: a version lacks the measure, or shares no label with the one before.
        UnknownMeasureError: no such measure.
    """
    parse_measure(measure)
    found: list[VersionHealth] = []
    names: set[str] = set()
    values: Mapping[str, float] = {}
    labels: Labels = {}
    for release in releases:
        before = (values, labels)
        values, labels = _values(release, measure), labels_by_content(release)
        judged = judged_share(release)
        found.append(
            VersionHealth(
                title=release.title,
                n_queries=sum(1 for _ in release.rows("queries", "query_id")),
                n_labels=len(labels),
                n_similar=sum(labels.values()),
                judged=judged,
                rivals=tuple(_rivals(release, measure)) if judged == 1 else (),
                holes=tuple(_holes(release, k, names, is_first=not found)) if judged == 1 else (),
                drift=_drift(release, *before, values, labels) if found else None,
            )
        )
        names = {model["name"] for model in release.models}
    return found


def _values(release: Release, measure: str) -> dict[str, float]:
    """Return the value of each model by name."""
    results = release.json("results.json")
    if measure not in results["measures"]:
        known = ", ".join(results["measures"])
        raise ReleaseError(f"{release.source}: it has no {measure}; it has {known}")
    name_of = {model["id"]: model["name"] for model in release.models}
    outcomes = {name_of[m["id"]]: m["measures"].get(measure, {}) for m in results["models"]}
    told = {name: outcome.get("value") for name, outcome in outcomes.items()}
    return {name: value for name, value in told.items() if value is not None}


def _rivals(release: Release, measure: str) -> list[Rivals]:
    by_query = values_by_query(release)
    results = {model["id"]: model["measures"] for model in release.json("results.json")["models"]}
    scores = [
        ReleaseScores(
            Entrant(model["name"], model["badge"]),
            {name: outcome["value"] for name, outcome in results[model["id"]].items()},
            {name: outcome["n_queries"] for name, outcome in results[model["id"]].items()},
            by_query=by_query.get(model["id"], {}),
        )
        for model in release.scored
        if model["id"] in results
    ]
    columns = [(measure, measure)]
    board = release_leaderboard(
        scores, columns, measure, depth=pool_depth(release), units=query_units(release)
    )
    return [rivals_of(section) for section in board.sections if section.lines]


def rivals_of(section: Section) -> Rivals:
    """Return how well a section of a board, whose first column it is sorted by, is told apart."""
    cells = [line.cells[0] for line in section.lines if line.cells[0].shown is not None]
    whom = section.lines[0].cells[0].comparable_with
    if not any(cell.letters for cell in cells) or section.lines[0].cells[0].is_alone:
        return Rivals(whom, len(section.lines), None, float("nan"))
    pairs = [not _is_tied(a, b) for a, b in combinations(cells, 2)]
    n_tied = sum(_is_tied(cells[0], cell) for cell in cells)
    return Rivals(
        whom, len(section.lines), n_tied, float(np.mean(pairs)) if pairs else float("nan")
    )


def _is_tied(a: Cell, b: Cell) -> bool:
    return bool(set(a.letters) & set(b.letters))


def _holes(release: Release, k: int, before: set[str], *, is_first: bool) -> list[Hole]:
    measure = f"hole@{k}"
    found = []
    for model in release.scored:
        if model["badge"] != "pooled":
            [scored] = release.score(release.run(model["id"]), [measure])
            share = scored.outcomes[measure].value
            is_new = not is_first and model["name"] not in before
            found.append(Hole(model["name"], is_new, share))
    return found


def _drift(
    release: Release,
    values: Mapping[str, float],
    labels: Labels,
    values_now: Mapping[str, float],
    labels_now: Labels,
) -> Drift:
    shared = sorted(labels.keys() & labels_now.keys())
    if not shared:
        raise ReleaseError(f"{release.source}: it shares no label with the version before")
    change = np.array([labels_now[pair] - labels[pair] for pair in shared])
    _, queries = np.unique([query for query, _ in shared], return_inverse=True)
    both = sorted(values.keys() & values_now.keys())
    tau = float("nan")
    if len(both) > 1:
        old, new = ([side[name] for name in both] for side in (values, values_now))
        tau = float(correlations(old, new).tau_b)
    return Drift(
        n_shared=len(shared),
        n_to_similar=int((change > 0).sum()),
        n_to_different=int((change < 0).sum()),
        interval=mean_interval(change != 0, groups=queries),
        tau=tau,
    )

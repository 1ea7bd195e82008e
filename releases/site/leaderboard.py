"""The leaderboard of a release with what was submitted to it, as a person sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np
from django.core.cache import cache, caches
from django.core.cache.backends.base import BaseCache
from redis import RedisError

from lookalike.agreement.human_line import HumanLine
from lookalike.core.source import source_digest
from lookalike.metrics.leaderboard import Entrant, Leaderboard, seen_note
from lookalike.release.board import model_scores, scores_of
from lookalike.release.format.folder import Folder
from lookalike.release.human_line import release_human_line
from lookalike.release.leaderboard import (
    ReleaseScores,
    pool_depth,
    query_units,
    release_leaderboard,
)
from lookalike.release.outsiders import EqualOutsiders, equal_outsiders
from lookalike.stats.text_tables import PAGE
from releases.models import Release, Submission
from releases.site.queries import Person, visible_submissions
from releases.storage import files_folder

SECONDS = 30 * 86_400  # a release never changes; what nobody asks for any more goes
T = TypeVar("T")


def leaderboard(
    release: Release,
    person: Person,
    columns: Sequence[tuple[str, str]],
    by: str,
    *,
    hidden: bool,
) -> Leaderboard:
    """Return the models and the visible submissions, in sections that may be compared.

    Args:
        release: whose.
        person: who looks: one's own private submissions are in one's own leaderboard.
        columns: (measure, title).
        by: the measure to sort by.
        hidden: by the hidden labels rather than the public ones; of these there are coarse means
            alone, so no intervals and no tests.
    """
    submitted = list(visible_submissions(release, person).filter(scored_at__isnull=False))
    shown = [(str(one.uid), one.name, one.is_published) for one in submitted]
    words = json.dumps([_code(), release.seal, shown, list(columns), by, hidden])

    def make() -> Leaderboard:
        scores = _hidden(release, submitted) if hidden else _public(release, submitted)
        folder = Folder(files_folder(release))
        return release_leaderboard(
            scores, columns, by, depth=pool_depth(folder), units=query_units(folder)
        )

    return _kept(f"release-leaderboard:{sha256(words.encode()).hexdigest()}", make)


def human(release: Release) -> HumanLine | None:
    """Return the judges as a line of the table by the public labels."""
    [made] = _kept(
        f"release-human:{_code()}:{release.seal}",
        lambda: [release_human_line(Folder(files_folder(release)))],
        caches["disk"],
    )
    return made


def of_pool(release: Release) -> EqualOutsiders | None:
    """Return the equal-outsider AUC of the models by the public labels; None without a pool."""
    [made] = _kept(
        f"release-outsiders:{_code()}:{release.seal}",
        lambda: [equal_outsiders(Folder(files_folder(release)))],
        caches["disk"],
    )
    return made


def _code() -> str:
    """Return which code makes leaderboards: what another has made is made anew."""
    return source_digest("lookalike", "releases.site")


def _kept(key: str, make: Callable[[], T], shared: BaseCache = cache) -> T:
    """Return what a key names from this process, from a cache that all share, or make it."""
    made: T | None = caches["process"].get(key)
    if made is not None:
        return made
    try:
        made = shared.get(key)
    except Exception:  # Redis is gone, or a file is damaged, which may raise anything
        made = None
    if made is None:
        made = make()
        with suppress(RedisError, OSError):
            shared.set(key, made, SECONDS if shared is cache else None)
    caches["process"].set(key, made)
    return made


def _public(release: Release, submitted: Sequence[Submission]) -> Iterator[ReleaseScores]:
    """Yield every model's means by the public labels, and its values of single queries."""
    outsiders = of_pool(release)
    names = {model["id"]: model["name"] for model in release.entrants}
    for scores in model_scores(Folder(files_folder(release)), outsiders):
        yield replace(scores, model=replace(scores.model, name=names[scores.model.name]))
    for one in submitted:
        values = {name: np.array(row, np.float64) for name, row in one.by_query.items()}
        yield scores_of(_entrant(one), one.results, values, outsiders)


def _hidden(release: Release, submitted: Sequence[Submission]) -> Iterator[ReleaseScores]:
    """Yield every model's coarse means by the hidden labels."""
    for model, entrant in _models(release, release.hidden_results):
        yield ReleaseScores(entrant, _named(model["measures"], "value"))
    for one in submitted:
        yield ReleaseScores(_entrant(one), _named(one.hidden_results, "value"))


def _models(release: Release, results: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Entrant]]:
    entrants = {model["id"]: model for model in release.entrants}
    for model in results.get("models", []):
        entrant = entrants[model["id"]]
        notes = seen_note(entrant.get("n_seen_queries", 0), entrant.get("n_queries", 0))
        yield model, Entrant(entrant["name"], entrant["badge"], notes)


def _entrant(submission: Submission) -> Entrant:
    notes = [] if submission.is_published else ["only you see it"]
    coverage = submission.coverage
    if coverage.get("n_scored", 0) < coverage.get("n_pairs", 0):
        share = coverage["n_scored"] / coverage["n_pairs"]
        notes.append(f"{PAGE.share(share)} of pairs scored")
    return Entrant(submission.name, "submitted", notes, is_private=not submission.is_published)


def _named(outcomes: Mapping[str, Any], part: str) -> dict[str, Any]:
    return {name: outcome.get(part) for name, outcome in outcomes.items()}

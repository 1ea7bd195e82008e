"""What uploaded embeddings and rankings say about a pool's images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.io.errors import FormatError
from lookalike.io.image_names import UnknownImageError
from lookalike.io.runs import run_rows
from lookalike.io.tables import Row
from lookalike.io.vectors import read_vectors
from pooling.sources.image_names import Names
from pooling.sources.ranking_task import RankingTask

MAX_ROWS = 20_000_000
MAX_NAMED = 3


@dataclass(frozen=True)
class NamedVectors:
    """Vectors by image id, shape (n,) and (n, d), float32."""

    image_ids: Ints
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Ranking:
    """Scores by image ids, three columns of one length."""

    query_ids: Ints
    candidate_ids: Ints
    scores: NDArray[np.float64]


def read_embeddings(path: Path, ids_path: Path | None, task: RankingTask) -> NamedVectors:
    """Return the vectors of a file, one for each candidate and each query.

    Raises:
        FormatError: as `read_vectors`; an id is no image of the catalogs or is given twice; or
            a candidate or query has no vector.
    """
    table = read_vectors(path, ids_path)
    names = Names([task.catalog, task.asking])
    row_of: dict[int, int] = {}
    for row, name in enumerate(table.ids):
        for image_id in _images(names, path, row + 1, "row", name):
            first = row_of.setdefault(image_id, row)
            if first != row:
                reason = f"{name!r} has a vector in row {first + 1} already"
                raise FormatError(path, row + 1, reason, unit="row")
    wanted = task.catalog.images.values_list("pk", flat=True)
    missing = [pk for pk in [*wanted, *task.query_ids] if pk not in row_of]
    if missing:
        listed = ", ".join(names.sha256_of[pk][:12] for pk in sorted(missing)[:MAX_NAMED])
        reason = f"{len(set(missing)):,} images have no vector (SHA-256 {listed}…); all must"
        raise FormatError(path, None, reason)
    image_ids = np.array(sorted(row_of), np.int64)
    return NamedVectors(image_ids, table.vectors[[row_of[pk] for pk in image_ids.tolist()]])


def read_ranking(path: Path, task: RankingTask) -> Ranking:
    """Return the scores that a run gives to candidates of the pool's queries.

    Queries that the pool does not ask are left out. The order is by score; ranks in the file
    are ignored, as trec_eval ignores them.

    Raises:
        FormatError: as `run_rows`; an id is no image; a pair is scored twice; a score is not
            finite; or a query of the pool has no candidate.
    """
    file = run_rows(path)
    askers, candidates = Names([task.asking]), Names([task.catalog])
    named = _named_rows(file.rows, path, file.unit, askers, candidates)
    run = file.run(path, file.name, named)
    query_of = np.array([int(pk) for pk in run.query_ids], np.int64)
    candidate_of = np.array([int(pk) for pk in run.candidate_ids], np.int64)
    is_asked = np.isin(query_of, np.array(task.query_ids, np.int64))[run.queries]
    missing = sorted(set(task.query_ids) - set(query_of.tolist()))
    if missing:
        listed = ", ".join(askers.sha256_of[pk][:12] for pk in missing[:MAX_NAMED])
        reason = f"{len(missing):,} queries of the pool have no candidate (SHA-256 {listed}…)"
        raise FormatError(path, None, reason)
    return Ranking(
        query_of[run.queries][is_asked],
        candidate_of[run.candidates][is_asked],
        run.scores[is_asked],
    )


def _named_rows(
    rows: Iterator[Row], path: Path, unit: str, askers: Names, candidates: Names
) -> Iterator[Row]:
    """Yield rows with images named by their ids."""
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise FormatError(path, row.line, f"more than {MAX_ROWS:,} scores", unit=unit)
        query, candidate = (
            str(_images(names, path, row.line, unit, name)[0]) if name else ""
            for names, name in ((askers, row.query), (candidates, row.candidate))
        )
        yield row._replace(query=query, candidate=candidate)


def _images(names: Names, path: Path, line: int, unit: str, name: str) -> Sequence[int]:
    try:
        return names.images(name)
    except UnknownImageError as problem:
        raise FormatError(path, line, str(problem), unit=unit) from problem

"""Check an uploaded run on arrival, and turn embeddings into scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from evaluation.runs.model_runs import N_PRODUCTS, ranking_task
from evaluation.runs.targets import Namer, Target, UnknownImageError
from lookalike.core.arrays import Ints
from lookalike.io.errors import FormatError, InputError
from lookalike.io.runs import run_rows
from lookalike.io.tables import Qrels, Row, Run, scores_from
from lookalike.io.vectors import VectorTable, holds_vectors, read_vectors
from lookalike.metrics.embedding_runs import embedding_run
from lookalike.metrics.match import match_run, scored_at

MAX_ROWS = 10_000_000
Missing = Literal["error", "worst"]


NameOf = Callable[[str], str]


@dataclass(frozen=True)
class PairsScored:
    """How many of the pairs that are compared a run scores.

    Attributes:
        n_pairs: pairs, without those that are never compared.
        n_scored: of them, how many the run scores.
        first_missing: query and candidate of the first without a score, None if all have one.
    """

    n_pairs: int
    n_scored: int
    first_missing: tuple[str, str] | None


@dataclass(frozen=True)
class Coverage:
    """What an uploaded run speaks about.

    Attributes:
        kind: "scores" or "embeddings".
        n_pairs: pairs put to the judges, without those that are never compared.
        n_scored: of them, how many the run scores.
        n_rows: scores that are kept.
        n_other_queries: queries of the run that the campaign does not ask; left out.
        n_images: images with a vector, for embeddings.
        n_without_vector: images of the catalogs without one, for embeddings.
        dim: of the vectors, for embeddings.
    """

    kind: str
    n_pairs: int
    n_scored: int
    n_rows: int
    n_other_queries: int = 0
    n_images: int | None = None
    n_without_vector: int | None = None
    dim: int | None = None

    @property
    def share(self) -> float:
        """The scored part of the pairs."""
        return self.n_scored / self.n_pairs if self.n_pairs else 0.0

    def as_json(self) -> dict[str, object]:
        """Return it ready to be stored."""
        return {**asdict(self), "share": self.share}


def read_arrival(
    target: Target, name: str, path: Path, *, ids_path: Path | None = None, missing: Missing
) -> tuple[Run, Coverage]:
    """Return an uploaded run with images named by SHA-256, and what it covers.

    Args:
        target: the campaign.
        name: of the run.
        path: a TREC run, CSV or parquet of scores, or embeddings as .npy, .npz or parquet.
        ids_path: ids of a .npy.
        missing: "error" refuses a run without a score for every pair.

    Raises:
        FormatError: what is wrong, with the line or row.
        InputError: pairs without a score, or embeddings for a campaign without a pool.
    """
    if holds_vectors(path) or ids_path is not None:
        run, extra = _from_vectors(target, name, path, read_vectors(path, ids_path))
    else:
        run, extra = _from_scores(target, name, path)
    scored = pairs_scored(target.pairs(), run, target.products)
    if missing == "error":
        require_scores(scored, path)
    coverage = Coverage(
        n_pairs=scored.n_pairs,
        n_scored=scored.n_scored,
        n_rows=len(run),
        **extra,  # type: ignore[arg-type]
    )
    return run, coverage


def _from_scores(target: Target, name: str, path: Path) -> tuple[Run, dict[str, int | str]]:
    rows, _, unit = run_rows(path)
    named = named_rows(rows, Namer(target).image, path, unit)
    whole = scores_from(path, name, named, unit=unit, merge=True)
    asked = set(target.images.named(np.unique(target.query_ids)))
    is_asked = np.array([query in asked for query in whole.query_ids])
    kept = is_asked[whole.queries]
    if not kept.any():
        raise FormatError(path, None, "it scores none of the campaign’s queries")
    n_other = int((~is_asked).sum())
    return _part(whole, kept), {"kind": "scores", "n_other_queries": n_other}


def named_rows(rows: Iterator[Row], name_of: NameOf, path: Path, unit: str) -> Iterator[Row]:
    """Yield the rows of a file with images under their own names.

    Args:
        rows: as given.
        name_of: the name of an image; raises UnknownImageError for what is none.
        path: of the file.
        unit: of a row's number: "line" or "row".

    Raises:
        FormatError: a name that stands for no image, or more than MAX_ROWS rows.
    """
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            reason = f"more than {MAX_ROWS:,} scores; keep the top of each query’s list and "
            raise FormatError(path, row.line, f"{reason}the pairs to be judged", unit=unit)
        try:
            query = name_of(row.query) if row.query else ""
            candidate = name_of(row.candidate) if row.candidate else ""
        except UnknownImageError as problem:
            raise FormatError(path, row.line, str(problem), unit=unit) from problem
        yield Row(row.line, query, candidate, row.value)


def _part(run: Run, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Run:
    """Return some rows of a run, numbered anew."""
    query_codes, queries = np.unique(run.queries[kept], return_inverse=True)
    candidate_codes, candidates = np.unique(run.candidates[kept], return_inverse=True)
    return Run(
        run.name,
        tuple(run.query_ids[code] for code in query_codes.tolist()),
        tuple(run.candidate_ids[code] for code in candidate_codes.tolist()),
        queries,
        candidates,
        run.scores[kept],
    )


def _from_vectors(
    target: Target, name: str, path: Path, table: VectorTable
) -> tuple[Run, dict[str, int | str]]:
    if target.pool is None:
        raise InputError("embeddings need a pool, whose catalog they rank; upload scores instead")
    rows = _rows_of_images(target, path, table)
    ids = target.images.ids
    pool = target.pool
    ranked = np.array(pool.catalog.images.order_by("id").values_list("id", flat=True), np.int64)
    needed = np.union1d(ranked, target.query_ids)
    without = np.setdiff1d(needed, ids[rows >= 0])
    task = ranking_task(
        pool, target.images, target.query_ids, target.candidate_ids, without.tolist()
    )
    if not task.query_ids.size or not task.catalog_ids.size:
        raise FormatError(path, None, "it has vectors of none of the queries or none of the images")
    place = dict(zip(ids.tolist(), rows.tolist(), strict=True))
    run = embedding_run(
        name,
        table.vectors[[place[i] for i in task.query_ids.tolist()]],
        table.vectors[[place[i] for i in task.catalog_ids.tolist()]],
        task.gallery,
        n_products=N_PRODUCTS,
    )
    return run, {
        "kind": "embeddings",
        "n_images": int((rows >= 0).sum()),
        "n_without_vector": without.size,
        "dim": table.vectors.shape[1],
    }


def _rows_of_images(target: Target, path: Path, table: VectorTable) -> Ints:
    """Return the row of each image of the target, -1 where it has no vector."""
    row_of = rows_by_image(path, table, Namer(target).image)
    return np.array([row_of.get(name, -1) for name in target.images.names], np.int64)


def rows_by_image(path: Path, table: VectorTable, name_of: NameOf) -> dict[str, int]:
    """Return the row of each image's vector; the same vector twice is one.

    Raises:
        FormatError: a name that stands for no image, or two vectors of one image.
    """
    row_of: dict[str, int] = {}
    for row, name in enumerate(table.ids):
        try:
            image = name_of(name)
        except UnknownImageError as problem:
            raise FormatError(path, row + 1, str(problem), unit="row") from problem
        first = row_of.setdefault(image, row)
        if first != row and (table.vectors[first] != table.vectors[row]).any():
            reason = f"{name!r} has another vector in row {first + 1}"
            raise FormatError(path, row + 1, reason, unit="row")
    return row_of


def pairs_scored(pairs: Qrels, run: Run, products: Mapping[str, str] | None) -> PairsScored:
    """Return how many pairs a run scores; those of one product are never compared."""
    aligned = match_run(pairs, run, products=products)
    kept = ~aligned.is_excluded
    queries, candidates = aligned.queries[kept], aligned.candidates[kept]
    absent = np.flatnonzero(scored_at(aligned, queries, candidates) < 0)
    first = None
    if absent.size:
        query, candidate = queries[absent[0]], candidates[absent[0]]
        first = (aligned.query_ids[query], aligned.candidate_ids[candidate])
    n = int(kept.sum())
    return PairsScored(n, n - absent.size, first)


def require_scores(scored: PairsScored, path: Path) -> None:
    """Refuse a run that lacks scores.

    Raises:
        InputError: saying how many pairs have no score, and naming the first.
    """
    if scored.first_missing is not None:
        query, candidate = scored.first_missing
        raise InputError(
            f"{path}: no score for {scored.n_pairs - scored.n_scored:,} of {scored.n_pairs:,} "
            f"pairs put to the judges (first: query {query}, candidate {candidate}). Add them, or "
            "let missing scores count as the worst."
        )

"""A run or embeddings for a release: read, checked and scored from the release's files alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from catalog.formats.errors import FormatError
from catalog.formats.runs import run_rows
from catalog.formats.tables import Ints, Qrels, Row, Run, scores_from
from catalog.formats.vectors import VectorTable, holds_vectors, read_vectors
from evaluation.embedding_runs import Gallery, embedding_run
from evaluation.scoring import Scored
from releases.folder import Folder
from releases.labelling import pair_keys, qrels_of
from releases.scoring import coarse, rounded, score_one

MAX_ROWS = 10_000_000
N_PRODUCTS = 20


@dataclass(frozen=True)
class Judged:
    """What a submission is scored on.

    Attributes:
        folder: the release.
        hidden: folder of the labels that are kept back, None if there are none.
    """

    folder: Folder
    hidden: Path | None

    @cached_property
    def image_of(self) -> dict[str, str]:
        """Image id by image id, SHA-256 and path; a path of two images is none."""
        table = self.folder.table("images", ["image_id", "sha256", "path"])
        ids, hashes, paths = (table[name].to_pylist() for name in table.schema.names)
        found = dict(zip(paths, ids, strict=True))
        twice = [path for path, n in Counter(paths).items() if n > 1]
        for path in twice:
            del found[path]
        return found | dict(zip(hashes, ids, strict=True)) | dict(zip(ids, ids, strict=True))

    @cached_property
    def queries(self) -> list[str]:
        """The queries of the release."""
        found: list[str] = self.folder.table("queries", ["query_id"])["query_id"].to_pylist()
        return found

    def hidden_qrels(self) -> Qrels | None:
        """Return the labels that are kept back."""
        if self.hidden is None:
            return None
        labels = Folder(self.hidden).table("labels")
        return qrels_of(self.folder.compared(labels=labels))


def read_submission(judged: Judged, name: str, path: Path) -> Run:
    """Return a submission with images by their id in the release.

    Raises:
        FormatError: what is wrong, with the line or row; also if it scores another benchmark.
    """
    if holds_vectors(path):
        return _from_vectors(judged, name, path, read_vectors(path, None))
    rows, _, unit = run_rows(path)
    run = scores_from(path, name, _named(judged, rows, path, unit), unit=unit, merge=True)
    if not set(run.query_ids) & set(judged.queries):
        raise FormatError(path, None, f"it scores none of the queries of {_title(judged)}")
    return run


def _title(judged: Judged) -> str:
    return f"{judged.folder.info['name']} {judged.folder.info['version']}"


def _named(judged: Judged, rows: Iterator[Row], path: Path, unit: str) -> Iterator[Row]:
    known = judged.image_of
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise FormatError(path, row.line, f"more than {MAX_ROWS:,} scores", unit=unit)
        for given in (row.query, row.candidate):
            if given and given not in known:
                reason = f"{given!r} is no image of {_title(judged)} (by image_id, SHA-256 or path)"
                raise FormatError(path, row.line, reason, unit=unit)
        yield Row(row.line, known.get(row.query, ""), known.get(row.candidate, ""), row.value)


def _from_vectors(judged: Judged, name: str, path: Path, table: VectorTable) -> Run:
    """Rank the candidates of the release by cosine."""
    row_of: dict[str, int] = {}
    for row, given in enumerate(table.ids):
        image = judged.image_of.get(given)
        if image is None:
            reason = f"{given!r} is no image of {_title(judged)} (by image_id, SHA-256 or path)"
            raise FormatError(path, row + 1, reason, unit="row")
        row_of[image] = row
    images = judged.folder.table("images", ["image_id", "is_candidate"])
    is_ranked = zip(images["image_id"].to_pylist(), images["is_candidate"].to_pylist(), strict=True)
    ranked = sorted(image for image, ranks in is_ranked if ranks and image in row_of)
    queries = sorted(query for query in judged.queries if query in row_of)
    if not ranked or not queries:
        raise FormatError(path, None, "it has vectors of none of the queries or of no candidate")
    gallery = _gallery(judged, queries, ranked)
    vectors = table.vectors
    return embedding_run(
        name,
        vectors[[row_of[query] for query in queries]],
        vectors[[row_of[image] for image in ranked]],
        gallery,
        n_products=N_PRODUCTS,
        is_lean=True,
    )


def _gallery(judged: Judged, queries: list[str], ranked: list[str]) -> Gallery:
    products = judged.folder.product_of if judged.folder.info["exclude_same_product"] else {}
    number = {product: at for at, product in enumerate(sorted(set(products.values()) - {""}))}

    def numbers(ids: list[str]) -> Ints:
        return np.array([number.get(products.get(one, ""), -1) for one in ids], np.int64)

    place = {image: row for row, image in enumerate(ranked)}
    asked = {query: row for row, query in enumerate(queries)}
    ids = judged.folder.image_ids
    keys = pair_keys(ids, judged.folder.table("pairs", ["query_id", "image_id"]), "pairs")
    pairs = [(ids[q], ids[c]) for q, c in zip(keys // len(ids), keys % len(ids), strict=True)]
    kept = [(asked[q], place[c]) for q, c in pairs if q in asked and c in place]
    both = np.array(kept, np.int64).reshape(-1, 2)
    return Gallery(
        query_ids=queries,
        image_ids=ranked,
        own=np.array([place.get(query, -1) for query in queries], np.int64),
        query_products=numbers(queries),
        image_products=numbers(ranked),
        judged_queries=both[:, 0],
        judged_images=both[:, 1],
    )


@dataclass(frozen=True)
class Score:
    """What a submission gets: exact on public labels, rounded on hidden ones."""

    coverage: dict[str, int]
    results: dict[str, Any]
    hidden_results: dict[str, Any]


def score_submission(judged: Judged, run: Run) -> Score:
    """Score a run; a missing score counts as the worst."""
    public = score_one(judged.folder, judged.folder.qrels(), run)
    kept_back = judged.hidden_qrels()
    return Score(
        {"n_pairs": public.coverage.n_pairs, "n_scored": public.coverage.n_scored},
        _values(public),
        _aggregates(score_one(judged.folder, kept_back, run)) if kept_back else {},
    )


def _values(scored: Scored) -> dict[str, Any]:
    return {
        name: {"value": rounded(found.value), "n_queries": found.n_defined}
        for name, found in scored.outcomes.items()
    }


def _aggregates(scored: Scored) -> dict[str, Any]:
    """Return means alone, too coarse to tell one label: never a value of a query."""
    return {name: {"value": coarse(found.value)} for name, found in scored.outcomes.items()}

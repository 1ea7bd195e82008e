"""A run or embeddings for a release: read, checked and scored from the release's files alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.results.stored import ScoredPairs
from evaluation.runs.run_upload import (
    Missing,
    named_rows,
    pairs_scored,
    rows_by_image,
)
from evaluation.runs.targets import UnknownImageError
from lookalike.core.arrays import Ints
from lookalike.io.errors import FormatError
from lookalike.io.runs import run_rows
from lookalike.io.tables import Qrels, Run, scores_from
from lookalike.io.vectors import VectorTable, holds_vectors, read_vectors
from lookalike.metrics.embedding_runs import Gallery, embedding_run
from lookalike.release.format.folder import Folder
from lookalike.release.format.tables import rows_of
from lookalike.release.labelling import make_qrels, pair_keys
from lookalike.release.scoring import coarse, ranks_more, rounded, score_one

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
        n_of = Counter(self.folder.path_of.values())
        by_path = {path: image for image, path in self.folder.path_of.items() if n_of[path] == 1}
        by_hash = {sha256: image for image, sha256 in self.folder.sha256_of.items()}
        return by_path | by_hash | {image: image for image in self.folder.image_ids}

    def image(self, name: str) -> str:
        """Return the id of an image.

        Raises:
            UnknownImageError: the name stands for none, or for two.
        """
        image = self.image_of.get(name)
        if image is None:
            raise UnknownImageError(
                f"{name!r} is no image of {_title(self)} (by image_id, SHA-256 or path)"
            )
        return image

    def pairs(self) -> Qrels:
        """Return every pair put to the judges that models are compared by, as if labelled.

        Pairs of hidden queries are among them: which were asked is no secret.
        """
        pairs = rows_of(self.folder.asked(), "query_id", "image_id")
        return Qrels.of((query, image, 0) for query, image in pairs)

    @cached_property
    def queries(self) -> list[str]:
        """The queries of the release."""
        return [query for (query,) in self.folder.rows("queries", "query_id")]

    def hidden_qrels(self) -> Qrels | None:
        """Return the labels that are kept back."""
        if self.hidden is None:
            return None
        labels = Folder(self.hidden).table("labels")
        return make_qrels(self.folder.compared(labels=labels))


def file_problem(name: str) -> str:
    """Return why a file of this name cannot be a submission, "" if it can."""
    if Path(name).suffix.lower() != ".npy":
        return ""
    return (
        "A .npy holds no names of images. Give a .npz with the arrays ids and vectors, or a "
        "parquet file with the columns id and vector."
    )


def read_submission(
    judged: Judged, name: str, path: Path, *, missing: Missing = "error"
) -> tuple[Run, ScoredPairs]:
    """Return a submission with images by their id in the release, and what it scores.

    Args:
        judged: the release.
        name: of the submission.
        path: a TREC run, CSV or parquet of scores, or embeddings as .npz or parquet.
        missing: "error" refuses one without a score for every pair put to the judges.

    Raises:
        FormatError: what is wrong, with the line or row; also if it scores another benchmark.
        InputError: pairs without a score.
    """
    if holds_vectors(path):
        run = _from_vectors(judged, name, path, read_vectors(path, None))
    else:
        rows, _, unit = run_rows(path)
        named = named_rows(rows, judged.image, path, unit)
        run = scores_from(path, name, named, unit=unit, merge=True)
        if not set(run.query_ids) & set(judged.queries):
            raise FormatError(path, None, f"it scores none of the queries of {_title(judged)}")
    return run, pairs_scored(judged.pairs(), run, judged.folder.products, path, missing)


def _title(judged: Judged) -> str:
    return f"{judged.folder.info['name']} {judged.folder.info['version']}"


def _from_vectors(judged: Judged, name: str, path: Path, table: VectorTable) -> Run:
    """Rank the candidates of the release by cosine."""
    row_of = rows_by_image(path, table, judged.image)
    images = judged.folder.rows("images", "image_id", "is_candidate")
    ranked = sorted(image for image, is_ranked in images if is_ranked and image in row_of)
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
        return np.array([number.get(products.get(image, ""), -1) for image in ids], np.int64)

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


def score_submission(judged: Judged, run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the results of a run, exact on public labels and rounded on hidden ones.

    A missing score counts as the worst. Scores of the pairs put to the judges alone are no
    lists: they have no cut-off measures. Of hidden labels there are means alone, in coarse steps:
    never a value of a query.
    """
    labels, kept_back = judged.folder.qrels(), judged.hidden_qrels()
    is_listed = all(ranks_more(judged.folder, pairs, run) for pairs in (labels, judged.pairs()))
    public = score_one(judged.folder, labels, run, is_listed=is_listed)
    results = {
        name: {"value": rounded(outcome.value), "n_queries": outcome.n_defined}
        for name, outcome in public.outcomes.items()
    }
    if not kept_back:
        return results, {}
    hidden = score_one(judged.folder, kept_back, run, is_listed=is_listed)
    n = len(kept_back.query_ids)
    return results, {
        name: {"value": coarse(outcome.value, outcome.n_defined or n)}
        for name, outcome in hidden.outcomes.items()
    }

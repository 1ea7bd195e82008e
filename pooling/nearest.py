"""A source's answers to a pool's queries, by its vectors.

Only tasks and commands import this: the search loads torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalog.embeddings import EmbeddingError, ImageIds, Vectors, load_vectors
from catalog.models import EmbeddingSet, Image
from jobs.services import JobError
from pooling.admission import filters_of, rows_of
from pooling.models import Pool
from pooling.search import top_k
from pooling.topk import Ints, TopK


@dataclass(frozen=True)
class Found:
    """A source's answers in the database's words.

    Attributes:
        query_ids: shape (n_queries,), image ids in the pool's order.
        candidate_ids: shape (n_images,), the image id of every row of the catalog's vectors.
        nearest: rows of the catalog's vectors.
    """

    query_ids: Ints
    candidate_ids: Ints
    nearest: TopK


def nearest_candidates(
    pool: Pool, k: int, candidates: EmbeddingSet, queries: EmbeddingSet
) -> Found:
    """Return every query's k nearest among the candidates that the pool's rules admit."""
    candidate_ids, vectors = living_vectors(candidates)
    query_ids = np.array(list(pool.queries.values_list("image_id", flat=True)), np.int64)
    asked_ids, asked = (
        (candidate_ids, vectors) if queries == candidates else living_vectors(queries)
    )
    rows = rows_of(query_ids, asked_ids)
    nearest = top_k(
        np.asarray(asked[rows], np.float32),
        vectors,
        min(k, len(candidate_ids)),
        filters=filters_of(pool, query_ids, candidate_ids),
    )
    return Found(query_ids, candidate_ids, nearest)


def living_vectors(embedding_set: EmbeddingSet) -> tuple[ImageIds, Vectors]:
    """Return the vectors of the images that are still in the catalog."""
    try:
        image_ids, vectors = load_vectors(embedding_set)
    except EmbeddingError as problem:
        raise JobError(str(problem)) from problem
    in_catalog = Image.objects.filter(catalog_id=embedding_set.catalog_id)
    living = np.fromiter(in_catalog.values_list("pk", flat=True), np.int64)
    is_living = np.isin(image_ids, living)
    return (image_ids, vectors) if is_living.all() else (image_ids[is_living], vectors[is_living])

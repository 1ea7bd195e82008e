"""A source's answers to a pool's queries, by its vectors, on the device of this worker.

Only tasks and commands import this: the search loads torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from catalog.models import EmbeddingSet, Image
from catalog.vectors.embeddings import ImageIds, Vectors, load_vectors
from jobs.services import JobError
from lookalike.core.arrays import Ints
from lookalike.core.progress import SILENT, Progress
from lookalike.search import exact, gpu
from lookalike.search.approximate import IndexTooLargeError, approximate_top_k, filters_for, recall
from lookalike.search.filters import Filters
from lookalike.search.topk import TopK
from pooling.models import Pool
from pooling.sources.admission import find_rows, make_filters

N_SAMPLED = 200  # queries on which an index is compared with the exact search


@dataclass(frozen=True)
class Found:
    """A source's answers in the database's words.

    Attributes:
        query_ids: shape (n_queries,), image ids in the pool's order.
        candidate_ids: shape (n_images,), the image id of every row of the catalog's vectors.
        nearest: rows of the catalog's vectors.
        recall: of an index, against the exact search; empty where that was used.
    """

    query_ids: Ints
    candidate_ids: Ints
    nearest: TopK
    recall: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Question:
    """The vectors and rules of one search."""

    query_ids: Ints
    candidate_ids: Ints
    queries: NDArray[np.float32]
    vectors: Vectors
    filters: Filters


def nearest_candidates(
    pool: Pool, k: int, candidates: EmbeddingSet, queries: EmbeddingSet, progress: Progress = SILENT
) -> Found:
    """Return every query's k nearest among the candidates that the pool's rules admit."""
    asked = _question(pool, candidates, queries)
    depth = min(k, len(asked.candidate_ids))
    nearest = _exact(asked.queries, asked.vectors, depth, asked.filters, progress)
    return Found(asked.query_ids, asked.candidate_ids, nearest)


def nearest_by_index(
    pool: Pool, k: int, candidates: EmbeddingSet, queries: EmbeddingSet, progress: Progress = SILENT
) -> Found:
    """Return what an index finds of them, and its recall on a seeded sample of the queries.

    Raises:
        JobError: the index does not fit into the memory that it may take.
    """
    asked = _question(pool, candidates, queries)
    depth = min(k, len(asked.candidate_ids))
    try:
        answer = approximate_top_k(
            asked.queries,
            asked.vectors,
            depth,
            filters=asked.filters,
            seed=pool.seed,
            memory_mib=settings.INDEX_MEMORY_MIB,
        )
    except IndexTooLargeError as problem:
        raise JobError(
            f"{candidates.spec}: {problem}. Raise INDEX_MEMORY_MIB, or make a pool that searches "
            "exactly, which needs no index."
        ) from problem
    rng = np.random.default_rng(pool.seed)
    sample = np.sort(rng.permutation(len(asked.queries))[:N_SAMPLED])
    rules = filters_for(asked.filters, sample)
    exact = _exact(asked.queries[sample], asked.vectors, depth, rules, progress)
    mine = TopK(answer.nearest.indices[sample], answer.nearest.scores[sample])
    shares = recall(mine, exact)
    measured = {
        "k": depth,
        "mean": float(shares.mean()),
        "least": float(shares.min()),
        "n_sampled": len(sample),
        "n_lists": answer.n_lists,
        "n_probed": answer.n_probed,
        "n_exact": answer.n_exact,
    }
    return Found(asked.query_ids, asked.candidate_ids, answer.nearest, measured)


def _exact(
    queries: NDArray[np.float32], vectors: Vectors, k: int, filters: Filters, progress: Progress
) -> TopK:
    """Search on this worker's GPU, or on the processor where it has none; the same result."""
    memory_mib = settings.SEARCH_MEMORY_MIB
    if settings.WORKER_DEVICE in {"", "cpu"}:
        return exact.top_k(queries, vectors, k, filters=filters, memory_mib=memory_mib)
    return gpu.top_k(
        queries, vectors, k, device=settings.WORKER_DEVICE, filters=filters,
        memory_mib=memory_mib, progress=progress,
    )  # fmt: skip


def _question(pool: Pool, candidates: EmbeddingSet, queries: EmbeddingSet) -> _Question:
    candidate_ids, vectors = living_vectors(candidates)
    query_ids = pool.query_ids
    asked_ids, asked = (
        (candidate_ids, vectors) if queries == candidates else living_vectors(queries)
    )
    rows = find_rows(query_ids, asked_ids)
    return _Question(
        query_ids,
        candidate_ids,
        np.asarray(asked[rows], np.float32),
        vectors,
        make_filters(pool, query_ids, candidate_ids),
    )


def living_vectors(embedding_set: EmbeddingSet) -> tuple[ImageIds, Vectors]:
    """Return the vectors of the images that are still in the catalog."""
    image_ids, vectors = load_vectors(embedding_set)
    in_catalog = Image.objects.filter(catalog_id=embedding_set.catalog_id)
    living = np.fromiter(in_catalog.values_list("pk", flat=True), np.int64)
    is_living = np.isin(image_ids, living)
    return (image_ids, vectors) if is_living.all() else (image_ids[is_living], vectors[is_living])

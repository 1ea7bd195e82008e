"""Fill a pool: let one source propose, and derive what the proposals say together.

Only tasks and commands import this: the search loads torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from catalog.embeddings import EmbeddingError, ImageIds, Vectors, load_vectors
from catalog.models import Catalog, EmbeddingSet, Image
from jobs.services import JobError, Progress
from pooling.models import Pool, PoolSource
from pooling.search import top_k
from pooling.search_filters import Filters, Keys
from pooling.services_embed import embed_catalog, ready_backbone
from pooling.services_stats import update_stats
from pooling.topk import Ints, TopK

NO_KEY = -1


def run_source(*, source_id: int, progress: Progress) -> dict[str, Any]:
    """Embed what is missing, search, and store a source's proposals; may run twice.

    Raises:
        JobError: the source cannot propose; the message names the model or image and why.
        JobLostError: the job was cancelled or taken over; nothing more is stored.
    """
    sources = PoolSource.objects.select_related("pool__catalog", "pool__query_catalog")
    source = sources.filter(pk=source_id).first()
    if source is None:
        raise JobError("The pool was deleted.")
    PoolSource.objects.filter(pk=source_id).update(job=progress.job)
    if source.done_at is None:
        candidates, queries = _embedded(source, progress)
        n_queries = source.pool.queries.count()
        progress.start(0, n_queries, f"{source.spec}: searching")
        found = nearest_candidates(source.pool, source.k, candidates, queries)
        progress.update(n_queries)
        store_proposals(source=source, found=found, sets=(candidates, queries))
    update_stats(pool=source.pool)
    return {"source": source.spec, "n_proposals": source.n_proposals}


def _embedded(source: PoolSource, progress: Progress) -> tuple[EmbeddingSet, EmbeddingSet]:
    """Return the embedding sets of the candidates and of the queries."""
    pool = source.pool
    backbone = ready_backbone(source.spec, progress)
    candidates = embed_catalog(catalog=pool.catalog, backbone=backbone, progress=progress)
    if pool.query_catalog is None:
        return candidates, candidates
    return candidates, embed_catalog(
        catalog=pool.query_catalog, backbone=backbone, progress=progress
    )


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
    """Return every query's k nearest candidates, without itself and its own product."""
    candidate_ids, vectors = _living_vectors(candidates)
    query_ids = np.array(list(pool.queries.values_list("image_id", flat=True)), np.int64)
    asked_ids, asked = (
        (candidate_ids, vectors) if queries == candidates else _living_vectors(queries)
    )
    rows = rows_of(query_ids, asked_ids)
    nearest = top_k(
        np.asarray(asked[rows], np.float32),
        vectors,
        min(k, len(candidate_ids)),
        filters=_filters(pool, query_ids, candidate_ids),
    )
    return Found(query_ids, candidate_ids, nearest)


def _living_vectors(embedding_set: EmbeddingSet) -> tuple[ImageIds, Vectors]:
    """Return the vectors of the images that are still in the catalog."""
    try:
        image_ids, vectors = load_vectors(embedding_set)
    except EmbeddingError as problem:
        raise JobError(str(problem)) from problem
    in_catalog = Image.objects.filter(catalog_id=embedding_set.catalog_id)
    living = np.fromiter(in_catalog.values_list("pk", flat=True), np.int64)
    is_living = np.isin(image_ids, living)
    return (image_ids, vectors) if is_living.all() else (image_ids[is_living], vectors[is_living])


def rows_of(wanted: Ints, image_ids: Ints) -> Ints:
    """Return the row of each wanted image id.

    Args:
        wanted: shape (n,), image ids.
        image_ids: shape (m,), distinct, in any order.

    Raises:
        JobError: an image has no vector.
    """
    order = np.argsort(image_ids)
    places = np.searchsorted(image_ids, wanted, sorter=order)
    rows = order[np.minimum(places, len(order) - 1)] if len(order) else np.zeros_like(wanted)
    if len(wanted) and (len(order) == 0 or (image_ids[rows] != wanted).any()):
        raise JobError("A query has no vector: images were removed while the pool was filled.")
    return rows


def _filters(pool: Pool, query_ids: Ints, candidate_ids: Ints) -> Filters:
    """Return who may not answer whom."""
    if pool.query_catalog is not None:
        return Filters(apart=[_contents(pool, query_ids, candidate_ids)])
    own = rows_of(query_ids, candidate_ids)
    if not pool.exclude_same_product:
        return Filters(own=own)
    products = _products(pool.catalog, candidate_ids)
    return Filters(own=own, apart=[Keys(queries=products[own], catalog=products)])


def _products(catalog: Catalog, image_ids: Ints) -> Ints:
    """Return a number for the product of each image; NO_KEY where none is known."""
    product_of = dict(Image.objects.filter(catalog=catalog).values_list("pk", "product_id"))
    numbers: dict[str, int] = {"": NO_KEY}
    return np.array(
        [numbers.setdefault(product_of[int(pk)], len(numbers)) for pk in image_ids], np.int64
    )


def _contents(pool: Pool, query_ids: Ints, candidate_ids: Ints) -> Keys:
    """Return keys that keep a query from being answered with the same file in the catalog."""
    asked = dict(Image.objects.filter(pk__in=query_ids.tolist()).values_list("pk", "sha256"))
    number = {sha256: place for place, sha256 in enumerate(sorted(set(asked.values())))}
    same = Image.objects.filter(catalog=pool.catalog, sha256__in=number)
    key_of = {pk: number[sha256] for pk, sha256 in same.values_list("pk", "sha256")}
    return Keys(
        queries=np.array([number[asked[int(pk)]] for pk in query_ids], np.int64),
        catalog=np.array([key_of.get(int(pk), NO_KEY) for pk in candidate_ids], np.int64),
    )


def store_proposals(
    *, source: PoolSource, found: Found, sets: tuple[EmbeddingSet, EmbeddingSet]
) -> None:
    """Store all proposals of a source, or none; a source that is done is left alone."""
    candidates, queries = sets
    with transaction.atomic():
        locked = PoolSource.objects.select_for_update().get(pk=source.pk)
        if locked.done_at is None:
            locked.n_proposals = _copy_proposals(locked, found)
            locked.embedding_set = candidates
            locked.query_embedding_set = queries
            locked.done_at = timezone.now()
            locked.save()
    source.refresh_from_db()


def _copy_proposals(source: PoolSource, found: Found) -> int:
    queries, ranks = np.nonzero(found.nearest.indices >= 0)
    columns = (
        found.query_ids[queries].tolist(),
        found.candidate_ids[found.nearest.indices[queries, ranks]].tolist(),
        ranks.tolist(),
        found.nearest.scores[queries, ranks].tolist(),
    )
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY pooling_proposal (pool_id, source_id, query_id, candidate_id, rank, score) "
            "FROM STDIN"
        ) as copy,
    ):
        for query, candidate, rank, score in zip(*columns, strict=True):
            copy.write_row((source.pool_id, source.pk, query, candidate, rank, score))
    return len(queries)

"""A source's answers to a pool's queries, and who may not answer whom.

Only tasks and commands import this: the search loads torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalog.embeddings import EmbeddingError, ImageIds, Vectors, load_vectors
from catalog.models import Catalog, EmbeddingSet, Image
from jobs.services import JobError
from pooling.models import Pool
from pooling.search import top_k
from pooling.search_filters import Filters, Keys
from pooling.topk import Ints, TopK

NO_KEY = -1


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


def filters_of(pool: Pool, query_ids: Ints, candidate_ids: Ints) -> Filters:
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

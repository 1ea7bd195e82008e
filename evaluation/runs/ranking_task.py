"""What every embedded model ranks: the queries of an evaluation over its catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.models import EmbeddingSet
from catalog.vectors.embeddings import Vectors, load_vectors
from evaluation.results.inputs import EmbeddedModel, EvaluationInputs, ImageTable
from lookalike.core.arrays import Ints
from lookalike.core.products import number_products
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.metrics.embedding_runs import LIST_DEPTH, Gallery, embedding_run
from pooling.models import Pool
from pooling.pools.queries import left_out_ids, pool_pairs
from pooling.sources.admission import make_filters

N_PRODUCTS = 20  # heads of lists show this many products: cut-offs up to here are exact


@dataclass(frozen=True)
class RankingTask:
    """What every embedded model ranks: some queries over a catalog.

    Attributes:
        query_ids: image ids of the queries, ascending.
        catalog_ids: image ids of the candidates, ascending.
        gallery: the same by name.
    """

    query_ids: Ints
    catalog_ids: Ints
    gallery: Gallery

    def run_of(
        self,
        model: EmbeddedModel,
        *,
        is_lean: bool = False,
        depth: int = LIST_DEPTH,
        n_products: int = N_PRODUCTS,
    ) -> Run:
        """Return the ranking by a model’s stored vectors; options as in `embedding_run`.

        Without `Run.deeper`, which would keep the vectors of all models in memory.
        """
        run = embedding_run(
            model.name,
            _vectors(model.queries, self.query_ids),
            _vectors(model.images, self.catalog_ids),
            self.gallery,
            n_products=n_products,
            depth=depth,
            is_lean=is_lean,
        )
        return replace(run, deeper=None)


def labelled_task(inputs: EvaluationInputs, further: Sequence[tuple[str, str]] = ()) -> RankingTask:
    """Return the labelled queries over the pool's catalog.

    Args:
        inputs: the campaign.
        further: names of pairs that get a score, too, such as drawn negatives.

    Raises:
        InputError: the campaign has no pool.
    """
    if inputs.pool is None:
        raise InputError("embedding sets need a pool, whose catalog they rank")
    kept, pool = inputs.table.is_decided, inputs.pool
    queries, candidates = zip(*further, strict=True) if further else ((), ())
    return ranking_task(
        pool,
        inputs.images,
        np.append(inputs.table.query_ids[kept], inputs.images.find(queries, pool.asking.pk)),
        np.append(
            inputs.table.candidate_ids[kept], inputs.images.find(candidates, pool.catalog_id)
        ),
        sorted(
            left_out_ids(pool)
            - set(inputs.table.query_ids.tolist())
            - set(inputs.table.candidate_ids.tolist())
        ),
    )


def pooled_task(pool: Pool, images: ImageTable, *, by_rules: bool = False) -> RankingTask:
    """Return all queries of a pool over its catalog; every pair of it has a score, judged or not.

    What was left out of its catalog is ranked only where the pool asks it; `by_rules` as in
    `ranking_task`.
    """
    pairs = np.array(pool_pairs(pool), np.int64).reshape(-1, 2)
    without = sorted(left_out_ids(pool))
    return ranking_task(pool, images, pairs[:, 0], pairs[:, 1], without, by_rules=by_rules)


def ranking_task(
    pool: Pool,
    images: ImageTable,
    pair_queries: Ints,
    pair_candidates: Ints,
    without: Sequence[int] = (),
    *,
    by_rules: bool = False,
) -> RankingTask:
    """Return the task of ranking a pool's catalog for the queries of some pairs.

    Args:
        pool: whose catalog is ranked under whose rules.
        images: of all catalogs concerned.
        pair_queries, pair_candidates: image ids of the pairs that must have a score.
        without: image ids that have no vector: neither queries nor ranked.
        by_rules: list what the pool's rules on candidates admit alone, as its sources did.
    """
    catalog_ids = np.array(
        pool.catalog.images.order_by("id").values_list("id", flat=True), np.int64
    )
    catalog_ids = np.setdiff1d(catalog_ids, np.array(without, np.int64))
    query_ids = np.setdiff1d(pair_queries, np.array(without, np.int64))
    is_scored = np.isin(pair_queries, query_ids) & np.isin(pair_candidates, catalog_ids)
    keys = images.product_keys(pool)
    names = images.named(catalog_ids)
    place = {name: row for row, name in enumerate(names)}
    query_names = images.named(query_ids)
    of_queries, of_images = number_products(
        *([keys[row] for row in images.rows(ids).tolist()] for ids in (query_ids, catalog_ids))
    )
    gallery = Gallery(
        query_ids=query_names,
        image_ids=names,
        own=np.array([place.get(name, -1) for name in query_names], np.int64),
        query_products=of_queries,
        image_products=of_images,
        judged_queries=np.searchsorted(query_ids, pair_queries[is_scored]),
        judged_images=np.searchsorted(catalog_ids, pair_candidates[is_scored]),
        admitted=make_filters(pool, query_ids, catalog_ids) if by_rules else None,
    )
    return RankingTask(query_ids, catalog_ids, gallery)


def _vectors(embedding_set: EmbeddingSet, image_ids: Ints) -> Vectors:
    """Return one vector for each image, in the order of the ids."""
    stored_ids, vectors = load_vectors(embedding_set)
    order = np.argsort(stored_ids)
    at = np.minimum(np.searchsorted(stored_ids, image_ids, sorter=order), stored_ids.size - 1)
    rows = order[at] if stored_ids.size else np.zeros(0, np.int64)
    if rows.size != image_ids.size or (stored_ids[rows] != image_ids).any():
        raise InputError(
            f"{embedding_set} lacks vectors of some images; embed the catalog again with it"
        )
    if np.array_equal(rows, np.arange(stored_ids.size)):
        return vectors  # mapped from its file: no copy
    return vectors[rows]

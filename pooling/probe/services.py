"""Probe a pool that is not made yet: let the models that have vectors answer some queries.

No torch here: it takes a worker of the light queue, which is free while others embed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accounts.models import User
from catalog.models import Catalog, EmbeddingSet
from catalog.vectors.embeddings import Vectors, load_vectors
from jobs.models import OPEN_STATES, Job
from jobs.services import JobError, JobProgress, cancel_job, enqueue
from lookalike.core.arrays import Ints
from lookalike.pooling.probe import additions
from lookalike.search.numpy_search import top_k
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest
from pooling.sources.admission import find_rows, make_filters

PROBE_TASK = "pooling.probe"
N_PROBED = 50


def start_probe(*, request: PoolRequest, query_ids: Sequence[int], owner: User) -> Job:
    """Queue the probe of a pool; an earlier one of the same person that is open is called off.

    Raises:
        JobConflictError: the person has too many jobs waiting.
    """
    subject = f"probe by {owner.pk}"
    for job in Job.objects.filter(task=PROBE_TASK, subject=subject, state__in=OPEN_STATES):
        cancel_job(job=job)
    rng = np.random.default_rng(request.seed)
    drawn = np.sort(rng.permutation(len(query_ids))[:N_PROBED]).tolist()
    return enqueue(
        task=PROBE_TASK,
        subject=subject,
        title=f"Probe of “{request.catalog}”",
        arguments={
            "catalog_id": request.catalog.pk,
            "query_catalog_id": request.query_catalog.pk if request.query_catalog else None,
            "exclude_same_product": request.exclude_same_product,
            "shared_product_ids": request.shared_product_ids,
            "candidate_rule": request.candidates.as_json(),
            "depths": [[spec, request.depth_of(spec)] for spec in request.all_specs],
            "query_ids": [query_ids[place] for place in drawn],
            "n_queries": len(query_ids),
        },
        owner=owner,
    )


def probe(
    *,
    catalog_id: int,
    query_catalog_id: int | None,
    exclude_same_product: bool,
    candidate_rule: Mapping[str, Any],
    depths: Sequence[tuple[str, int]],
    query_ids: Sequence[int],
    n_queries: int,
    progress: JobProgress,
    shared_product_ids: bool = False,
) -> dict[str, Any]:
    """Return what each model would add to the pool; may run twice.

    Raises:
        JobError: a catalog was deleted, or vectors are missing or damaged.
        JobLostError: another probe has taken its place.
    """
    catalogs = Catalog.objects.in_bulk([pk for pk in (catalog_id, query_catalog_id) if pk])
    if catalog_id not in catalogs or (query_catalog_id and query_catalog_id not in catalogs):
        raise JobError("The catalog was deleted.")
    pool = Pool(
        catalog=catalogs[catalog_id],
        query_catalog=catalogs[query_catalog_id] if query_catalog_id else None,
        exclude_same_product=exclude_same_product,
        shared_product_ids=shared_product_ids,
        candidate_rule=candidate_rule,
    )
    progress.start(0, len(depths), "Looking for vectors", is_long=True)
    candidates = {}
    for number, (spec, k) in enumerate(depths):
        progress.update(number, len(depths), f"{spec}: searching for {len(query_ids)} queries")
        sets = _sets_of(spec, pool)
        if sets is not None:
            candidates[spec] = _candidates(pool, sets, np.array(query_ids, np.int64), k)
    rows, whole = additions(dict(depths), candidates, n_queries)
    progress.update(len(depths), len(depths))
    return {
        "rows": [row.as_json() for row in rows],
        "whole": whole.as_json(),
        "n_probed": len(query_ids),
        "n_queries": n_queries,
    }


def _sets_of(spec: str, pool: Pool) -> tuple[EmbeddingSet, EmbeddingSet] | None:
    """Return a model's newest vectors of candidates and of queries, None unless whole."""
    whole = EmbeddingSet.objects.filter(spec=spec, is_complete=True).order_by("-pk")
    for candidates in whole.filter(catalog=pool.catalog):
        if pool.query_catalog is None:
            return candidates, candidates
        queries = whole.filter(
            catalog=pool.query_catalog, fingerprint=candidates.fingerprint
        ).first()
        if queries is not None:
            return candidates, queries
    return None


def _candidates(
    pool: Pool, sets: tuple[EmbeddingSet, EmbeddingSet], query_ids: Ints, k: int
) -> Ints:
    """Return the image ids of each query's k nearest candidates, shape (n, k), -1 for none."""
    (ids, vectors), (own_ids, own) = (load_vectors(one) for one in sets)
    filters = make_filters(pool, query_ids, ids)
    queries = np.asarray(own[find_rows(query_ids, own_ids)], np.float32)
    nearest = top_k(queries, _Widened(vectors), min(k, len(ids)), filters=filters).indices
    return np.where(nearest >= 0, ids[np.maximum(nearest, 0)], -1)


class _Widened:
    """Stored vectors as float32, a block at a time."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.shape: tuple[int, int] = (vectors.shape[0], vectors.shape[1])

    def __len__(self) -> int:
        return len(self._vectors)

    def __getitem__(self, rows: slice | Ints, /) -> NDArray[np.float32]:
        return np.asarray(self._vectors[rows], np.float32)

"""The random negatives of a release: drawn by its seed from what nobody judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.core.arrays import Bools, Ints
from lookalike.io.tables import Qrels
from lookalike.metrics.negatives import draw_uniform
from lookalike.release.format.tables import named, rows_of


def product_codes(products: dict[str, str], ids: tuple[str, ...]) -> Ints:
    """Return one number for each product, one of its own for an image without any."""
    codes: dict[tuple[bool, str], int] = {}
    return np.array(
        [
            codes.setdefault((bool(products[name]), products[name] or name), len(codes))
            for name in ids
        ],
        np.int64,
    )


def negative_columns(
    qrels: Qrels,
    ids: tuple[str, ...],
    *,
    is_candidate: Bools,
    products: Ints,
    asked: Ints,
    seed: int,
) -> dict[str, Any]:
    """Return the columns of the table negatives: one for each positive of each query.

    Args:
        qrels: the labels by the release's rule.
        ids: names of all images, ascending.
        is_candidate: shape (n_images,), what may be drawn at all.
        products: shape (n_images,), from `product_codes`.
        asked: shape (n_pairs,), query code * n_images + candidate code of the pairs put to the
            judges or proposed by a model; never drawn.
        seed: of the draw.
    """
    place = {name: code for code, name in enumerate(ids)}
    queries = np.array([place[name] for name in qrels.query_ids], np.int64)
    wanted = np.bincount(qrels.queries[qrels.labels == 1], minlength=queries.size)
    asked = np.unique(asked)
    by_product = np.argsort(products, kind="stable")
    starts = np.searchsorted(products[by_product], np.arange(products.max(initial=-1) + 2))
    never = np.flatnonzero(~is_candidate)
    barred = []
    for query in queries.tolist():
        first, last = np.searchsorted(asked, [query * len(ids), (query + 1) * len(ids)])
        own = by_product[starts[products[query]] : starts[products[query] + 1]]
        barred.append(np.concatenate([never, own, [query], asked[first:last] % len(ids)]))
    drawn = draw_uniform(wanted, len(ids), barred, np.random.default_rng(seed))
    n_drawn = np.array([codes.size for codes in drawn], np.int64)
    candidates = np.concatenate(drawn) if drawn else np.zeros(0, np.int64)
    return {
        "query_id": named(ids, np.repeat(queries, n_drawn)),
        "image_id": named(ids, candidates.astype(np.int64)),
    }


def own_product(pairs: pa.Table, products: dict[str, str]) -> Bools:
    """Mark the pairs of a query and an image of its own product."""
    return np.array(
        [
            bool(products[query]) and products[query] == products[candidate]
            for query, candidate in rows_of(pairs, "query_id", "image_id")
        ],
        np.bool_,
    )

"""The random negatives of a release: drawn by its seed from what nobody judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.core.arrays import Bools, Ints
from lookalike.core.products import is_own_product, query_product
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.negatives import NegativeList, draw_negatives, draw_uniform
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import BAND_NEGATIVES, NEGATIVES
from lookalike.release.format.tables import named, rows_of


def negative_columns(
    qrels: Qrels,
    ids: tuple[str, ...],
    *,
    is_candidate: Bools,
    products: Mapping[str, str],
    asked: Ints,
    seed: int,
) -> dict[str, Any]:
    """Return the columns of the table negatives: one for each positive of each query.

    Args:
        qrels: the labels by the release's rule.
        ids: names of all images, ascending.
        is_candidate: shape (n_images,), what may be drawn at all.
        products: of images, as in `match_run`; those of the query's own are never drawn.
        asked: shape (n_pairs,), query code * n_images + candidate code of the pairs put to the
            judges or proposed by a model; never drawn.
        seed: of the draw.
    """
    place = {name: code for code, name in enumerate(ids)}
    queries = np.array([place[name] for name in qrels.query_ids], np.int64)
    wanted = np.bincount(qrels.queries[qrels.labels == 1], minlength=queries.size)
    asked = np.unique(asked)
    of_product: dict[str, list[int]] = {}
    for code, name in enumerate(ids):
        of_product.setdefault(products.get(name, ""), []).append(code)
    never = np.flatnonzero(~is_candidate)
    barred = []
    for query in queries.tolist():
        first, last = np.searchsorted(asked, [query * len(ids), (query + 1) * len(ids)])
        product = query_product(products, ids[query])
        own = of_product.get(product, []) if product else []
        barred.append(
            np.concatenate([never, [*own, query], asked[first:last] % len(ids)]).astype(np.int64)
        )
    drawn = draw_uniform(wanted, len(ids), barred, np.random.default_rng(seed))
    n_drawn = np.array([codes.size for codes in drawn], np.int64)
    candidates = np.concatenate(drawn) if drawn else np.zeros(0, np.int64)
    return {
        "query_id": named(ids, np.repeat(queries, n_drawn)),
        "image_id": named(ids, candidates.astype(np.int64)),
    }


def own_product(pairs: pa.Table, products: Mapping[str, str] | None) -> Bools:
    """Mark the pairs of a query and an image of its own product."""
    return np.array(
        [
            is_own_product(products, query, candidate)
            for query, candidate in rows_of(pairs, "query_id", "image_id")
        ],
        np.bool_,
    )


def draw_uniformly(release: Folder, qrels: Qrels) -> NegativeList:
    """Draw the uniform negatives of a release, as an evaluation of its campaign draws them."""
    return draw_negatives(
        qrels,
        [],
        band=None,
        seed=release.info["seeds"]["negatives"],
        products=release.products,
        candidates=_candidates(release),
        asked=known_pairs(release),
        keys=release.sha256_of,
    )


def draw_from_band(
    release: Folder, qrels: Qrels, references: Sequence[Run], band: tuple[int, int]
) -> NegativeList:
    """Draw negatives from a band of ranks of runs that are as deep, like `draw_uniformly`."""
    return draw_negatives(
        qrels,
        references,
        band=band,
        seed=release.info["seeds"]["negatives"],
        products=release.products,
        candidates=_candidates(release),
        asked=known_pairs(release),
        keys=release.sha256_of,
    )


def _candidates(release: Folder) -> list[str]:
    images = release.rows("images", "image_id", "is_candidate")
    return [image for image, is_candidate in images if is_candidate]


def known_pairs(release: Folder) -> set[tuple[str, str]]:
    """Return the pairs that were put to the judges or proposed; none is ever drawn.

    Pairs of a sample below the pool are not among them, as in an evaluation of a campaign.
    """
    tables = (release.rows(name, "query_id", "image_id") for name in ("pairs", "pool"))
    return {(query, image) for rows in tables for query, image in rows} - release.below_pool


def check_band(release: Folder) -> None:
    """Refuse negatives of a band that cannot have been drawn.

    Raises:
        ReleaseError: naming the first pair, and why.
    """
    if "band" not in release.info[NEGATIVES]:
        return
    known = known_pairs(release)
    ranked = {
        image for image, is_one in release.rows("images", "image_id", "is_candidate") if is_one
    }
    for query, image in release.rows(BAND_NEGATIVES.name, "query_id", "image_id"):
        reason = ""
        if (query, image) in known:
            reason = "was put to the judges or proposed"
        elif query == image or is_own_product(release.products, query, image):
            reason = "shows the query or its product"
        elif image not in ranked:
            reason = "is of no candidate"
        if reason:
            raise ReleaseError(f"data/band_negatives.parquet: the pair {query} {image} {reason}")


def pair_columns(drawn: NegativeList) -> dict[str, Any]:
    """Return the columns of a table of drawn negatives."""
    return {
        "query_id": [query for query, _ in drawn.pairs],
        "image_id": [image for _, image in drawn.pairs],
    }

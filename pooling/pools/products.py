"""A pool's rule on products: filling, evaluating, rounds, exports and releases all ask here."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from catalog.models import Image
from lookalike.core.products import product_key
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest

Rules = Pool | PoolRequest


def product_keys(rules: Rules | None, images: Iterable[tuple[object, str]]) -> list[str]:
    """Return a key of each image; a candidate with the key of the query is no candidate.

    A product belongs to its catalog, unless the pool says that ids are shared.

    Args:
        rules: a pool, or a request for one; None for pairs that no pool proposed.
        images: catalog (its id or slug) and product id of each image.

    Returns:
        "" for an image without a product, and for all where the pool admits the query's own.
    """
    if rules is not None and not rules.exclude_same_product:
        return ["" for _ in images]
    is_shared = rules is not None and rules.shared_product_ids
    return [product_key(catalog, product, is_shared=is_shared) for catalog, product in images]


def product_key_of(rules: Rules | None, images: QuerySet[Image]) -> dict[int, str]:
    """Return the key of each image by its id, as `product_keys` has them."""
    rows = list(images.order_by().values_list("pk", "catalog_id", "product_id"))
    keys = product_keys(rules, [(catalog, product) for _, catalog, product in rows])
    return {row[0]: key for row, key in zip(rows, keys, strict=True)}

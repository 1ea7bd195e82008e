"""Products of queries and candidates as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.core.products import Products, query_product
from lookalike.io.errors import InputError


def product_codes(
    candidate_ids: Sequence[str], query_ids: Sequence[str], products: Mapping[str, str] | None
) -> tuple[Ints, Ints]:
    """Number the products of candidates and queries; an image without one is its own."""
    keys: list[str | tuple[str]]
    if products is None:
        keys = [*candidate_ids, *query_ids]
    else:
        if not isinstance(products, Products):  # which knows the candidates alone
            _refuse_unknown(products, query_ids)
        _refuse_unknown(products, candidate_ids)
        keys = [products[image] or (image,) for image in candidate_ids]
        keys += [query_product(products, image) or (image,) for image in query_ids]
    code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    codes = np.array([code_of[key] for key in keys], dtype=np.int64)
    return codes[: len(candidate_ids)], codes[len(candidate_ids) :]


def _refuse_unknown(products: Mapping[str, str], images: Sequence[str]) -> None:
    unknown = next((image for image in images if image not in products), None)
    if unknown is not None:
        raise InputError(f"the metadata says nothing about image {unknown!r}")

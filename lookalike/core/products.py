"""Whose product is whose: which images show the product of a query.

A product belongs to its catalog. Where queries come from a catalog of their own, an id that both
catalogs use names two products, unless somebody says that they share their ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lookalike.core.arrays import Ints

NO_PRODUCT = -1


class Products(Mapping[str, str]):
    """The products of candidates, and those of queries where they come from another catalog.

    As a mapping it holds the products of the candidates. An image that is in both catalogs can
    show two products: `query_product` returns the one that it shows as a query.
    """

    def __init__(self, candidates: Mapping[str, str], queries: Mapping[str, str]) -> None:
        self._candidates = candidates
        self.queries = queries

    def __getitem__(self, image: str) -> str:
        return self._candidates[image]

    def __iter__(self) -> Iterator[str]:
        return iter(self._candidates)

    def __len__(self) -> int:
        return len(self._candidates)


def query_product(products: Mapping[str, str] | None, query: str) -> str:
    """Return the product of a query, "" where none is known or none is to be told apart.

    >>> query_product({"a.jpg": "p1", "b.jpg": ""}, "a.jpg")
    'p1'
    >>> query_product(Products({"a.jpg": "p1"}, queries={}), "a.jpg")
    ''
    """
    known = products.queries if isinstance(products, Products) else products or {}
    return known.get(query, "")


def product_key(catalog: object, product: str, *, is_shared: bool) -> str:
    """Return what two images have in common if and only if they show one product.

    Args:
        catalog: the catalog of the image.
        product: its product id there, "" where unknown.
        is_shared: the id means the same product in all catalogs.

    >>> product_key("shop", "p1", is_shared=False) == product_key("wild", "p1", is_shared=False)
    False
    """
    return product if is_shared or not product else f"{catalog}:{product}"


def number_products(queries: Sequence[str], candidates: Sequence[str]) -> tuple[Ints, Ints]:
    """Number the products of queries and candidates; equal numbers are one product.

    Args:
        queries, candidates: product of each, "" where unknown.

    Returns:
        Shapes (n_queries,) and (n_candidates,), `NO_PRODUCT` where unknown.
    """
    numbers: dict[str, int] = {"": NO_PRODUCT}
    codes = [numbers.setdefault(name, len(numbers)) for name in (*candidates, *queries)]
    of_all = np.array(codes, np.int64)
    return of_all[len(candidates) :], of_all[: len(candidates)]


def is_own_product(products: Mapping[str, str] | None, query: str, candidate: str) -> bool:
    """Whether a candidate shows the product of a query.

    >>> is_own_product({"a.jpg": "p1", "b.jpg": "p1"}, "a.jpg", "b.jpg")
    True
    """
    own = query_product(products, query)
    return bool(own) and (products or {}).get(candidate, "") == own

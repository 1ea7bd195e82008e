"""Which catalog images a query may not be answered with; applied inside the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Ints


@dataclass(frozen=True)
class Keys:
    """One integer property of queries and of catalog images: product, category, cluster.

    Attributes:
        queries: shape (n_queries,); -1 says that the query has no such property.
        catalog: shape (n_images,); -1 likewise.
    """

    queries: Ints
    catalog: Ints


@dataclass(frozen=True)
class Filters:
    """What a query may be answered with.

    Attributes:
        own: shape (n_queries,); the catalog row that is the query itself, -1 for none.
        apart: a candidate that shares one of these keys with the query is left out
            (same product, same cluster of near-duplicates). -1 equals nothing.
        alike: a candidate must share every one of these keys with the query (same category).
            A query whose key is -1 has no candidates.
    """

    own: Ints | None = None
    apart: Sequence[Keys] = ()
    alike: Sequence[Keys] = ()

    def arrays(self, n_queries: int, n_images: int) -> FilterArrays:
        """Return the filters as the flat arrays that the search kernel reads.

        Raises:
            ValueError: when an array does not fit the queries or the catalog.
        """
        own = np.full(n_queries, -1) if self.own is None else self.own
        _check("own", own, n_queries, "query")
        if own.size and int(own.max()) >= n_images:
            raise ValueError(
                f"own names catalog row {int(own.max())}, but the catalog has {n_images} images"
            )
        pairs = [*self.apart, *self.alike]
        for keys in pairs:
            _check("the keys of the queries", keys.queries, n_queries, "query")
            _check("the keys of the catalog", keys.catalog, n_images, "image")
        return FilterArrays(
            own=own.astype(np.int64),
            queries=_columns([keys.queries for keys in pairs], n_queries),
            catalog=_columns([keys.catalog for keys in pairs], n_images),
            n_apart=len(self.apart),
        )


@dataclass(frozen=True)
class FilterArrays:
    """Filters in the layout of the search kernel: the `apart` keys first, then the `alike`.

    Attributes:
        own: shape (n_queries,).
        queries: shape (n_queries, n_keys).
        catalog: shape (n_images, n_keys).
        n_apart: how many of the keys are `apart` keys.
    """

    own: Ints
    queries: Ints
    catalog: Ints
    n_apart: int


def _check(name: str, values: Ints, expected: int, each: str) -> None:
    if values.ndim != 1 or len(values) != expected:
        raise ValueError(f"{name}: shape {values.shape}, expected ({expected},), one per {each}")
    if not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"{name}: {values.dtype}, integers are needed")


def _columns(parts: list[Ints], n_rows: int) -> Ints:
    columns = np.empty((n_rows, len(parts)), np.int64)
    for column, part in enumerate(parts):
        columns[:, column] = part
    return columns

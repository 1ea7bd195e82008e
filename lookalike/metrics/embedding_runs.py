"""Runs from embeddings: each query's nearest images, and the score of every judged pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Bools, Ints
from lookalike.core.near_ties import are_tied
from lookalike.core.products import number_products, query_product
from lookalike.core.unit_vectors import unit_rows
from lookalike.io.tables import Run, sorted_names
from lookalike.search import numpy_search
from lookalike.search.filters import Filters, Keys
from lookalike.search.numpy_search import pair_scores
from lookalike.search.topk import TopK

Vectors = NDArray[np.float32]
LIST_DEPTH = 50
SPARE = 16  # ranks below the depth that are searched, for candidates that tie with its last
PAIRS_IN_A_BLOCK = 2_000_000  # pairs of whole lists in memory at a time
NOTHING_TO_RANK = "it has vectors of none of the queries or of no candidate"


@dataclass(frozen=True)
class Gallery:
    """What every model of a campaign is asked: the same queries, images and judged pairs.

    Attributes:
        query_ids: distinct names of the queries.
        image_ids: distinct names of the catalog's images.
        own: shape (n_queries,), the row of the query itself in the catalog, -1 if elsewhere.
        query_products: shape (n_queries,), product number, -1 if unknown.
        image_products: shape (n_images,), likewise.
        judged_queries, judged_images: shape (n_judged,), rows of the judged pairs.
        admitted: which images may stand in the list of which query; None: all but the query
            itself and those of its product.
    """

    query_ids: Sequence[str]
    image_ids: Sequence[str]
    own: Ints
    query_products: Ints
    image_products: Ints
    judged_queries: Ints
    judged_images: Ints
    admitted: Filters | None = None

    @property
    def filters(self) -> Filters:
        """Which images each query may find."""
        apart = [Keys(self.query_products, self.image_products)]
        return self.admitted or Filters(own=self.own, apart=apart)

    @property
    def is_own(self) -> Bools:
        """Which judged pairs are a query and an image of its own product, shape (n_judged,)."""
        products = self.query_products[self.judged_queries]
        is_own: Bools = self.own[self.judged_queries] == self.judged_images
        is_own |= (products >= 0) & (products == self.image_products[self.judged_images])
        return is_own


def named_gallery(
    query_ids: Sequence[str],
    image_ids: Sequence[str],
    pairs: Iterable[tuple[str, str]],
    products: Mapping[str, str] | None = None,
) -> Gallery:
    """Return the task of ranking images by name; judged pairs that it does not hold are left out.

    Args:
        query_ids: distinct names.
        image_ids: distinct names.
        pairs: query and candidate of what was judged.
        products: of images, "" where unknown, or `Products` where queries come from another
            catalog; None where pairs of one product are compared.
    """
    of_queries, of_images = number_products(
        [query_product(products, query) for query in query_ids],
        [(products or {}).get(image, "") for image in image_ids],
    )
    query_at = {query: row for row, query in enumerate(query_ids)}
    image_at = {image: row for row, image in enumerate(image_ids)}
    judged = [(query_at[q], image_at[c]) for q, c in pairs if q in query_at and c in image_at]
    rows = np.array(judged, np.int64).reshape(-1, 2)

    return Gallery(
        query_ids=query_ids,
        image_ids=image_ids,
        own=np.array([image_at.get(query, -1) for query in query_ids], np.int64),
        query_products=of_queries,
        image_products=of_images,
        judged_queries=rows[:, 0],
        judged_images=rows[:, 1],
    )


def _unit_rows(vectors: NDArray[np.floating]) -> Vectors:
    return np.asarray(unit_rows(np.asarray(vectors, np.float32)), np.float32)


@dataclass(frozen=True)
class UnitRows:
    """The rows of an array scaled to length 1, made when asked for: an array of any size."""

    vectors: NDArray[np.floating]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of dimensions."""
        return self.vectors.shape

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, rows: slice | Ints, /) -> Vectors:
        return _unit_rows(self.vectors[rows])


def embedding_run(
    name: str,
    query_vectors: NDArray[np.floating],
    image_vectors: NDArray[np.floating],
    gallery: Gallery,
    *,
    n_products: int = 10,
    depth: int = LIST_DEPTH,
    is_lean: bool = False,
) -> Run:
    """Return a model's cosines for the top of each list and for every judged pair.

    The lists are complete down to `Run.depth`: at least `depth`, and deep enough to show
    `n_products` different products. A judged pair below it is in the run with its score, which
    areas need, but without its rank. `Run.deeper` ranks the whole gallery for measures that look
    further down, a few queries at a time. Pairs of a query and its own product get no score.

    Args:
        name: of the model.
        query_vectors: shape (n_queries, d), finite.
        image_vectors: shape (n_images, d), finite.
        gallery: queries, images and judged pairs.
        n_products: how many different products the head of each list must show.
        depth: where to begin.
        is_lean: search in plain numpy, slower, but with neither torch nor numba in memory, nor
            a second copy of the vectors; the scores are the same to the last bit.

    Raises:
        ValueError: shapes that do not fit, or values that are not finite.
    """
    queries = _unit_rows(query_vectors)
    images = UnitRows(image_vectors) if is_lean else _unit_rows(image_vectors)
    nearest, depth = _lists(queries, images, gallery, n_products, depth)
    place = np.arange(nearest.k)
    is_listed = (nearest.indices >= 0) & ((place < depth) | _ties_with(nearest, depth))
    rows, columns = np.nonzero(is_listed)[0], nearest.indices[is_listed]
    n = len(gallery.image_ids)
    judged = gallery.judged_queries * n + gallery.judged_images
    is_left = ~np.isin(judged, rows * n + columns) & ~gallery.is_own
    rows = np.concatenate([rows, gallery.judged_queries[is_left]])
    columns = np.concatenate([columns, gallery.judged_images[is_left]])
    # in one order of sums, whichever search found them: a campaign and its release agree
    scores = pair_scores(queries, images, rows, columns)
    run = _run(name, gallery, rows, columns, scores)
    if depth == n:
        return run
    return replace(run, depth=depth, deeper=WholeGallery(name, queries, images, gallery))


@dataclass(frozen=True)
class WholeGallery:
    """The whole gallery in the order of a model's cosines, made a few queries at a time.

    Attributes:
        name: of the model.
        queries: shape (n_queries, d), of length 1.
        images: shape (n_images, d), of length 1.
        gallery: queries and images.
    """

    name: str
    queries: Vectors
    images: Vectors | UnitRows
    gallery: Gallery

    def runs(self) -> Iterator[Run]:
        """Yield runs of a few queries each that list every image that these may find."""
        n = len(self.images)
        n_rows = max(1, PAIRS_IN_A_BLOCK // n)
        rules = self.gallery.filters.arrays(len(self.queries), n)
        for start in range(0, len(self.queries), n_rows):
            part = slice(start, start + n_rows)
            is_ranked = ~numpy_search.mask_of(rules, part, 0, n)
            scores = numpy_search.block_scores(self.queries[part], self.images)
            rows, columns = np.nonzero(is_ranked)
            if rows.size:
                yield _run(self.name, self.gallery, rows + start, columns, scores[is_ranked])


def _run(name: str, gallery: Gallery, rows: Ints, columns: Ints, scores: Vectors) -> Run:
    query_ids, query_codes = sorted_names(gallery.query_ids, rows, np.unique(rows).tolist())
    image_ids, image_codes = sorted_names(gallery.image_ids, columns, np.unique(columns).tolist())
    cosines = np.clip(scores, -1.0, 1.0).astype(np.float64)  # rounding gives 1.0000001, too
    return Run(name, query_ids, image_ids, query_codes, image_codes, cosines)


def load_search() -> ModuleType:
    """Return the search, which loads torch and numba: a second or two the first time."""
    from lookalike.search import exact  # noqa: PLC0415

    return exact


def _lists(
    queries: Vectors, images: Vectors | UnitRows, gallery: Gallery, n_products: int, depth: int
) -> tuple[TopK, int]:
    """Return lists that are deep enough for every query, and their depth without the spare."""
    is_lean = isinstance(images, UnitRows)
    search = numpy_search if is_lean else load_search()
    while True:
        depth = min(depth, len(images))
        n_searched = min(depth + SPARE, len(images))
        nearest: TopK = search.top_k(queries, images, n_searched, filters=gallery.filters)
        head = nearest.indices[:, :depth]
        if depth == len(images) or _shows(head, gallery.image_products, n_products):
            return nearest, depth
        depth *= 4


def _ties_with(nearest: TopK, depth: int) -> Bools:
    """Mark what ties with the last candidate above the depth, shape (n_queries, k)."""
    last = nearest.scores[:, depth - 1 : depth]
    return np.isfinite(last) & are_tied(nearest.scores, last)


def _shows(listed: Ints, image_products: Ints, n_products: int) -> bool:
    """Whether every list shows that many products, or has come to its end."""
    goes_on = listed[:, -1] >= 0
    products = np.sort(image_products[listed[goes_on]], axis=1)
    is_new = np.ones(products.shape, np.bool_)
    is_new[:, 1:] = products[:, 1:] != products[:, :-1]
    is_new |= products < 0  # an image of no known product is its own
    return bool((is_new.sum(axis=1) >= n_products).all())

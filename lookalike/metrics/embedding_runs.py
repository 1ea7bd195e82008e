"""Runs from embeddings: each query's nearest images, and the score of every judged pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.core.products import number_products, query_product
from lookalike.io.tables import Run, sorted_names
from lookalike.search import numpy_search
from lookalike.search.filters import Filters, Keys
from lookalike.search.numpy_search import pair_scores
from lookalike.search.topk import TopK

Vectors = NDArray[np.float32]
LIST_DEPTH = 50
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


def unit_rows(vectors: NDArray[np.floating]) -> Vectors:
    """Return the rows scaled to length 1; a row of zeros stays, its cosine is 0 with all."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None]
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


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
        return unit_rows(self.vectors[rows])


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

    Measures with a cut-off up to `n_products` are exact on it: the list of each query is made
    deeper until it holds that many different products or the whole catalog. A judged pair
    below that depth is in the run with its score, which AUC needs; its rank is not its true one.

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
    queries = unit_rows(query_vectors)
    images = UnitRows(image_vectors) if is_lean else unit_rows(image_vectors)
    found = _lists(queries, images, gallery, n_products, depth)
    rows = np.repeat(np.arange(len(queries)), found.k)
    is_listed = found.indices.ravel() >= 0
    rows, columns = rows[is_listed], found.indices.ravel()[is_listed]
    n = len(gallery.image_ids)
    asked = gallery.judged_queries * n + gallery.judged_images
    judged = ~np.isin(asked, rows * n + columns)
    rows = np.concatenate([rows, gallery.judged_queries[judged]])
    columns = np.concatenate([columns, gallery.judged_images[judged]])
    # in one order of sums, whichever search found them: a campaign and its release agree
    scores = pair_scores(queries, images, rows, columns)
    query_ids, query_codes = sorted_names(gallery.query_ids, rows, np.unique(rows).tolist())
    image_ids, image_codes = sorted_names(gallery.image_ids, columns, np.unique(columns).tolist())
    return Run(name, query_ids, image_ids, query_codes, image_codes, scores.astype(np.float64))


def load_search() -> ModuleType:
    """Return the search, which loads torch and numba: a second or two the first time."""
    from lookalike.search import exact  # noqa: PLC0415

    return exact


def _lists(
    queries: Vectors, images: Vectors | UnitRows, gallery: Gallery, n_products: int, depth: int
) -> TopK:
    """Return lists that are deep enough for every query."""
    is_lean = isinstance(images, UnitRows)
    search = numpy_search if is_lean else load_search()
    apart = [Keys(gallery.query_products, gallery.image_products)]
    filters = gallery.admitted or Filters(own=gallery.own, apart=apart)
    while True:
        depth = min(depth, len(images))
        nearest: TopK = search.top_k(queries, images, depth, filters=filters)
        if depth == len(images) or _shows(nearest, gallery.image_products, n_products):
            return nearest
        depth *= 4


def _shows(found: TopK, image_products: Ints, n_products: int) -> bool:
    """Whether every list shows that many products, or has come to its end."""
    goes_on = found.indices[:, -1] >= 0
    products = np.sort(image_products[found.indices[goes_on]], axis=1)
    is_new = np.ones(products.shape, np.bool_)
    is_new[:, 1:] = products[:, 1:] != products[:, :-1]
    is_new |= products < 0  # an image of no known product is its own
    return bool((is_new.sum(axis=1) >= n_products).all())

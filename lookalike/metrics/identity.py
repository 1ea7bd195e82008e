"""VSD's identity table: are the other photos of a product found, beside those that look alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from lookalike.core.errors import Refused
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.embedding_runs import embedding_run, named_gallery
from lookalike.metrics.measures import parse_measure
from lookalike.metrics.scoring import Scored, score_runs

MEASURES = ("vsd_hr@5", "vsd_hr@9", "vsd_mrr@5", "vsd_mrr@9")  # of the paper's Table 4
# share of queries with another photo of the product among the first k: the measure of that
# table's ID rows, where HR@9 is 99.9, more than a share of nine places can be
SUCCESSES = ("Success@1", "Success@5", "Success@9")
_N_PRODUCTS = 10  # the VSD measures look at nine


def identity_labels(products: Mapping[str, str]) -> Qrels:
    """Return a positive label for every two photos of one product, either way round.

    Args:
        products: of each photo, "" where it is not known.

    Raises:
        Refused: no product has two photos.

    >>> identity_labels({"a": "p", "b": "p", "c": "q", "d": ""}).query_ids
    ('a', 'b')
    """
    photos: dict[str, list[str]] = {}
    for photo, product in products.items():
        photos.setdefault(product, []).append(photo)
    photos.pop("", None)
    pairs = [pair for same in photos.values() for pair in permutations(same, 2)]
    if not pairs:
        raise Refused("products", "no product has two photos, so there is no identity to find")
    return Qrels.of((query, candidate, 1) for query, candidate in pairs)


def score_identity(
    name: str, ids: Sequence[str], vectors: NDArray[np.floating], products: Mapping[str, str]
) -> Scored:
    """Score vectors by whether they find the other photos of each product.

    Source: Barkan et al. (VSD benchmark, 2023), Table 4: the formulas of the similarity task with
    "of the same product" in the place of a label. The similarity task leaves the query's own
    product out and counts each product once; here each photo counts, or there would be nothing
    to find. So `vsd_hr@k` is a share of k places, and below 1 where a product has fewer other
    photos. `Success@k` asks for one of them among the first k. The paper's table mixes the two:
    HR falls from k = 5 to 9 for pretrained models, as shares of places do, and is 99.9 at both for
    models trained on identity, which only Success can be.

    Args:
        name: of the model.
        ids: of the photos, each once.
        vectors: shape (n, d), finite; compared by cosine.
        products: of each photo; those that it does not know are left out, since nobody knows
            what they show.

    Raises:
        Refused: no product has two photos.

    >>> X = np.array([[1, 0], [1, 0.1], [0, 1]])
    >>> found = score_identity("m", ["a", "b", "c"], X, {"a": "p", "b": "p", "c": "q"})
    >>> {name: outcome.value for name, outcome in found.outcomes.items()}["vsd_hr@5"]
    0.2
    """
    known = [row for row, photo in enumerate(ids) if products.get(photo)]
    photos = [ids[row] for row in known]
    qrels = identity_labels({photo: products[photo] for photo in photos})
    found = _run(name, photos, vectors[known], qrels, None)
    parsed = [parse_measure(measure) for measure in (*MEASURES, *SUCCESSES)]
    [scored] = score_runs(qrels, [found], parsed, without_list=())
    return scored


def score_similarity(
    name: str,
    ids: Sequence[str],
    vectors: NDArray[np.floating],
    products: Mapping[str, str],
    qrels: Qrels,
) -> Scored:
    """Score the same vectors on labels of similarity, by the same measures.

    Args:
        name: as for `score_identity`.
        ids: as for `score_identity`.
        vectors: as for `score_identity`.
        products: as for `score_identity`.
        qrels: the labels.

    Raises:
        Refused: none of the labels' queries is among the photos.
    """
    found = _run(name, ids, vectors, qrels, products)
    parsed = [parse_measure(measure) for measure in MEASURES]
    [scored] = score_runs(
        qrels, [found], parsed, products=products, missing="worst", without_list=()
    )
    return scored


def _run(
    name: str,
    ids: Sequence[str],
    vectors: NDArray[np.floating],
    qrels: Qrels,
    products: Mapping[str, str] | None,
) -> Run:
    row_of = {photo: row for row, photo in enumerate(ids)}
    queries = [query for query in qrels.query_ids if query in row_of]
    if not queries:
        raise Refused("labels", f"none of their queries is among the photos of {name}")
    pairs = [(query, candidate) for query, candidate, _ in qrels]
    return embedding_run(
        name,
        vectors[[row_of[query] for query in queries]],
        vectors,
        named_gallery(queries, ids, pairs, products),
        n_products=_N_PRODUCTS,
        is_lean=True,
    )

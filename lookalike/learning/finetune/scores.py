"""Is a product found again, and are its lookalikes found: two questions to one embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Bools, Float32s, Ints
from lookalike.core.errors import Refused
from lookalike.io.tables import Qrels
from lookalike.metrics.embedding_runs import embedding_run, named_gallery
from lookalike.metrics.identity import identity_labels, score_similarity
from lookalike.metrics.measures import parse_measure
from lookalike.metrics.scoring import score_runs
from lookalike.stats.defined_values import mean_defined
from lookalike.stats.roc_auc import auc_and_ap

IDENTITY = {"identity R@1": "Success@1", "identity HR@5": "vsd_hr@5", "identity MRR@5": "vsd_mrr@5"}
SIMILARITY = {"similarity HR@5": "vsd_hr@5", "similarity MRR@5": "vsd_mrr@5"}
AUC, AUC_WITHIN = "similarity AUC", "similarity AUC, own category"


@dataclass(frozen=True)
class Truth:
    """What is known of a catalog's images.

    Attributes:
        ids: their names.
        products: place of each image's product, shape (n,).
        similar: which products truly look alike, shape (n_products, n_products).
        categories: of each image, shape (n,).
    """

    ids: Sequence[str]
    products: Ints
    similar: Bools
    categories: Ints

    def product_of(self, rows: Ints) -> dict[str, str]:
        """Return the products of images, by name."""
        return {self.ids[row]: str(self.products[row]) for row in rows}


def identity_scores(vectors: Float32s, truth: Truth, queries: Ints) -> dict[str, float]:
    """Return how well the other images of each query's product are found in the whole catalog.

    Source: Barkan et al. (VSD benchmark, 2023), Table 4; as `score_identity`, but that only some
    products are asked about.

    Args:
        vectors: of all images, shape (n, d).
        truth: of the same.
        queries: rows of all images of the products that are asked about.

    Raises:
        Refused: no product has two images.
    """
    qrels = identity_labels(truth.product_of(queries))
    row_of = {name: row for row, name in enumerate(truth.ids)}
    asked = [row_of[name] for name in qrels.query_ids]
    pairs = [(query, candidate) for query, candidate, _ in qrels]
    gallery = named_gallery(qrels.query_ids, truth.ids, pairs)
    run = embedding_run("embedding", vectors[asked], vectors, gallery, is_lean=True)
    measures = [parse_measure(name) for name in IDENTITY.values()]
    [scored] = score_runs(qrels, [run], measures, without_list=())
    return {name: scored.outcomes[of].value for name, of in IDENTITY.items()}


def similarity_scores(vectors: Float32s, truth: Truth, queries: Ints) -> dict[str, float]:
    """Return how well the images of true lookalikes are found.

    HR and MRR are those of the benchmark: each product counts once, the query's own not at all.
    Areas are means over queries, of positives against all other products, and against those of
    the query's own category alone.

    Args:
        vectors: of all images, shape (n, d).
        truth: of the same.
        queries: rows.

    Raises:
        Refused: no query has a lookalike.
    """
    is_alike = truth.similar[truth.products[queries]][:, truth.products]
    if not is_alike.any():
        raise Refused("queries", "none of them has a lookalike")
    names = np.array(truth.ids, object)
    places, columns = np.nonzero(is_alike)
    qrels = Qrels.of(zip(names[queries[places]], names[columns], [1] * len(places), strict=True))
    products = truth.product_of(np.arange(len(truth.ids)))
    scored = score_similarity("embedding", truth.ids, vectors, products, qrels)
    found = {name: scored.outcomes[of].value for name, of in SIMILARITY.items()}
    unit = unit_rows(vectors)
    cosines = unit[queries] @ unit.T
    is_other = truth.products[queries][:, None] != truth.products
    is_near = is_other & (truth.categories[queries][:, None] == truth.categories)
    for name, among in ((AUC, is_other), (AUC_WITHIN, is_near)):
        areas = auc_and_ap(
            cosines[among][None], is_alike[among], np.nonzero(among)[0], len(queries)
        ).auc
        found[name] = float(mean_defined(areas[0, 0])[0])
    return found

"""A catalog's pictures as they are learned from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.models import EmbeddingSet, Image
from catalog.vectors.embeddings import load_vectors
from lookalike.core.arrays import Float32s, Ints


@dataclass(frozen=True)
class Material:
    """A catalog's pictures as a run sees them.

    Attributes:
        parent: the vectors' set.
        ids: of the images, shape (n,).
        vectors: shape (n, d).
        rows: attributes of each image.
        products: of each image, "" where it is not known.
    """

    parent: EmbeddingSet
    ids: Ints
    vectors: Float32s
    rows: Sequence[Mapping[str, str]]
    products: Sequence[str]

    @property
    def sha256(self) -> str:
        """Of all that is learned from."""
        digest = hashlib.sha256(self.vectors.tobytes())
        digest.update(json.dumps([self.rows, self.products], sort_keys=True).encode())
        return digest.hexdigest()


def material_of(parent: EmbeddingSet) -> Material:
    """Return the images that are still in the catalog, in the order of their vectors."""
    ids, vectors = load_vectors(parent)
    facts = Image.objects.filter(catalog_id=parent.catalog_id).in_bulk()
    living = np.isin(ids, np.array(list(facts), np.int64))
    ids = ids[living]
    images = [facts[pk] for pk in ids.tolist()]
    return Material(
        parent, ids, np.asarray(vectors[living], np.float32),
        [image.attributes for image in images], [image.product_id for image in images],
    )  # fmt: skip

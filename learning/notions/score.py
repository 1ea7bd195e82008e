"""How well notions tell a catalog's attributes apart. It loads torch: only commands import it."""

from __future__ import annotations

import numpy as np

from catalog.models import Catalog, EmbeddingSet, Image
from catalog.vectors.embeddings import load_vectors
from catalog.vectors.projections import read_layers
from learning.models import TextSpace
from learning.text_vectors import ready_encoder
from lookalike.core.errors import Refused
from lookalike.learning.lit.space import TextSpace as Heads
from lookalike.learning.notions.attribute_notions import (
    AttributeScores,
    DescribedImages,
    Scoring,
    score_attributes,
)


def score_notions(catalog: Catalog, space: TextSpace, scoring: Scoring) -> AttributeScores:
    """Return the table for a catalog whose pictures have vectors of the space's parent.

    Raises:
        Refused: they have none, or as `score_attributes`.
    """
    parent = EmbeddingSet.objects.filter(
        catalog=catalog, fingerprint=space.projection.parent_fingerprint, is_complete=True
    ).first()
    if parent is None:
        raise Refused(
            "catalog",
            f"embed it first: manage.py embed {catalog.slug} "
            f"--models {space.projection.parent_spec}",
        )
    ids, vectors = load_vectors(parent)
    images = Image.objects.in_bulk(ids.tolist())
    living = np.array([pk in images for pk in ids.tolist()], bool)
    rows = [images[pk] for pk in ids[living].tolist()]
    heads = Heads(read_layers(space.projection.sha256), read_layers(space.texts_sha256))
    described = DescribedImages(
        np.asarray(vectors[living], np.float32), [one.attributes for one in rows],
        [one.product_id for one in rows], ready_encoder(space.encoder_spec), heads,
    )  # fmt: skip
    return score_attributes(described, scoring)

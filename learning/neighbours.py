"""The pictures that are nearest in a text space, or by a notion said in it."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.models import Catalog, EmbeddingSet, Image
from catalog.queries import with_images
from catalog.vectors.embeddings import load_vectors, nearest, nearest_to
from catalog.vectors.projections import derived_fingerprint
from learning.models import TextSpace
from lookalike.core.arrays import Float32s
from lookalike.learning.projection import Layers

N_NEIGHBOURS = 8
N_OFFERED = 12
Nearest = list[tuple[Image, float]]


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of a picture by a space as it is, and by a notion.

    Attributes:
        before: nearest first, with their cosines.
        after: None while the notion is being fitted.
        n_new: of the pictures after, those that were not there before.
    """

    before: Nearest
    after: Nearest | None

    @property
    def n_new(self) -> int:
        """How many neighbours the notion has brought."""
        before = {image.pk for image, _ in self.before}
        return sum(image.pk not in before for image, _ in self.after or [])


def vectors_in(space: TextSpace, catalog: Catalog) -> EmbeddingSet | None:
    """Return a catalog's vectors in a space, None where they were not made."""
    fingerprint = derived_fingerprint(space.projection)
    found = EmbeddingSet.objects.filter(catalog=catalog, fingerprint=fingerprint)
    return found.filter(is_complete=True).first()


def n_without_vector(vectors: EmbeddingSet | None, catalog: Catalog) -> int:
    """Return how many pictures of a catalog came after its vectors were made."""
    image_ids = set(load_vectors(vectors)[0].tolist()) if vectors is not None else set()
    return len(set(catalog.images.values_list("pk", flat=True)) - image_ids)


def parent_vectors(space: TextSpace, catalog: Catalog) -> EmbeddingSet | None:
    """Return a catalog's vectors that a space maps, None where they were not made."""
    fingerprint = space.projection.parent_fingerprint
    found = EmbeddingSet.objects.filter(catalog=catalog, fingerprint=fingerprint)
    return found.filter(is_complete=True).first()


def neighbours(
    vectors: EmbeddingSet, image: Image, by: Layers | None, *, of: EmbeddingSet | None = None
) -> Neighbours:
    """Return a picture's neighbours; other pictures of its product are left out.

    Args:
        vectors: of the catalog, in the space.
        image: whose neighbours.
        by: the notion, None while it is being fitted.
        of: whose vectors the notion maps, if not those in the space.

    Raises:
        EmbeddingError: the vectors are missing or damaged.
    """
    same = Image.objects.filter(catalog_id=image.catalog_id, product_id=image.product_id)
    besides = list(same.values_list("pk", flat=True)) if image.product_id else []
    before = nearest(vectors, image, N_NEIGHBOURS, besides=besides)
    after = None
    if by is not None:
        found = nearest(of or vectors, image, N_NEIGHBOURS, by=by.apply, besides=besides)
        after = with_images(found)
    return Neighbours(with_images(before), after)


def nearest_to_text(vectors: EmbeddingSet, text: Float32s, n: int) -> Nearest:
    """Return the pictures that a text says best.

    Raises:
        EmbeddingError: the vectors are missing or damaged.
    """
    return with_images(nearest_to(vectors, text, n))


def pictures_offered(catalog: Catalog, page: int = 0) -> list[Image]:
    """Return some pictures of different products, always the same on the same page."""
    images = catalog.images.order_by("sha256")
    found: list[Image] = []
    products: set[str] = set()
    start = page * 5 * N_OFFERED
    for image in images[start : start + 5 * N_OFFERED]:
        if not image.product_id or image.product_id not in products:
            products.add(image.product_id)
            found.append(image)
    return found[:N_OFFERED]

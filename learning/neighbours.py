"""The pictures that are nearest before something was learned, and by it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from catalog.models import Catalog, EmbeddingSet, Image, Projection
from catalog.queries import with_images
from catalog.vectors.embeddings import load_vectors, nearest, nearest_to
from catalog.vectors.projections import derived_fingerprint
from learning.models import TextSpace
from lookalike.core.arrays import Float32s
from lookalike.learning.projection import Projection as Map

N_NEIGHBOURS = 8
N_OFFERED = 12
Nearest = list[tuple[Image, float]]


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of a picture by a space or backbone as it is, and by what was learned on it.

    Attributes:
        before: nearest first, with their cosines.
        after: None while it is being fitted.
        n_new: of the pictures after, those that were not there before.
    """

    before: Nearest
    after: Nearest | None

    @property
    def n_new(self) -> int:
        """How many neighbours it has brought."""
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


def parent_vectors(model: Projection, catalog: Catalog) -> EmbeddingSet | None:
    """Return a catalog's vectors that a learned model maps, None where they were not made."""
    fingerprint = model.parent_fingerprint
    found = EmbeddingSet.objects.filter(catalog=catalog, fingerprint=fingerprint)
    return found.filter(is_complete=True).first()


def neighbours(
    vectors: EmbeddingSet, image: Image, by: Map | None, *, of: EmbeddingSet | None = None
) -> Neighbours:
    """Return a picture's neighbours; other pictures of its product are left out.

    Args:
        vectors: of the catalog, before.
        image: whose neighbours.
        by: what was learned, None while it is being fitted.
        of: whose vectors that maps, if not the same.

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


def chosen_picture(catalog: Catalog, text: str | None) -> Image | None:
    """Return the picture of a uid in an address, None if it is none of a catalog's."""
    try:
        return catalog.images.filter(uid=uuid.UUID(text or "")).first()
    except ValueError:
        return None


def picture_choice(
    catalog: Catalog, uid: str | None, page: int = 0
) -> tuple[Image | None, list[Image]]:
    """Return the picture of a uid in an address, else some other, and those to choose beside it."""
    offered = pictures_offered(catalog, page) or pictures_offered(catalog)
    chosen = chosen_picture(catalog, uid) or next(iter(offered), None)
    return chosen, [image for image in offered if image != chosen]

"""What the page of a catalog shows: a part of its images, in order of import or of nearness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.db.models import QuerySet

from catalog.browsing.filters import ImageFilter, Place
from catalog.maps.queries import has_map
from catalog.models import Catalog, EmbeddingSet, Image
from catalog.queries import filtered_images, usable_embedding_sets
from catalog.vectors.embeddings import EmbeddingError, by_nearness

PAGE = 60


@dataclass
class ImagePage:
    """A part of a list of images, with the images that the neighbouring parts hang on."""

    images: list[Image] = field(default_factory=list)
    n_before: int = 0
    n_all: int = 0
    previous: Image | None = None
    next: Image | None = None

    @property
    def first_number(self) -> int:
        """The number of the first image shown, counted from 1."""
        return self.n_before + 1 if self.images else 0

    @property
    def last_number(self) -> int:
        """The number of the last image shown."""
        return self.n_before + len(self.images)


@dataclass(frozen=True)
class Ranking:
    """All images of an embedding set by their nearness to one of them.

    Attributes:
        image: that one, which is not among them.
        embedding_set: compared by its vectors.
        choices: the sets that it can be compared by.
        ids: of the other images, the nearest first.
        without: query of the address that asks for no such order.
    """

    image: Image
    embedding_set: EmbeddingSet
    choices: Sequence[EmbeddingSet]
    ids: Sequence[int]
    without: str


def image_page(
    catalog: Catalog,
    asked: ImageFilter,
    place: Place,
    size: int = PAGE,
    ranking: Ranking | None = None,
) -> ImagePage:
    """Return a page of filtered images by place, not by number.

    The place is an image, so that pages stay put while an import goes on, and the last page
    is as fast as the first.
    """
    images = filtered_images(catalog, asked)
    uid = place.after or place.before
    anchor = None
    if uid is not None:
        anchor = catalog.images.filter(uid=uid).values_list("id", flat=True).first()
    if ranking is not None:
        return _page_by_nearness(images, ranking, anchor, place.after is None, size)
    if anchor is None:
        shown = list(images[:size])
    elif place.after is not None:
        shown = list(images.filter(id__gt=anchor)[:size])
    else:
        shown = list(images.filter(id__lt=anchor).order_by("-id")[:size])[::-1]
    page = ImagePage(images=shown, n_all=images.count())
    if shown:
        page.n_before = images.filter(id__lt=shown[0].pk).count()
        page.previous = shown[0] if page.n_before else None
        page.next = shown[-1] if page.last_number < page.n_all else None
    return page


def _page_by_nearness(
    images: QuerySet[Image], ranking: Ranking, anchor: int | None, is_backwards: bool, size: int
) -> ImagePage:
    wanted = set(images.order_by().values_list("pk", flat=True))
    ids = [pk for pk in ranking.ids if pk in wanted]
    begin = 0
    if anchor in ids:
        at = ids.index(anchor)
        begin = max(at - size, 0) if is_backwards else at + 1
        size = min(size, at) if is_backwards else size
    found = Image.objects.in_bulk(ids[begin : begin + size])
    shown = [found[pk] for pk in ids[begin : begin + size]]
    page = ImagePage(images=shown, n_before=begin if shown else 0, n_all=len(ids))
    if shown:
        page.previous = shown[0] if begin else None
        page.next = shown[-1] if page.last_number < page.n_all else None
    return page


def read_ranking(catalog: Catalog, asked: ImageFilter) -> Ranking | None:
    """Return the order by nearness that a filter asks for; None if it asks for none.

    Raises:
        EmbeddingError: the image or its vectors are gone, or damaged.
    """
    if asked.like is None:
        return None
    image = catalog.images.filter(uid=asked.like.image).first()
    sets = list(usable_embedding_sets(catalog))
    compared = next((one for one in sets if one.pk == asked.like.set_id), None)
    if image is None or compared is None:
        raise EmbeddingError("That image, or the vectors to compare it by, are gone.")
    ids = by_nearness(compared, image)
    if not ids:
        raise EmbeddingError("That image has no vector in this set, or nothing is beside it.")
    return Ranking(image, compared, sets, ids, replace(asked, like=None).query())


def without_lost(
    catalog: Catalog, asked: ImageFilter
) -> tuple[ImageFilter, Ranking | None, list[str]]:
    """Return a filter without the conditions that mean nothing any more, and why they do not.

    Returns:
        The filter, the order by nearness if it asks for one, and what is wrong in words.
    """
    problems = []
    if asked.area and not has_map(catalog, asked.area.map_id):
        asked = replace(asked, area=None)
        problems.append("The map of that selection was drawn again; select on the new one.")
    try:
        return asked, read_ranking(catalog, asked), problems
    except EmbeddingError as problem:
        return replace(asked, like=None), None, [*problems, str(problem)]

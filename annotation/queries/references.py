"""Find a campaign's images and judges by what a file calls them."""

from __future__ import annotations

from annotation.models import Campaign, QuestionKind
from catalog.image_names import image_names as names_of_images
from catalog.models import Image


class ImageNames:
    """The images of one side of a campaign's pairs, by path, uid and SHA-256."""

    def __init__(self, image_ids: set[int]) -> None:
        self._ids_of = names_of_images(Image.objects.filter(pk__in=image_ids))

    def find(self, name: str) -> int | None:
        """Return the image's id, or None if there is no such image here.

        Raises:
            LookupError: several images have that name, as they are from several catalogs.
        """
        ids = self._ids_of.get(name) or self._ids_of.get(name.lower()) or set()
        if len(ids) > 1:
            raise LookupError(f"{name!r} names {len(ids)} images; use their uid")
        return next(iter(ids), None)

    def find_in_row(self, name: str, row: int, what: str, problems: list[str]) -> int | None:
        """Return the image's id, or None after a note of what is wrong in that row of a file."""
        try:
            image_id = self.find(name)
        except LookupError as problem:
            problems.append(f"row {row}: {problem}")
            return None
        if image_id is None:
            problems.append(f"row {row}: no {what} is called {name!r}")
        return image_id


def image_names(campaign: Campaign) -> tuple[ImageNames, ImageNames]:
    """Return the names of a campaign's queries and of its candidates."""
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR)
    return (
        ImageNames(set(pairs.values_list("query_id", flat=True))),
        ImageNames(set(pairs.values_list("candidate_id", flat=True))),
    )


def judges_by_name(campaign: Campaign) -> dict[str, int]:
    """Return user ids of the panel by user name."""
    return dict(campaign.panel.values_list("annotator__username", "annotator_id"))


def catalog_names(campaign: Campaign) -> ImageNames:
    """Return the names of all images of the catalogs from which a campaign has its pairs."""
    pairs = campaign.questions.all()
    catalogs = set(pairs.values_list("query__catalog", flat=True).distinct())
    catalogs |= set(pairs.values_list("candidate__catalog", flat=True).distinct())
    ids = Image.objects.filter(catalog__in=catalogs).values_list("pk", flat=True)
    return ImageNames(set(ids))

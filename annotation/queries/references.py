"""Find a campaign's images and judges by what a file calls them."""

from __future__ import annotations

from annotation.models import Campaign, QuestionKind
from catalog.image_names import names_of_images
from catalog.models import Image
from lookalike.io.image_names import ImageNames, UnknownImageError


def find_in_row(names: ImageNames[int], name: str, row: int, problems: list[str]) -> int | None:
    """Return an image's id, or None after a note of what is wrong in that row of a file."""
    try:
        return names.find(name)
    except UnknownImageError as problem:
        problems.append(f"row {row}: {problem}")
        return None


def image_names(campaign: Campaign) -> tuple[ImageNames[int], ImageNames[int]]:
    """Return the names of a campaign's queries and of its candidates."""
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR)
    return (
        _names_among(set(pairs.values_list("query_id", flat=True)), "the campaign’s queries"),
        _names_among(
            set(pairs.values_list("candidate_id", flat=True)), "the campaign’s candidates"
        ),
    )


def _names_among(image_ids: set[int], title: str) -> ImageNames[int]:
    held = Image.objects.filter(pk__in=image_ids)
    whole = Image.objects.filter(catalog__in=held.values("catalog"))
    return names_of_images(whole, title, image_ids)


def judges_by_name(campaign: Campaign) -> dict[str, int]:
    """Return user ids of the panel by user name."""
    return dict(campaign.panel.values_list("annotator__username", "annotator_id"))


def catalog_names(campaign: Campaign) -> ImageNames[int]:
    """Return the names of all images of the catalogs from which a campaign has its pairs."""
    pairs = campaign.questions.all()
    catalogs = set(pairs.values_list("query__catalog", flat=True).distinct())
    catalogs |= set(pairs.values_list("candidate__catalog", flat=True).distinct())
    return names_of_images(Image.objects.filter(catalog__in=catalogs), "the campaign’s catalogs")

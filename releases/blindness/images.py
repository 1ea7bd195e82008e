"""Which releases are withheld, since judges see their images.

The one rule of blindness for whatever is public: while an open or paused campaign shows its judges
an image that a release names, nobody outside gets the release's files, labels, tables, pictures
or figures. It holds for every kind of question. A release names path, product, attributes and
hashes of all images of its catalogs, and labels of some, so a judge who matched a picture would
learn the product on the screen, its labels with other pictures, and what models made of it.

Triggers (migration 0005) keep `AskedRelease` whenever a question or a release is added, by whatever
way. Whether a campaign takes answers is read when a page is served.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Prefetch, QuerySet

from annotation.bulk import copy_rows
from annotation.models import CampaignState
from releases.models import AskedRelease, Release, ReleasedImage, Visibility

ASKING = (CampaignState.OPEN, CampaignState.PAUSED)


class WithheldError(Exception):
    """A release is public, but its content is withheld while judges see its images."""

    def __init__(self, release: Release) -> None:
        super().__init__(
            f"{release} is withheld while judges see some of its images: they would learn what "
            "others say of them. It is available again once judging has ended."
        )
        self.release = release


def note_images(release: Release, sha256: Iterable[str]) -> None:
    """Record the images that a new release names; the database finds who asks about them."""
    copy_rows(ReleasedImage, ("release_id", "sha256"), ((release.pk, one) for one in sha256))


def asking_now() -> QuerySet[AskedRelease]:
    """Return which campaigns that take answers show judges images of which release."""
    return AskedRelease.objects.filter(campaign__state__in=ASKING).select_related("campaign")


def with_campaigns_asking(releases: QuerySet[Release]) -> QuerySet[Release]:
    """Prefetch what `campaigns_asking` returns for many releases."""
    return releases.prefetch_related(Prefetch("asked_by", asking_now(), to_attr="asking_now"))


def campaigns_asking(release: Release) -> list[AskedRelease]:
    """Return the campaigns for which a release is withheld now."""
    prefetched: list[AskedRelease] | None = getattr(release, "asking_now", None)
    return list(asking_now().filter(release=release)) if prefetched is None else prefetched


def in_words(asking: Sequence[AskedRelease]) -> str:
    """Say which campaigns show judges images of a release."""
    names = ", ".join(f"“{one.campaign}”" for one in asking)
    return f"judges of {names} see its images"


def why_not_shown(release: Release) -> str:
    """Say why the content of a release is not public now; "" if it is."""
    if release.visibility != Visibility.PUBLIC:
        return "It is for members: an admin has not made it public."
    asking = campaigns_asking(release)
    return (
        f"It is public, but withheld while {in_words(asking)}. It is available again once these "
        "campaigns are closed."
        if asking
        else ""
    )

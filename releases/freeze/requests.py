"""What an admin asks for when a release is frozen."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from lookalike.release.documents.people import is_orcid, parse_author
from lookalike.release.errors import ReleaseError

_VERSION = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})", re.ASCII)
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?")
RESERVED = ("freeze", "import")
DEFAULT_LICENCE = "CC-BY-4.0"
DEFAULT_IMAGE_TERMS = "The images belong to their owners; get them from their source."


@dataclass(frozen=True)
class FreezeRequest:
    """What is to be frozen, and what its documents shall say.

    Attributes:
        slug: of the benchmark, the same for all versions.
        title: for people.
        version: MAJOR.MINOR.PATCH.
        campaigns: slugs, at least one.
        date: ISO date of the release.
        authors: as cited; of a person "Family, Given", perhaps with an ORCID after it.
        description, changes, url: for card, changelog and citation.
        label_licence: SPDX name or words.
        image_terms: under which terms the images may be had.
        with_images: whether the images may be given away with the release.
        with_metadata: whether images keep their metadata, such as EXIF with the place.
        with_runs: whether uploaded runs of the campaigns take part.
        is_public: whether people see it without signing in.
        hidden_percent: queries whose labels are kept back for submissions, in percent.
        seed: of hidden queries and random negatives.
        template_sets: slugs of verifications of templates, each of them closed.
        triplet_sets: slugs of sets of triplets with answers.
        expertise, demographics, payment, intended, excluded, social_impact,
            personal_information: for the datasheet.
    """

    slug: str
    title: str
    version: str
    campaigns: tuple[str, ...]
    date: str
    authors: tuple[str, ...] = ()
    description: str = ""
    changes: str = ""
    url: str = ""
    label_licence: str = DEFAULT_LICENCE
    image_terms: str = DEFAULT_IMAGE_TERMS
    with_images: bool = False
    with_metadata: bool = False
    with_runs: bool = False
    is_public: bool = False
    hidden_percent: int = 0
    seed: int = 0
    template_sets: tuple[str, ...] = ()
    triplet_sets: tuple[str, ...] = ()
    expertise: str = ""
    demographics: str = ""
    payment: str = ""
    intended: str = ""
    excluded: str = ""
    social_impact: str = ""
    personal_information: str = ""

    def __post_init__(self) -> None:
        """Check what a form or a command line may get wrong.

        Raises:
            ReleaseError: saying which part cannot be used.
        """
        if not _SLUG.fullmatch(self.slug):
            raise ReleaseError(
                f"“{self.slug}” is no short name: use a-z, 0-9 and -, at most 80 characters."
            )
        if self.slug in RESERVED:
            raise ReleaseError(f"“{self.slug}” is a page of this site; choose another short name.")
        parse_version(self.version)
        if not self.campaigns:
            raise ReleaseError("A release needs at least one campaign.")
        if not 0 <= self.hidden_percent <= 90:
            raise ReleaseError("Between 0 and 90 percent of the queries can be hidden.")
        for author in map(parse_author, self.authors):
            if author.orcid and not is_orcid(author.orcid):
                raise ReleaseError(
                    f"{author.orcid} of {author.name} is no ORCID: a digit is wrong."
                )
        try:
            date.fromisoformat(self.date)
        except ValueError:
            raise ReleaseError(f"“{self.date}” is no date like 2026-11-21.") from None

    def as_json(self) -> dict[str, Any]:
        """Return it ready for a job's arguments."""
        return asdict(self)

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> FreezeRequest:
        """Read it back."""
        return cls(
            **{
                **arguments,
                "campaigns": tuple(arguments["campaigns"]),
                "authors": tuple(arguments["authors"]),
                "template_sets": tuple(arguments.get("template_sets", ())),
                "triplet_sets": tuple(arguments.get("triplet_sets", ())),
            }
        )

    @property
    def root(self) -> str:
        """What the folder in the archive is called, and the archive itself."""
        return f"{self.slug}-{self.version}"


def short_name(text: str) -> str:
    """Return a name that can be a short name, made from one that may not."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80].strip("-")


def title_as_author(title: str) -> list[str]:
    """Return whom a release without authors is cited by: its title, not as "Family, Given"."""
    return [title.replace(",", "")]


def parse_version(text: str) -> tuple[int, int, int]:
    """Return the three numbers of a version.

    Raises:
        ReleaseError: not MAJOR.MINOR.PATCH.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ReleaseError(f"“{text}” is no version like 1.0.0 (MAJOR.MINOR.PATCH).")
    major, minor, patch = map(int, match.groups())
    return major, minor, patch

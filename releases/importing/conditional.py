"""The templates and triplets of a release again, with what people said of them."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from accounts.models import User
from catalog.models import Catalog
from conditional.models import (
    RetrievalTemplate,
    TemplateRuling,
    TemplateSet,
    TripletSet,
    Verification,
    VerificationState,
    Verifier,
    VerifierAnswer,
)
from conditional.stored_sets import store
from conditional.template_sets.rows import template_rows
from conditional.triplets.services import people_figures, triplet_rows
from lookalike.conditional.types import (
    Box,
    Triplet,
    View,
)
from lookalike.core.errors import Refused
from lookalike.release.conditional.sets import template_of
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from releases.importing.campaign import Judges, make_account
from releases.importing.images import ImageIds

DEVICE = "import"
Row = dict[str, Any]
Of = Mapping[int, list[Row]]  # rows by the position of their template


@dataclass(frozen=True)
class _ReleasedSet:
    """A set of a release: its entry in release.json, and the name that it gets here."""

    entry: Row
    slug: str
    origin: str


def import_sets(
    folder: Folder, slug: str, images: ImageIds, judges: Judges, catalog: Catalog
) -> tuple[list[Verification], list[TripletSet]]:
    """Make the verifications of templates and the sets of triplets of a release.

    Args:
        folder: of the release.
        slug: the first part of each slug.
        images: of the catalogs.
        judges: the account of each pseudonym.
        catalog: holds the images.

    Raises:
        ReleaseError: a slug is taken.
    """
    try:
        return (
            [_templates(folder, released, images, judges, catalog)
             for released in _sets(folder, slug, "template_sets")],
            [_triplets(folder, released, images, catalog)
             for released in _sets(folder, slug, "triplet_sets")],
        )  # fmt: skip
    except Refused as problem:
        raise ReleaseError(f"{problem.message} Choose another slug.") from problem


def _sets(folder: Folder, slug: str, kind: str) -> Iterable[_ReleasedSet]:
    origin = f"{folder.info['name']} {folder.info['version']}"
    for entry in folder.info.get(kind, []):
        yield _ReleasedSet(entry, f"{slug}-{entry['slug']}"[:80], origin)


def _rows(folder: Folder, table: str, released: _ReleasedSet) -> list[Row]:
    rows = folder.table(table).to_pylist()
    return [row for row in rows if row["set"] == released.entry["slug"]]


def _by_position(rows: Iterable[Row]) -> Of:
    by_position: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_position[row["position"]].append(row)
    return by_position


def _templates(
    folder: Folder, released: _ReleasedSet, images: ImageIds, judges: Judges, catalog: Catalog
) -> Verification:
    """Make a closed verification with its set, panel, answers and rulings."""
    entry = released.entry
    if Verification.objects.filter(slug=released.slug).exists():
        raise ReleaseError(f"There is a campaign “{released.slug}” already; choose another slug.")
    made = TemplateSet(
        slug=released.slug,
        name=entry["template_set"],
        catalog=catalog,
        task=entry["task"],
        source=entry["source"],
        seed=entry["seed"],
        file_name=released.origin,
        file_sha256=entry["file_sha256"],
    )

    def view(image: str, box: Box | None) -> View:
        return View(str(images.candidates[image]), box)

    candidates = _by_position(_rows(folder, "template_candidates", released))
    templates = [
        template_of(row, sorted(candidates[row["position"]], key=itemgetter("place")), view)
        for row in _rows(folder, "templates", released)
    ]
    store(made, template_rows(made, templates))
    verification = Verification.objects.create(
        slug=released.slug,
        name=entry["name"],
        template_set=made,
        state=VerificationState.CLOSED,
        guidelines=entry["guidelines"],
    )
    at = {row.position: row for row in made.templates.all()}
    verification.templates.set(at.values())
    _store_votes(folder, released, verification, at, judges)
    TemplateRuling.objects.bulk_create(
        TemplateRuling(
            verification=verification,
            template=at[row["position"]],
            passes=row["passes"],
            note=f"Imported with {released.origin}",
        )
        for row in _rows(folder, "template_rulings", released)
    )
    return verification


def _store_votes(
    folder: Folder,
    released: _ReleasedSet,
    verification: Verification,
    at: Mapping[int, RetrievalTemplate],
    judges: Judges,
) -> None:
    """Seat the panel, those who said nothing too, and store what each one said."""
    votes = _rows(folder, "template_votes", released)
    panel = [(name, judges[name]) for name in sorted({row["annotator"] for row in votes})]
    silent = range(len(panel) + 1, released.entry["n_judges"] + 1)
    people: list[User] = [user for _, user in panel]
    people += [make_account(f"{released.slug}-silent-{number}") for number in silent]
    seats = Verifier.objects.bulk_create(
        Verifier(verification=verification, annotator=person, number=number)
        for number, person in enumerate(people)
    )
    seat_of = {name: seat for (name, _), seat in zip(panel, seats, strict=False)}
    moment = datetime.fromisoformat(folder.info["date"]).replace(tzinfo=UTC)
    VerifierAnswer.objects.bulk_create(
        VerifierAnswer(
            uuid=uuid.uuid4(),
            verifier=seat_of[row["annotator"]],
            template=at[row["position"]],
            choice=row["choice"],
            picked=row["place"],
            device=DEVICE,
            shown_at=moment,
            decided_at=moment,
        )
        for row in votes
    )


def _triplets(
    folder: Folder, released: _ReleasedSet, images: ImageIds, catalog: Catalog
) -> TripletSet:
    """Make a set of triplets with every answer to them."""
    rows = sorted(_rows(folder, "triplets", released), key=lambda row: int(row["position"]))
    triplets = [
        Triplet(
            anchor=str(images.candidates[row["anchor_id"]]),
            closer=str(images.candidates[row["closer_id"]]),
            farther=str(images.candidates[row["farther_id"]]),
            condition=row["condition"],
            worker=row["annotator"],
        )
        for row in rows
    ]
    swapped = [False] * len(triplets)
    made = TripletSet(
        slug=released.slug,
        name=released.entry["name"],
        catalog=catalog,
        source=released.entry["source"],
        file_name=released.origin,
        file_sha256=released.entry["file_sha256"],
        report={"n_entries": len(triplets), "n_left_out": 0},
        figures=people_figures(triplets, swapped, None),
    )
    store(made, triplet_rows(made, triplets, swapped))
    return made

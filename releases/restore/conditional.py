"""The templates and triplets of a release again, with what people said of them."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
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
from conditional.template_sets.services import store_set
from conditional.triplets.services import people_figures, store_triplets
from lookalike.conditional.types import (
    Box,
    Distractor,
    DistractorKind,
    Provenance,
    Task,
    Triplet,
    View,
)
from lookalike.conditional.types import RetrievalTemplate as Template
from lookalike.core.errors import Refused
from lookalike.release.errors import ReleaseError
from lookalike.release.folder import Folder
from releases.restore.campaign import Judges, make_account
from releases.restore.images import Known

DEVICE = "import"
Row = dict[str, Any]
Of = Mapping[int, list[Row]]  # rows by the position of their template


@dataclass(frozen=True)
class _Given:
    """A set of a release: its entry in release.json, and the name that it gets here."""

    entry: Row
    slug: str
    origin: str


def import_sets(
    folder: Folder, slug: str, known: Known, judges: Judges, catalog: Catalog
) -> tuple[list[Verification], list[TripletSet]]:
    """Make the verifications of templates and the sets of triplets of a release.

    Args:
        folder: of the release.
        slug: the first part of each slug.
        known: images of the catalogs.
        judges: the account of each pseudonym.
        catalog: holds the images.

    Raises:
        ReleaseError: a slug is taken.
    """
    try:
        return (
            [_templates(folder, one, known, judges, catalog)
             for one in _given(folder, slug, "template_sets")],
            [_triplets(folder, one, known, catalog)
             for one in _given(folder, slug, "triplet_sets")],
        )  # fmt: skip
    except Refused as problem:
        raise ReleaseError(f"{problem.message} Choose another slug.") from problem


def _given(folder: Folder, slug: str, kind: str) -> Iterable[_Given]:
    origin = f"{folder.info['name']} {folder.info['version']}"
    for entry in folder.info.get(kind, []):
        yield _Given(entry, f"{slug}-{entry['slug']}"[:80], origin)


def _rows(folder: Folder, table: str, given: _Given) -> list[Row]:
    rows = folder.table(table).to_pylist()
    return [row for row in rows if row["set"] == given.entry["slug"]]


def _by_position(rows: Iterable[Row]) -> Of:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["position"]].append(row)
    return found


def _templates(
    folder: Folder, given: _Given, known: Known, judges: Judges, catalog: Catalog
) -> Verification:
    """Make a closed verification with its set, panel, answers and rulings."""
    entry = given.entry
    if Verification.objects.filter(slug=given.slug).exists():
        raise ReleaseError(f"There is a campaign “{given.slug}” already; choose another slug.")
    made = TemplateSet(
        slug=given.slug,
        name=entry["template_set"],
        catalog=catalog,
        task=entry["task"],
        source=entry["source"],
        seed=entry["seed"],
        file_name=given.origin,
        file_sha256=entry["file_sha256"],
    )
    candidates = _by_position(_rows(folder, "template_candidates", given))
    templates = [
        _template(row, candidates[row["position"]], known)
        for row in _rows(folder, "templates", given)
    ]
    named = {view.image for one in templates for _, view in one.views()}
    store_set(made, templates, {name: int(name) for name in named})
    verification = Verification.objects.create(
        slug=given.slug,
        name=entry["name"],
        template_set=made,
        state=VerificationState.CLOSED,
        guidelines=entry["guidelines"],
    )
    at = {row.position: row for row in made.templates.all()}
    verification.templates.set(at.values())
    _store_votes(folder, given, verification, at, judges)
    TemplateRuling.objects.bulk_create(
        TemplateRuling(
            verification=verification,
            template=at[row["position"]],
            passes=row["passes"],
            note=f"Imported with {given.origin}",
        )
        for row in _rows(folder, "template_rulings", given)
    )
    return verification


def _template(row: Row, candidates: list[Row], known: Known) -> Template:
    """Return a template whose images are named by their row ids."""

    def view(image: str, box: str) -> View:
        return View(str(known.candidates[image]), Box(*json.loads(box)) if box else None)

    *distractors, target = sorted(candidates, key=lambda one: int(one["place"]))
    return Template(
        task=Task(row["task"]),
        condition=row["condition"],
        reference=view(row["reference_id"], row["box"]),
        target=view(target["image_id"], target["box"]),
        gallery=tuple(
            Distractor(view(one["image_id"], one["box"]), DistractorKind(one["kind"]))
            for one in distractors
        ),
        provenance=Provenance("release", row["position"]),
    )


def _store_votes(
    folder: Folder,
    given: _Given,
    verification: Verification,
    at: Mapping[int, RetrievalTemplate],
    judges: Judges,
) -> None:
    """Seat the panel, those who said nothing too, and store what each one said."""
    votes = _rows(folder, "template_votes", given)
    panel = [(name, judges[name]) for name in sorted({row["annotator"] for row in votes})]
    silent = range(len(panel) + 1, given.entry["n_judges"] + 1)
    people: list[User] = [user for _, user in panel]
    people += [make_account(f"{given.slug}-silent-{number}") for number in silent]
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


def _triplets(folder: Folder, given: _Given, known: Known, catalog: Catalog) -> TripletSet:
    """Make a set of triplets with every answer to them."""
    rows = sorted(_rows(folder, "triplets", given), key=lambda row: int(row["position"]))
    triplets = [
        Triplet(
            anchor=str(known.candidates[row["anchor_id"]]),
            closer=str(known.candidates[row["closer_id"]]),
            farther=str(known.candidates[row["farther_id"]]),
            condition=row["condition"],
            worker=row["annotator"],
        )
        for row in rows
    ]
    swapped = [False] * len(triplets)
    made = TripletSet(
        slug=given.slug,
        name=given.entry["name"],
        catalog=catalog,
        source=given.entry["source"],
        file_name=given.origin,
        file_sha256=given.entry["file_sha256"],
        report={"n_entries": len(triplets), "n_left_out": 0},
        figures=people_figures(triplets, swapped, None),
    )
    named = {image for one in triplets for image in one[:3]}
    store_triplets(made, triplets, swapped, {name: int(name) for name in named})
    return made

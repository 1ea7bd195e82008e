"""The templates and triplets of a release again, with what people said of them."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from annotation.answering.submissions import Submission
from annotation.models import Adjudication, Campaign, Mode, Question
from annotation.services import close_campaign, record_answers
from catalog.models import Catalog
from conditional.campaigns.kinds import FAILS, PASSES, answer_of
from conditional.campaigns.services import ask_panel
from conditional.models import TemplateSet, TripletSet
from conditional.stored_sets import store
from conditional.template_sets.rows import template_rows
from conditional.triplets.services import people_figures, triplet_rows
from lookalike.conditional.types import (
    Box,
    Triplet,
    View,
)
from lookalike.conditional.verdicts import Vote
from lookalike.core.errors import Refused
from lookalike.release.conditional.sets import template_of
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from releases.importing.campaign import Judges, make_account
from releases.importing.images import ImageIds

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
) -> tuple[list[Campaign], list[TripletSet]]:
    """Make the campaigns about templates and the sets of triplets of a release.

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
) -> Campaign:
    """Make a closed campaign about templates with its set, panel, answers and rulings."""
    entry = released.entry
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
    votes = _rows(folder, "template_votes", released)
    people = [judges[name] for name in sorted({row["annotator"] for row in votes})]
    silent = range(len(people) + 1, entry["n_judges"] + 1)
    people += [make_account(f"{released.slug}-silent-{number}") for number in silent]
    campaign = ask_panel(
        asked_set=made, name=entry["name"], slug=released.slug, panel=people, is_import=True,
        guidelines=entry["guidelines"],
    )  # fmt: skip
    questions = campaign.questions.in_bulk()
    at = dict(made.templates.values_list("pk", "position"))
    of_position = {at[one.subject]: one for one in questions.values()}
    _store_votes(folder, votes, campaign, of_position, judges)
    close_campaign(campaign=campaign, by=None, reason=f"Imported with {released.origin}")
    Adjudication.objects.bulk_create(
        Adjudication(
            question=of_position[row["position"]],
            answer=PASSES if row["passes"] else FAILS,
            reason=f"Imported with {released.origin}",
        )
        for row in _rows(folder, "template_rulings", released)
    )
    return campaign


def _store_votes(
    folder: Folder,
    votes: Iterable[Row],
    campaign: Campaign,
    of_position: Mapping[int, Question],
    judges: Judges,
) -> None:
    """Store what each judge said, as if it had been said then."""
    moment = datetime.fromisoformat(folder.info["date"]).replace(tzinfo=UTC)
    given: dict[str, list[tuple[uuid.UUID, Submission]]] = defaultdict(list)
    for row in votes:
        key, answer = uuid.uuid4(), answer_of(Vote(row["choice"], row["place"]))
        one = Submission(
            key, of_position[row["position"]].uid, answer, "", Mode.IMPORT.value, "", 1,
            moment, moment, 0, 0, None,
        )  # fmt: skip
        given[row["annotator"]].append((key, one))
    for name, submissions in given.items():
        record_answers(
            campaign_uid=campaign.uid, annotator_id=judges[name].pk, submissions=submissions
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

"""Write the templates and triplets that a release takes, from the same snapshot as the pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.queries.frozen_choices import (
    frozen_choice_rulings,
    frozen_choices,
    frozen_subjects,
)
from conditional.campaigns.frozen_rows import (
    FrozenTemplate,
    frozen_templates,
    frozen_verifications,
)
from conditional.campaigns.kinds import PASSES, vote_of
from conditional.triplets.frozen_rows import FrozenAnswer, frozen_answers, frozen_triplet_sets
from jobs.work.snapshot import Snapshot
from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.release.errors import ReleaseError
from lookalike.release.format.tables import write_rows
from releases.freeze.scope import Images, Scope

Row = dict[str, Any]


def write_templates(
    view: Snapshot, scope: Scope, folder: Path, slugs: Sequence[str], names: Mapping[int, str]
) -> list[Row]:
    """Write the templates of some verifications with votes and rulings; return their entries.

    Args:
        view: the moment that is frozen.
        scope: the rest of the release.
        folder: of its files.
        slugs: of the verifications.
        names: pseudonym of each account on a panel.

    Raises:
        ReleaseError: one does not exist, is still open, or is of another catalog.
    """
    if not slugs:
        return []
    verifications = frozen_verifications(view, slugs)
    _check("verification of templates", slugs, [campaign.slug for campaign, _ in verifications])
    for campaign, about in verifications:
        if campaign.state != "closed":
            raise ReleaseError(
                f"Judges still verify “{campaign.name}”; close it before it is released."
            )
        _check_catalog(scope, campaign.name, about.catalog)
    subjects = frozen_subjects(view, slugs)
    template_of = frozen_templates(view, {one.subject for one in subjects})
    asked = [(one.campaign, template_of[one.subject]) for one in subjects]
    asked.sort(key=lambda one: (one[0], one[1].position))
    write_rows(folder, "templates", [_template(*one, scope.images) for one in asked])
    candidates = [row for one in asked for row in _candidates(*one, scope.images)]
    write_rows(folder, "template_candidates", candidates)
    votes = [
        {"set": one.campaign, "position": template_of[one.subject].position,
         "annotator": names[one.annotator], "choice": vote.choice, "place": vote.picked}
        for one in frozen_choices(view, slugs) for vote in [vote_of(one.answer)]
    ]  # fmt: skip
    votes.sort(key=lambda row: (row["set"], row["position"], row["annotator"]))
    write_rows(folder, "template_votes", votes)
    rulings = [
        {"set": one.campaign, "position": template_of[one.subject].position,
         "passes": one.answer == PASSES}
        for one in frozen_choice_rulings(view, slugs)
    ]  # fmt: skip
    rulings.sort(key=lambda row: (row["set"], row["position"]))
    write_rows(folder, "template_rulings", rulings)
    left_out = {"id", "state", "catalog", "campaign"}
    return [
        {name: value for name, value in (campaign._asdict() | about._asdict()).items()
         if name not in left_out}
        for campaign, about in verifications
    ]  # fmt: skip


def _template(campaign: str, row: FrozenTemplate, images: Images) -> Row:
    [reference] = images.names_of([row.reference])
    return {
        "set": campaign, "position": row.position, "task": row.task,
        "condition": row.condition, "reference_id": reference, "box": _box(row, "reference"),
    }  # fmt: skip


def _candidates(campaign: str, row: FrozenTemplate, images: Images) -> list[Row]:
    """Return the distractors of a template in their order, then its target."""
    roles = [*(f"gallery[{place}]" for place in range(len(row.gallery))), "target"]
    candidates = zip(
        images.names_of([*row.gallery, row.target]), [*row.kinds, "target"], roles, strict=True
    )
    return [
        {"set": campaign, "position": row.position, "place": place, "image_id": image,
         "kind": kind, "box": _box(row, role)}
        for place, (image, kind, role) in enumerate(candidates)
    ]  # fmt: skip


def _box(row: FrozenTemplate, role: str) -> str:
    box = row.boxes.get(role)
    return json.dumps(box) if box else ""


def write_triplets(
    view: Snapshot, scope: Scope, folder: Path, slugs: Sequence[str], secret: bytes
) -> list[Row]:
    """Write the answers of some sets of triplets; return their entries.

    Raises:
        ReleaseError: one does not exist, has no answers, or is of another catalog.
    """
    if not slugs:
        return []
    sets = frozen_triplet_sets(view, slugs)
    _check("set of triplets", slugs, [row.slug for row in sets])
    for row in sets:
        _check_catalog(scope, row.name, row.catalog)
    answers = frozen_answers(view, slugs)
    empty = {row.slug for row in sets} - {answer.triplet_set for answer in answers}
    if empty:
        raise ReleaseError(f"The set of triplets “{min(empty)}” has no answers yet.")
    names = _workers(answers, secret)
    images = ("anchor_id", "closer_id", "farther_id")
    rows = [
        {"set": answer.triplet_set, "position": answer.position, "condition": answer.condition,
         "annotator": names[answer.triplet_set, answer.worker] if answer.worker else "",
         **dict(zip(images, scope.images.names_of(answer.images), strict=True))}
        for answer in answers
    ]  # fmt: skip
    write_rows(folder, "triplets", rows)
    kept = ("slug", "name", "source", "file_sha256")
    return [{name: getattr(row, name) for name in kept} for row in sets]


def _workers(answers: Iterable[FrozenAnswer], secret: bytes) -> dict[tuple[str, str], str]:
    """Return a name for each worker of each set that nobody can trace back."""
    workers = sorted({(answer.triplet_set, answer.worker) for answer in answers if answer.worker})
    names = pseudonyms(range(len(workers)), secret + json.dumps(workers).encode())
    return {worker: f"w{names[at][1:]}" for at, worker in enumerate(workers)}


def _check(what: str, wanted: Sequence[str], existing: Sequence[str]) -> None:
    missing = sorted(set(wanted) - set(existing))
    if missing:
        raise ReleaseError(f"There is no {what} “{missing[0]}”.")


def _check_catalog(scope: Scope, name: str, catalog: int) -> None:
    if catalog not in scope.images.catalogs:
        raise ReleaseError(f"“{name}” is about another catalog than the campaigns.")

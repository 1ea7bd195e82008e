"""Names of stored sets and campaigns, and what jobs had stored when they were cut short.

Whoever makes a set stores it in one transaction, with its job's uid in `report["job"]`. So work
that is done again finds the set, be it by the same job (its worker was lost) or by a new one that
asks for the very same (a command that was interrupted and is given again).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from conditional.models import TemplateSet, TripletSet, Verification
from jobs.models import Job, JobState
from lookalike.core.errors import Refused

Named: TypeAlias = TemplateSet | TripletSet | Verification
AnyNamed = TypeVar("AnyNamed", TemplateSet, TripletSet, Verification)
AnySet = TypeVar("AnySet", TemplateSet, TripletSet)
_TAKEN: dict[type[Named], str] = {
    TemplateSet: "there is a set",
    TripletSet: "there are triplets",
    Verification: "there is a campaign",
}


def slug_of(name: str) -> str:
    """Return what addresses call a set or campaign of a name.

    Raises:
        Refused: nothing is left of the name.
    """
    slug = slugify(name)[:80].strip("-")
    if not slug:
        raise Refused("name", "give a name with at least one letter or digit.")
    return slug


def unused_slug(model: type[AnyNamed], name: str) -> str:
    """Return the slug of a new name.

    Raises:
        Refused: nothing is left of the name, or it is taken.
    """
    slug = slug_of(name)
    if model._default_manager.filter(slug=slug).exists():
        raise _taken(model, slug)
    return slug


def save_named(row: Named) -> None:
    """Save a new row, within the caller's transaction.

    Raises:
        Refused: another one took the slug meanwhile.
    """
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise _taken(type(row), row.slug) from None


def _taken(model: type[Named], slug: str) -> Refused:
    return Refused("name", f"{_TAKEN[model]} “{slug}” already; choose another name.")


def stored_by(model: type[AnySet], name: str, job: Job) -> AnySet | None:
    """Return the set that a job has stored on an earlier attempt, or took over; None if none.

    It takes over what an interrupted job has stored that was asked for the very same.
    """
    uid = str(job.uid)
    rows = model._default_manager
    if own := rows.filter(report__job=uid).first():
        return own
    left = _left_behind(model, name, job.task, job.arguments)
    if left is not None:
        left.report["job"] = uid
        left.save(update_fields=["report"])
    return left


def slug_to_make(model: type[AnySet], name: str, task: str, arguments: dict[str, Any]) -> str:
    """Return the slug of a set that a command is to make, or to go on with.

    Raises:
        Refused: as `unused_slug`, unless an interrupted job that was asked for the very
            same has stored the set.
    """
    if _left_behind(model, name, task, arguments) is not None:
        return slug_of(name)
    return unused_slug(model, name)


def _left_behind(
    model: type[AnySet], name: str, task: str, arguments: dict[str, Any]
) -> AnySet | None:
    found = model._default_manager.filter(slug=slug_of(name)).first()
    uid = found.report.get("job") if found else None
    if uid is None:
        return None
    ended = Job.objects.filter(state__in=[JobState.FAILED, JobState.CANCELLED])
    is_same = ended.filter(uid=uid, task=task, arguments=arguments).exists()
    return found if is_same else None


def digest_of(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of the bytes of files, one after the other.

    Raises:
        OSError: a file cannot be read.
    """
    found = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(2**20):
                found.update(block)
    return found.hexdigest()

"""Sets: each made once and whole, however often its job is begun; and those that go.

A set is stored in one transaction, with its job's uid in `report["job"]`. So work that is done
again finds the set, be it by the same job (its worker was lost) or by a new one that asks for the
very same (a command that was interrupted and is given again).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from django.db import IntegrityError, models, transaction
from django.utils.text import slugify

from accounts.models import User
from audit.actions import Action
from audit.services import record
from catalog.models import Catalog
from conditional.models import TemplateSet, TripletSet
from jobs.models import Job, JobState
from jobs.services import JobError, JobProgress, enqueue
from lookalike.core.errors import Refused

BATCH = 2000
AnySet = TypeVar("AnySet", TemplateSet, TripletSet)
SetModel: TypeAlias = type[TemplateSet] | type[TripletSet]
Draft: TypeAlias = tuple[AnySet, Sequence[models.Model]]  # unsaved: a set, and what it holds


_NOUNS: dict[SetModel, str] = {TemplateSet: "template set", TripletSet: "triplet set"}
_TAKEN: dict[SetModel, str] = {TemplateSet: "there is a set", TripletSet: "there are triplets"}


def make_slug(name: str) -> str:
    """Return what addresses call a set or campaign of a name.

    Raises:
        Refused: nothing is left of the name.
    """
    slug = slugify(name)[:80].strip("-")
    if not slug:
        raise Refused("name", "give a name with at least one letter or digit.")
    return slug


def unused_slug(model: SetModel, name: str) -> str:
    """Return the slug of a new name.

    Raises:
        Refused: nothing is left of the name, or it is taken.
    """
    slug = make_slug(name)
    if model._default_manager.filter(slug=slug).exists():
        raise _taken(model, slug)
    return slug


def save_named(row: TemplateSet | TripletSet) -> None:
    """Save a new row, within the caller's transaction.

    Raises:
        Refused: another one took the slug meanwhile.
    """
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise _taken(type(row), row.slug) from None


def _taken(model: SetModel, slug: str) -> Refused:
    return Refused("name", f"{_TAKEN[model]} “{slug}” already; choose another name.")


@transaction.atomic
def store(row: TemplateSet | TripletSet, members: Sequence[models.Model]) -> None:
    """Save a set with the templates, questions or answers that it holds, all or nothing.

    Raises:
        Refused: another set took the slug meanwhile.
    """
    save_named(row)
    if members:
        type(members[0])._default_manager.bulk_create(members, batch_size=BATCH)


def job_of_set(
    model: SetModel, slug: str, *, task: str, verb: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Return what names the job that makes a set: the same for a worker and for a command.

    Args:
        verb: what the job does, such as "Build".
        arguments: what it is asked for; `catalog` and `name` are among them.
    """
    return {
        "task": task,
        "subject": f"{_NOUNS[model]} {slug}",
        "title": f"{verb} “{arguments['name'][:150]}”",
        "arguments": arguments,
    }


def request_set(
    model: SetModel, *, task: str, verb: str, arguments: dict[str, Any], owner: User | None
) -> Job:
    """Queue the making of a set; the arguments are those of `job_of_set`.

    Raises:
        Refused: as `unused_slug`.
        JobConflictError: a set of that name is being made, or too much of the owner's waits.
    """
    slug = unused_slug(model, arguments["name"])
    return enqueue(
        **job_of_set(model, slug, task=task, verb=verb, arguments=arguments), owner=owner
    )


def make_set(
    model: type[AnySet],
    progress: JobProgress,
    note: str,
    draft: Callable[[Catalog], Draft[AnySet]],
) -> AnySet:
    """Return the set that a job makes; a job that was cut short after storing finds its own.

    Args:
        note: what is done before the set is stored.
        draft: given the catalog, returns the set without name, owner and catalog, and what it
            holds.

    Raises:
        Refused: the name is taken, or as `draft`.
        JobError: the catalog was deleted.
    """
    job = progress.job
    name = job.arguments["name"]
    if stored := _stored_by(model, name, job):
        return stored
    slug = unused_slug(model, name)
    catalog = Catalog.objects.filter(pk=job.arguments["catalog"]).first()
    if catalog is None:
        raise JobError("The catalog was deleted.")
    progress.start(0, None, note, is_long=True)
    row, members = draft(catalog)
    row.slug, row.name, row.catalog, row.owner = slug, name[:200], catalog, job.owner
    row.report["job"] = str(job.uid)
    progress.start(0, len(members), "Storing the set")
    store(row, members)
    progress.update(len(members), len(members), "Stored")
    return row


def report_of(row: TemplateSet | TripletSet) -> dict[str, Any]:
    """Return how a set came about, for people."""
    return {name: value for name, value in row.report.items() if name != "job"}


def _stored_by(model: type[AnySet], name: str, job: Job) -> AnySet | None:
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


def slug_to_make(model: SetModel, name: str, task: str, arguments: dict[str, Any]) -> str:
    """Return the slug of a set that a command is to make, or to go on with.

    Raises:
        Refused: as `unused_slug`, unless an interrupted job that was asked for the very same has
            stored the set.
    """
    if _left_behind(model, name, task, arguments) is not None:  # type: ignore[type-var]
        return make_slug(name)
    return unused_slug(model, name)


def _left_behind(
    model: type[AnySet], name: str, task: str, arguments: dict[str, Any]
) -> AnySet | None:
    row = model._default_manager.filter(slug=make_slug(name)).first()
    uid = row.report.get("job") if row else None
    if uid is None:
        return None
    ended = Job.objects.filter(state__in=[JobState.FAILED, JobState.CANCELLED])
    is_same = ended.filter(uid=uid, task=task, arguments=arguments).exists()
    return row if is_same else None


@transaction.atomic
def delete_set(*, row: TemplateSet | TripletSet) -> None:
    """Delete a set that nobody was asked about, with all that it holds.

    Raises:
        Refused: it was put to a panel, or a receiver of Django's `pre_delete` protects it.
    """
    type(row)._default_manager.select_for_update().get(pk=row.pk)
    if row.campaigns.exists():
        raise Refused("set", f"“{row}” was put to a panel; it is kept.")
    record(None, Action.SET_DELETED, row, slug=row.slug)
    try:
        row.delete()
    except models.ProtectedError as problem:
        raise Refused("set", problem.args[0]) from problem


def files_digest(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of the bytes of files, one after the other.

    Raises:
        OSError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()

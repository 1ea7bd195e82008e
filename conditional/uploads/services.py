"""Take template and triplet files that come by the browser: keep them, queue their import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from django.core.files.uploadedfile import UploadedFile

from accounts.models import User
from catalog.importing.uploads import drop_old_uploads, drop_upload, keep_upload
from catalog.models import Catalog
from conditional.models import TemplateSet, TripletSet
from conditional.stored_sets import SetModel, request_set, unused_slug
from conditional.uploads.files import TEMPLATES_TASK, TRIPLETS_TASK, Kind, SetFiles, uploads_in
from conditional.uploads.templates import import_templates
from conditional.uploads.triplets import import_triplets
from jobs.models import Job
from jobs.services import JobError, JobProgress
from lookalike.conditional.crops import Dilation
from lookalike.core.errors import Refused

MAX_BYTES = 256 * 2**20  # of each file; larger ones go in by the commands
MAX_NAME = 100

Upload: TypeAlias = "UploadedFile[bytes]"
Kept = tuple[str, str]  # the name on our disk, the name that its giver gave


def request_import(
    *,
    kind: Kind,
    catalog: Catalog,
    name: str,
    file: Sequence[Upload],
    task: str,
    crops: Dilation,
    names: Upload | None,
    scale: Upload | None,
    split: Upload | None,
    where: Mapping[str, str],
    keep_good: bool,
    owner: User,
) -> Job:
    """Keep the uploads and queue their import; on failure nothing is kept.

    The arguments are those of `SetFiles`, with `file` for its paths; no task is "".

    Raises:
        Refused: the name is taken, or a file is too large.
        JobConflictError: a set of that name is being imported, or too much of the owner's waits.
        OSError: the disk does not take it.
    """
    drop_old_uploads()
    kept: list[Kept] = []

    def keep(field_name: str, upload: Upload | None, ending: str) -> Kept | None:
        if upload is None:
            return None
        try:
            stored = keep_upload(upload, ending, MAX_BYTES)
        except Refused as problem:
            raise Refused(field_name, f"{problem}; use the command for it.") from problem
        kept.append((stored, str(upload.name)[:MAX_NAME]))
        return kept[-1]

    model: SetModel = TripletSet if kind.is_triplets else TemplateSet
    unused_slug(model, name)  # before anything large is copied
    try:
        arguments = {
            "kind": kind.value,
            "catalog": catalog.pk,
            "name": name,
            "task": task,
            "files": [keep("file", upload, kind.ending) for upload in file],
            "names": keep("names", names, "txt"),
            "scale": keep("scale", scale, "csv"),
            "split": keep("split", split, "json"),
            "where": dict(where),
            "crops": crops,
            "keep_good": keep_good,
        }
        job_task = TRIPLETS_TASK if kind.is_triplets else TEMPLATES_TASK
        return request_set(model, task=job_task, verb="Import", arguments=arguments, owner=owner)
    except BaseException:
        for stored, _ in kept:
            drop_upload(stored)
        raise


def import_uploads(progress: JobProgress) -> dict[str, Any]:
    """Do what a job of `request_import` says, and drop the uploads.

    Raises:
        Refused: why it cannot be imported: file, entry and reason, a line for each.
        JobError: a command began it.
        JobLostError: the job was cancelled or taken over.
    """
    arguments = progress.job.arguments
    if "files" not in arguments:
        raise JobError("The command that began this import was stopped; run it again.")
    files = SetFiles.of_uploads(arguments)
    do = import_triplets if files.kind.is_triplets else import_templates
    result = do(files, progress)
    for stored, _ in uploads_in(arguments):
        drop_upload(stored)
    return result


def import_jobs() -> list[Job]:
    """Return the imports of uploads, latest first."""
    jobs = Job.objects.filter(task__in=[TEMPLATES_TASK, TRIPLETS_TASK], arguments__has_key="files")
    return list(jobs.select_related("owner", "held_by")[:10])

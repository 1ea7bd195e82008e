"""Take template and triplet files that come by the browser: keep them, queue their import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class ImportRequest:
    """What an admin asks to be imported.

    Attributes:
        kind: of all files.
        catalog: holds the images.
        name: of the new set.
        files: one, or several of integers.
        task: of GeneCIS templates.
        names: what integers are positions of.
        scale: a known order of the images.
        crops: how boxes of templates are cut out.
        split: the images that CIRR entries without image set look among.
        where: {column: value}, only those rows of a CSV file.
        keep_good: leave defective entries out; without it one of them stops the import.
    """

    kind: Kind
    catalog: Catalog
    name: str
    files: Sequence[Upload]
    task: str = ""
    names: Upload | None = None
    scale: Upload | None = None
    split: Upload | None = None
    crops: Dilation = "paper"
    where: Mapping[str, str] = field(default_factory=dict)
    keep_good: bool = False


def request_import(request: ImportRequest, owner: User) -> Job:
    """Keep the uploads and queue their import; on failure nothing is kept.

    Raises:
        Refused: the name is taken, or a file is too large.
        JobConflictError: a set of that name is being imported, or too much of the owner's waits.
        OSError: the disk does not take it.
    """
    drop_old_uploads()
    kept: list[Kept] = []

    def keep(field_name: str, file: Upload | None, ending: str) -> Kept | None:
        if file is None:
            return None
        try:
            stored = keep_upload(file, ending, MAX_BYTES)
        except Refused as problem:
            raise Refused(field_name, f"{problem}; use the command for it.") from problem
        kept.append((stored, str(file.name)[:MAX_NAME]))
        return kept[-1]

    is_triplets = request.kind.is_triplets
    model: SetModel = TripletSet if is_triplets else TemplateSet
    unused_slug(model, request.name)  # before anything large is copied
    try:
        arguments = {
            "kind": request.kind.value,
            "catalog": request.catalog.pk,
            "name": request.name,
            "task": request.task,
            "files": [keep("file", file, request.kind.ending) for file in request.files],
            "names": keep("names", request.names, "txt"),
            "scale": keep("scale", request.scale, "csv"),
            "split": keep("split", request.split, "json"),
            "where": dict(request.where),
            "crops": request.crops,
            "keep_good": request.keep_good,
        }
        task = TRIPLETS_TASK if is_triplets else TEMPLATES_TASK
        return request_set(model, task=task, verb="Import", arguments=arguments, owner=owner)
    except BaseException:
        for stored, _ in kept:
            drop_upload(stored)
        raise


def import_files(files: SetFiles, progress: JobProgress) -> dict[str, Any]:
    """Import a set from files; it is stored as a whole or not at all.

    Raises:
        Refused: why it cannot be imported: file, entry and reason, a line for each.
    """
    do = import_triplets if files.kind.is_triplets else import_templates
    return do(files, progress)


def import_uploads(progress: JobProgress) -> dict[str, Any]:
    """Do what a job of `request_import` says, and drop the uploads.

    Raises:
        Refused: as `import_files`, or a command began it.
        JobLostError: the job was cancelled or taken over.
    """
    arguments = progress.job.arguments
    if "files" not in arguments:
        raise JobError("The command that began this import was stopped; run it again.")
    result = import_files(SetFiles.of_uploads(arguments), progress)
    for stored, _ in uploads_in(arguments):
        drop_upload(stored)
    return result


def import_jobs() -> list[Job]:
    """Return the imports of uploads, latest first."""
    jobs = Job.objects.filter(task__in=[TEMPLATES_TASK, TRIPLETS_TASK], arguments__has_key="files")
    return list(jobs.select_related("owner", "held_by")[:10])

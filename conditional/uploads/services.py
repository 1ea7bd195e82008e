"""Take template and triplet files that come by the browser: keep them, queue their import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from django.core.files.uploadedfile import UploadedFile

from accounts.models import User
from catalog.importing.uploads import (
    UploadError,
    drop_old_uploads,
    drop_upload,
    keep_upload,
    upload_path,
)
from catalog.models import Catalog
from conditional.template_sets.services import free_slug
from conditional.triplets.services import IMPORT_TASK as TRIPLETS_TASK
from conditional.triplets.services import TripletFiles, free_triplet_slug, import_triplet_set
from conditional.uploads.template_files import IMPORT_TASK as TEMPLATES_TASK
from conditional.uploads.template_files import import_set
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue
from lookalike.conditional.crops import Dilation
from lookalike.conditional.formats.cirr import SOURCE as CIRR
from lookalike.conditional.formats.genecis import SOURCE as GENECIS
from lookalike.conditional.types import Task
from lookalike.core.errors import Refused

MAX_BYTES = 256 * 2**20  # of each file; larger ones go in by the commands
MAX_NAME = 100

Upload: TypeAlias = "UploadedFile[bytes]"
Kept = tuple[str, str]  # the name on our disk, the name that its giver gave


class Kind(StrEnum):
    """What an uploaded file is read as."""

    GENECIS = "genecis"
    CIRR = "cirr"
    TRIPLETS = "triplets"
    INTEGERS = "integers"

    @property
    def is_triplets(self) -> bool:
        """Whether a set of triplets comes of it, not one of templates."""
        return self in (Kind.TRIPLETS, Kind.INTEGERS)

    @property
    def ending(self) -> str:
        """Under what ending such a file is kept."""
        return {Kind.TRIPLETS: "csv", Kind.INTEGERS: "txt"}.get(self, "json")


@dataclass(frozen=True)
class Asked:
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


def request_import(asked: Asked, owner: User) -> Job:
    """Keep the uploads and queue their import; on failure nothing is kept.

    Raises:
        Refused: the name is taken, or a file is too large.
        JobConflictError: a set of that name is being imported, or too much of the owner's waits.
        OSError: the disk does not take it.
    """
    drop_old_uploads()
    is_triplets = asked.kind.is_triplets
    slug = free_triplet_slug(asked.name) if is_triplets else free_slug(asked.name)
    kept: list[Kept] = []

    def keep(field_name: str, file: Upload | None, ending: str) -> Kept | None:
        if file is None:
            return None
        try:
            stored = keep_upload(file, ending, MAX_BYTES)
        except UploadError as problem:
            raise Refused(field_name, f"{problem}; use the command for it.") from problem
        kept.append((stored, str(file.name)[:MAX_NAME]))
        return kept[-1]

    try:
        return enqueue(
            task=TRIPLETS_TASK if is_triplets else TEMPLATES_TASK,
            subject=f"{'triplet' if is_triplets else 'template'} set {slug}",
            title=f"Import “{asked.name[:150]}”",
            arguments={
                "kind": asked.kind.value,
                "catalog": asked.catalog.pk,
                "name": asked.name,
                "task": asked.task,
                "files": [keep("file", file, asked.kind.ending) for file in asked.files],
                "names": keep("names", asked.names, "txt"),
                "scale": keep("scale", asked.scale, "csv"),
                "split": keep("split", asked.split, "json"),
                "where": dict(asked.where),
                "crops": asked.crops,
                "keep_good": asked.keep_good,
            },
            owner=owner,
        )
    except BaseException:
        for stored, _ in kept:
            drop_upload(stored)
        raise


def import_uploads(progress: JobProgress) -> dict[str, Any]:
    """Do what a job of `request_import` says; a set is stored as a whole or not at all.

    Raises:
        JobError: why it cannot be imported: file, entry and reason, a line for each.
        JobLostError: the job was cancelled or taken over.
    """
    given = progress.job.arguments
    if "files" not in given:
        raise JobError("The command that began this import was stopped; run it again.")
    catalog = Catalog.objects.filter(pk=given["catalog"]).first()
    if catalog is None:
        raise JobError("The catalog was deleted.")
    common = {
        "catalog": catalog,
        "name": given["name"],
        "keep_good": given["keep_good"],
        "owner": progress.job.owner,
        "progress": progress,
    }
    uploads = _uploads(given)
    paths = {stored: upload_path(stored) for stored, _ in uploads}
    called = {upload_path(stored): name for stored, name in uploads}
    files = [paths[stored] for stored, _ in given["files"]]
    if Kind(given["kind"]).is_triplets:
        names, scale = (_path(given[which]) for which in ("names", "scale"))
        found = TripletFiles(files, names, given["where"], scale, called)
        result = import_triplet_set(files=found, **common)
    else:
        result = import_set(
            path=files[0],
            file_format={Kind.GENECIS: GENECIS, Kind.CIRR: CIRR}[Kind(given["kind"])],
            task=Task(given["task"]) if given["task"] else None,
            file_name=called[files[0]],
            split=_path(given.get("split")),
            crops=given.get("crops", "paper"),
            **common,
        )
    for stored, _ in uploads:
        drop_upload(stored)
    return result


def _uploads(given: Mapping[str, Any]) -> list[Kept]:
    """Return all files of a job."""
    found = [*given["files"], given["names"], given["scale"], given.get("split")]
    return [(stored, name) for stored, name in (one for one in found if one)]


def _path(kept: Kept | None) -> Path | None:
    return upload_path(kept[0]) if kept else None


def import_jobs() -> list[Job]:
    """Return the imports of uploads, latest first."""
    jobs = Job.objects.filter(task__in=[TEMPLATES_TASK, TRIPLETS_TASK], arguments__has_key="files")
    return list(jobs.select_related("owner", "held_by")[:10])

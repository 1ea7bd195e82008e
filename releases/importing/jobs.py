"""Queue an import and do it in a worker, with its progress and its errors in the job."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import UploadedFile

from accounts.models import User
from annotation.errors import CampaignError
from annotation.models import Campaign
from catalog.models import Catalog
from evaluation.runs.upload_files import drop_run_file, keep_run_file, kept_path
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue
from lookalike.core.progress import Steps
from lookalike.io.errors import InputError, message_with_names
from lookalike.io.repeats import Repeats
from lookalike.io.vote_options import VoteOptions
from releases.importing.release import Imported, import_any
from releases.site.queries import IMPORT_TASK

N_STEPS = 20  # roughly what an import tells


def request_import(
    *,
    file: UploadedFile[bytes],
    slug: str,
    name: str,
    catalog: Catalog,
    query_catalog: Catalog | None,
    min_rel: int | None,
    repeats: str = "",
    control: str = "",
    owner: User,
) -> Job:
    """Keep an upload and queue its import.

    Raises:
        InputError: the file is too large.
        JobConflictError: an import under that slug is queued or running.
        OSError: the disk does not take it.
    """
    kept = keep_run_file(file)
    try:
        return enqueue(
            task=IMPORT_TASK,
            subject=f"import:{slug}",
            title=f"Import {file.name} as {slug}",
            arguments={
                "file": kept,
                "file_name": str(file.name),
                "slug": slug,
                "name": name,
                "catalog": catalog.slug,
                "query_catalog": query_catalog.slug if query_catalog else "",
                "min_rel": min_rel,
                "repeats": repeats,
                "control": control,
            },
            owner=owner,
        )
    except BaseException:
        drop_run_file(kept)
        raise


def import_back(progress: JobProgress) -> dict[str, Any]:
    """Do what a job of `request_import` says; cut short, it has stored nothing.

    Raises:
        JobError: why it cannot be imported, a line for each thing that is wrong.
        JobLostError: the job was cancelled.
    """
    arguments = progress.job.arguments
    path, file_name = kept_path(arguments["file"]), arguments["file_name"]
    query_catalog = arguments["query_catalog"]
    if stored := _stored_before(progress.job):
        drop_run_file(arguments["file"])
        return stored
    if not path.exists():
        raise JobError(f"The upload of {file_name} is no longer kept. Import it again.")
    steps = Steps(progress, N_STEPS)
    options = VoteOptions(  # jobs that earlier versions queued have none
        repeats=Repeats(arguments["repeats"]) if arguments.get("repeats") else None,
        control=arguments.get("control", ""),
    )
    try:
        made = import_any(
            source=path,
            slug=arguments["slug"],
            name=arguments["name"],
            catalog=_catalog(arguments["catalog"]),
            query_catalog=_catalog(query_catalog) if query_catalog else None,
            min_rel=arguments.get("min_rel"),
            options=options,
            progress=steps,
            mark=lambda made: _mark(progress, made, options.notes),
        )
    except (InputError, CampaignError, OSError) as problem:
        raise JobError(message_with_names(problem, {path: file_name})) from problem
    drop_run_file(arguments["file"])
    steps.end("Imported")
    return {
        "campaigns": [campaign.slug for campaign in made.campaigns],
        "n_judgements": made.n_judgements,
        "notes": options.notes,
    }


def _mark(progress: JobProgress, made: Imported, notes: list[str]) -> None:
    """Note in the job what it made, in the transaction that makes it.

    Raises:
        JobLostError: the job was cancelled, or another worker has it: nothing is made.
    """
    noted = {
        "campaigns": [str(campaign.uid) for campaign in made.campaigns],
        "n_judgements": made.n_judgements,
        "notes": notes,
    }
    progress.hold()
    job = progress.job
    Job.objects.filter(pk=job.pk).update(arguments={**job.arguments, "made": noted})


def _stored_before(job: Job) -> dict[str, Any]:
    """Return what an earlier attempt of this job made, if it died before it could say so."""
    noted = job.arguments.get("made", {})
    campaigns = Campaign.objects.filter(uid__in=noted.get("campaigns", [])).order_by("slug")
    slugs = list(campaigns.values_list("slug", flat=True))
    if not slugs:
        return {}
    notes = noted.get("notes", [])
    return {"campaigns": slugs, "n_judgements": noted["n_judgements"], "notes": notes}


def _catalog(slug: str) -> Catalog:
    catalog = Catalog.objects.filter(slug=slug).first()
    if catalog is None:
        raise JobError(f"The catalog “{slug}” was deleted.")
    return catalog

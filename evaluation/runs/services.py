"""Take in an uploaded run, store it once it is checked, delete it. For pages, API and workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, transaction

from accounts.models import User
from annotation.models import Campaign
from audit.actions import Action
from audit.services import record
from evaluation.models import Run
from evaluation.results.services import ask_for_evaluation
from evaluation.runs.disk_quota import check_disk_quota
from evaluation.runs.stored_runs import run_path, store_run
from evaluation.runs.upload_files import drop_run_file, keep_run_file
from jobs.models import Job
from jobs.services import JobConflictError, enqueue
from lookalike.io.errors import InputError
from pooling.models import PoolCampaign

if TYPE_CHECKING:
    from lookalike.io.tables import Run as Scores

ADD_RUN_TASK = "evaluation.tasks.add_run"
HOLD_SCORES = "select pg_advisory_xact_lock(hashtextextended('run ' || %s, 0))"


def run_subject(campaign: Campaign) -> str:
    """Return what the jobs that add runs to a campaign start their subjects with."""
    return f"run:{campaign.slug}:"


def take_in_run(*, campaign: Campaign, owner: User, given: dict[str, Any]) -> Job:
    """Keep the files of a valid `RunForm` and queue their check; on failure nothing is kept.

    Args:
        campaign: what the run is scored on.
        owner: who may delete it later.
        given: the form's cleaned data.

    Raises:
        InputError: a file is too large, or the owner keeps too much already.
        JobConflictError: a run of that name is being checked.
        OSError: the disk does not take it.
    """
    kept: list[str] = []
    files = (given["file"], given["ids_file"])
    keys = ("name", "family", "description", "missing", "lower_is_better")
    details = {key: given[key] for key in keys}
    details |= {
        "file_name": str(given["file"].name),
        "ids_file_name": str(given["ids_file"].name) if given["ids_file"] else "",
    }
    try:
        for file in files:
            kept.append(keep_run_file(file) if file else "")
        with transaction.atomic():
            check_disk_quota(owner, sum(file.size for file in files if file))
            return request_run(
                campaign=campaign, owner=owner, file=kept[0], ids_file=kept[1], details=details
            )
    except (InputError, JobConflictError, OSError):
        for name in kept:
            drop_run_file(name)
        raise


def request_run(
    *, campaign: Campaign, owner: User, details: dict[str, Any], file: str, ids_file: str = ""
) -> Job:
    """Queue the check of an uploaded run.

    Args:
        campaign: what it is scored on.
        owner: who may delete it later.
        details: name, family, description, missing, lower_is_better, file_name and
            ids_file_name.
        file: from `keep_run_file`.
        ids_file: likewise, of the ids of a .npy.

    Raises:
        JobConflictError: a run of that name is being checked.
    """
    return enqueue(
        task=ADD_RUN_TASK,
        subject=f"{run_subject(campaign)}{details['name']}"[:200],
        title=f"Check the run “{details['name']}”",
        arguments={"campaign": campaign.pk, "owner": owner.pk, "file": file, "ids_file": ids_file,
                   **details},
        owner=owner,
    )  # fmt: skip


def name_problem(campaign: Campaign, name: str) -> str:
    """Return why a run cannot have this name, "" if it can."""
    if Run.objects.filter(campaign=campaign, name=name).exists():
        return f"There is a run “{name}” already. Choose another name, or delete that run first."
    link = PoolCampaign.objects.filter(campaign=campaign)
    if link.filter(pool__catalog__embedding_sets__spec=name).exists():
        return f"“{name}” is one of the embedded models. Choose another name."
    return ""


def add_run(
    *,
    campaign: Campaign,
    owner: User | None,
    scores: Scores,
    coverage: dict[str, Any],
    family: str = "",
    description: str = "",
    missing: str = "error",
) -> Run:
    """Store a checked run under its name and ask for an evaluation with it.

    Raises:
        InputError: the name is taken.
    """
    problem = name_problem(campaign, scores.name)
    if problem:
        raise InputError(problem)
    sha256 = store_run(scores)
    try:
        with transaction.atomic():
            _hold_scores(sha256)
            if not run_path(sha256).exists():  # the last run of them was deleted just now
                store_run(scores)
            run = Run.objects.create(
                campaign=campaign,
                name=scores.name,
                family=family,
                description=description,
                sha256=sha256,
                coverage=coverage,
                missing=missing,
                owner=owner,
            )
    except IntegrityError:
        raise InputError(name_problem(campaign, scores.name)) from None
    ask_for_evaluation(campaign=campaign, owner=owner)
    return run


@transaction.atomic
def delete_run(*, run: Run, by: User | None) -> None:
    """Delete a run and its scores; results that hold its numbers stay as they are."""
    sha256 = run.sha256
    campaign = run.campaign
    record(by, Action.RUN_DELETED, run, campaign=campaign.slug)
    run.delete()
    transaction.on_commit(lambda: _drop_unused_scores(sha256))
    ask_for_evaluation(campaign=campaign, owner=by)


@transaction.atomic
def _drop_unused_scores(sha256: str) -> None:
    """Delete stored scores unless a run has them."""
    _hold_scores(sha256)
    if not Run.objects.filter(sha256=sha256).exists():
        run_path(sha256).unlink(missing_ok=True)


def _hold_scores(sha256: str) -> None:
    """Let whoever adds or deletes a run of the same scores wait until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(HOLD_SCORES, [sha256])

"""The doors through which Celery calls freezes and scores."""

from __future__ import annotations

from celery import shared_task

from jobs.services import run_job
from releases.freeze.requests import FreezeRequest
from releases.restore.jobs import import_back as import_release
from releases.services import freeze as freeze_release
from releases.site.queries import FREEZE_TASK, IMPORT_TASK, SCORE_TASK
from releases.submissions.services import score as score_submission


@shared_task(name=FREEZE_TASK)
def freeze(job_uid: str) -> None:
    """Freeze the release that a job asks for."""
    run_job(
        job_uid,
        lambda progress: freeze_release(FreezeRequest.from_json(progress.job.arguments), progress),
    )


@shared_task(name=SCORE_TASK)
def score(job_uid: str) -> None:
    """Score the submission that a job names."""
    run_job(job_uid, score_submission)


@shared_task(name=IMPORT_TASK)
def import_back(job_uid: str) -> None:
    """Import the release or the labels that a job names."""
    run_job(job_uid, import_release)

"""Celery tasks: freeze releases, score submissions, import releases back."""

from __future__ import annotations

from typing import Any

from jobs.job_task import job_task
from jobs.services import JobProgress
from releases.freeze.requests import FreezeRequest
from releases.health.services import HEALTH_TASK, compare_versions
from releases.importing.jobs import import_back as import_release
from releases.services import freeze as freeze_release
from releases.site.queries import FREEZE_TASK, IMPORT_TASK, SCORE_TASK
from releases.submissions.services import score as score_submission

score = job_task(SCORE_TASK)(score_submission)
import_back = job_task(IMPORT_TASK)(import_release)
health = job_task(HEALTH_TASK)(compare_versions)


@job_task(FREEZE_TASK)
def freeze(progress: JobProgress) -> dict[str, Any]:
    """Freeze the release that a job asks for."""
    return freeze_release(FreezeRequest.from_json(progress.job.arguments), progress)

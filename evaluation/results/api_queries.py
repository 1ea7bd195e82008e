"""What the API reads about runs and results."""

from __future__ import annotations

import uuid

from django.db.models import QuerySet
from django.http import Http404

from accounts.models import User
from evaluation.models import Result, Run
from evaluation.results.queries import campaigns_seen_by
from evaluation.runs.services import ADD_RUN_TASK
from jobs.models import Job
from jobs.queries import visible_jobs


def results_seen_by(person: User) -> QuerySet[Result]:
    """Return the results that a reader may see, without their long tables."""
    results = Result.objects.filter(campaign__in=campaigns_seen_by(person).values("pk"))
    return results.select_related("campaign").defer("bias", "by_query")


def runs_seen_by(person: User) -> QuerySet[Run]:
    """Return the runs of the campaigns whose results a reader may see."""
    runs = Run.objects.filter(campaign__in=campaigns_seen_by(person).values("pk"))
    return runs.select_related("campaign", "owner")


def result_with(run: Run) -> Result | None:
    """Return the newest result that took this very run into account; None while there is none."""
    wanted = {f"run {run.name}": run.sha256}
    results = Result.objects.filter(campaign=run.campaign_id, inputs__contains=wanted)
    return results.defer("bias", "by_query").order_by("-id").first()


def find_upload(person: User, uid: uuid.UUID) -> Job:
    """Return the job that checks an upload.

    Raises:
        Http404: there is none, or it is somebody else's: both look alike.
    """
    job = visible_jobs(person).filter(task=ADD_RUN_TASK, uid=uid).first()
    if job is None:
        raise Http404
    return job

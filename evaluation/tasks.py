"""The doors through which Celery calls evaluations and checks of runs."""

from __future__ import annotations

from celery import shared_task

from annotation.models import Campaign
from evaluation.services import ADD_RUN_TASK, EVALUATE_TASK
from evaluation.work import check_upload, evaluate_again_if_runs_came, evaluate_campaign
from jobs.models import Job
from jobs.services import run_job


@shared_task(name=EVALUATE_TASK)
def evaluate(job_uid: str) -> None:
    """Evaluate the campaign that a job names."""
    job = Job.objects.get(uid=job_uid)
    campaign = Campaign.objects.get(pk=job.arguments["campaign"])
    run_job(job.uid, lambda progress: evaluate_campaign(campaign, progress))
    evaluate_again_if_runs_came(job)


@shared_task(name=ADD_RUN_TASK)
def add_run(job_uid: str) -> None:
    """Check the run that a job names."""
    job = Job.objects.get(uid=job_uid)
    run_job(job.uid, lambda progress: check_upload(job, progress))

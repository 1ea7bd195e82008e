"""The door through which Celery calls evaluations."""

from __future__ import annotations

from celery import shared_task

from annotation.models import Campaign
from evaluation.work import evaluate_campaign
from jobs.models import Job
from jobs.services import run_job


@shared_task(name="evaluation.tasks.evaluate")
def evaluate(job_uid: str) -> None:
    """Evaluate the campaign that a job names."""
    job = Job.objects.get(uid=job_uid)
    campaign = Campaign.objects.get(pk=job.arguments["campaign"])
    run_job(job.uid, lambda progress: evaluate_campaign(campaign, progress))

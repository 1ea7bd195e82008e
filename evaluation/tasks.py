"""The doors through which Celery calls evaluations and checks of runs."""

from __future__ import annotations

from celery import shared_task

from annotation.models import Campaign
from evaluation.below_pool.draw import draw_sample as draw
from evaluation.below_pool.services import SAMPLE_TASK
from evaluation.results.services import ADD_RUN_TASK, EVALUATE_TASK
from evaluation.results.work import check_upload, evaluate_again_if_runs_came, evaluate_campaign
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


@shared_task(name=SAMPLE_TASK)
def draw_sample(job_uid: str) -> None:
    """Draw the pairs below a pool that a job asks for."""
    job = Job.objects.select_related("owner").get(uid=job_uid)
    given = job.arguments
    campaign = Campaign.objects.get(pk=given["campaign"])
    run_job(
        job.uid,
        lambda progress: draw(
            campaign, progress, n_pairs=given["n_pairs"], aim=given["aim"], seed=given["seed"],
            owner=job.owner,
        ),
    )  # fmt: skip

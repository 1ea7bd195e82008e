"""Celery tasks: evaluate campaigns, check runs, draw pairs below a pool or for a round, plan."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from django.utils.module_loading import import_string

from annotation.models import Campaign
from evaluation.below_pool.services import SAMPLE_TASK
from evaluation.classes.services import TASK as CLASSES_TASK
from evaluation.classes.services import score_embedding_set
from evaluation.plan.services import PLAN_TASK
from evaluation.results.services import EVALUATE_TASK, evaluate_again_if_runs_came
from evaluation.rounds.services import LOOK_TASK
from evaluation.runs.services import ADD_RUN_TASK
from evaluation.study.services import STUDY_TASK
from evaluation.without_judge import comparison
from evaluation.without_judge.comparison import TASK as WITHOUT_TASK
from jobs.job_task import job_task, serve
from jobs.services import JobProgress


@job_task(EVALUATE_TASK, after=evaluate_again_if_runs_came)
def evaluate(progress: JobProgress) -> dict[str, Any]:
    """Evaluate the campaign that a job names."""
    campaign = Campaign.objects.get(pk=progress.job.arguments["campaign"])
    do = import_string("evaluation.results.evaluate_job.evaluate_campaign")  # loads torch
    found: dict[str, Any] = do(campaign, progress)
    return found


@job_task(ADD_RUN_TASK)
def add_run(progress: JobProgress) -> dict[str, Any]:
    """Check the run that a job names."""
    found: dict[str, Any] = import_string("evaluation.runs.upload_job.check_upload")(progress)
    return found


@job_task(WITHOUT_TASK)
def rank_without_judge(progress: JobProgress) -> dict[str, Any]:
    """Rank the models with and without the judge that a job names."""
    found: dict[str, Any] = comparison.rank_without_judge(progress)
    return found


@job_task(SAMPLE_TASK)
def draw_sample(progress: JobProgress) -> dict[str, Any]:
    """Draw the pairs below a pool that a job asks for."""
    arguments = dict(progress.job.arguments)
    campaign = Campaign.objects.get(pk=arguments.pop("campaign"))
    draw = import_string("evaluation.below_pool.draw.draw_sample")  # loads torch
    found: dict[str, Any] = draw(campaign, progress, owner=progress.job.owner, **arguments)
    return found


@job_task(PLAN_TASK)
def plan(progress: JobProgress) -> dict[str, Any]:
    """Try the designs out that a job asks about."""
    return serve("evaluation.plan.make_plan.make_plan", progress)


@job_task(STUDY_TASK)
def study(progress: JobProgress) -> dict[str, Any]:
    """Make the further study of a campaign."""
    return serve("evaluation.study.make_study.make_study", progress)


@job_task(LOOK_TASK)
def look(progress: JobProgress) -> dict[str, Any]:
    """Look at what is known after a round, and open the next one if that is asked for."""
    return serve("evaluation.rounds.look.look", progress)


@shared_task(name="evaluation.draft_planned_campaigns")
def draft_planned_campaigns() -> int:
    """Make the campaigns whose pools, made by a plan, are filled."""
    found: int = import_string("evaluation.plan.pool_services.draft_planned_campaigns")()
    return found


@shared_task(name="evaluation.look_at_rounds")
def look_at_rounds() -> int:
    """Queue looks after rounds that are done."""
    found: int = import_string("evaluation.rounds.look.look_at_rounds")()
    return found


@job_task(CLASSES_TASK)
def score_classes(progress: JobProgress) -> dict[str, Any]:
    """Score the embedding set that a job names on columns of its catalog."""
    return score_embedding_set(progress)

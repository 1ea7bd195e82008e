"""Start evaluations and store what they find. No heavy imports: pages call these."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from accounts.models import User
from annotation.models import Campaign
from evaluation.models import Result, Run
from evaluation.results.details import store_details
from evaluation.results.version import code_version
from jobs.models import Job, JobState
from jobs.services import JobConflictError, enqueue
from lookalike.core.dataclass_json import as_json

if TYPE_CHECKING:
    from evaluation.results.assessment import Assessment

EVALUATE_TASK = "evaluation.tasks.evaluate"


def evaluation_subject(campaign: Campaign) -> str:
    """Return what the jobs that evaluate a campaign are about."""
    return f"results:{campaign.slug}"


def request_evaluation(*, campaign: Campaign, owner: User | None) -> Job:
    """Queue an evaluation of the labels as they are when a worker takes it up.

    Raises:
        JobConflictError: one is queued or running.
    """
    return enqueue(
        task=EVALUATE_TASK,
        subject=evaluation_subject(campaign),
        title=f"Evaluate “{campaign.name}”",
        arguments={"campaign": campaign.pk},
        owner=owner,
    )


def store_result(*, campaign: Campaign, assessment: Assessment, job: Job | None) -> Result:
    """Store an assessment as a new result; earlier ones stay as they are."""
    return Result.objects.create(
        campaign=campaign,
        job=job,
        code_version=code_version(),
        inputs=assessment.inputs,
        settings=assessment.settings,
        summary=as_json(assessment.summary),
        bias=as_json(assessment.report) if assessment.report else {},
        by_query=as_json(assessment.by_query),
        details_sha256=store_details(assessment.details) if assessment.details else "",
    )


def ask_for_evaluation(*, campaign: Campaign, owner: User | None) -> None:
    """Queue an evaluation unless one is under way; that one asks again if it missed a run."""
    with suppress(JobConflictError):
        request_evaluation(campaign=campaign, owner=owner)


def runs_have_changed(campaign: Campaign, result: Result) -> bool:
    """Whether a result lacks a run, holds one that was deleted, or scored other contents."""
    scored = {
        name.removeprefix("run "): sha256
        for name, sha256 in result.inputs.items()
        if name.startswith("run ")
    }
    return scored != dict(Run.objects.filter(campaign=campaign).values_list("name", "sha256"))


def evaluate_again_if_runs_came(job: Job) -> None:
    """Queue another evaluation if runs were added or deleted while this one was under way."""
    if job.state != JobState.SUCCEEDED:
        return
    result = Result.objects.select_related("campaign").get(uid=job.result["result"])
    if runs_have_changed(result.campaign, result):
        ask_for_evaluation(campaign=result.campaign, owner=job.owner)

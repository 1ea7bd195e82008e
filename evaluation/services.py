"""Start evaluations and store what they find. No heavy imports: pages call these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.models import User
from annotation.models import Campaign
from evaluation.details import store_details
from evaluation.models import Result
from evaluation.version import code_version
from jobs.models import Job
from jobs.services import enqueue

if TYPE_CHECKING:
    from evaluation.assessment import Assessment

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
        summary=assessment.summary,
        bias=assessment.bias,
        by_query=assessment.by_query,
        details_sha256=store_details(assessment.details),
    )

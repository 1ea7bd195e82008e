"""Start evaluations and store what they find. No heavy imports: pages call these."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction

from accounts.models import User
from annotation.models import Campaign
from audit.actions import Action
from audit.services import record
from evaluation.models import Result, Run
from evaluation.results.details import store_details
from evaluation.results.version import code_version
from evaluation.runs.storage import run_path, store_run
from jobs.models import Job, JobState
from jobs.services import JobConflictError, enqueue
from lookalike.core.dataclass_json import as_json
from lookalike.io.errors import InputError
from pooling.models import PoolCampaign

if TYPE_CHECKING:
    from evaluation.results.assessment import Assessment
    from lookalike.io.tables import Run as Scores

EVALUATE_TASK = "evaluation.tasks.evaluate"
ADD_RUN_TASK = "evaluation.tasks.add_run"


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


def run_subject(campaign: Campaign) -> str:
    """Return what the jobs that add runs to a campaign start their subjects with."""
    return f"run:{campaign.slug}:"


def request_run(
    *, campaign: Campaign, owner: User, details: dict[str, str], file: str, ids_file: str = ""
) -> Job:
    """Queue the check of an uploaded run.

    Args:
        campaign: what it is scored on.
        owner: who may delete it later.
        details: name, family, description, missing, file_name and ids_file_name.
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
    if not Run.objects.filter(sha256=sha256).exists():
        transaction.on_commit(lambda: run_path(sha256).unlink(missing_ok=True))
    ask_for_evaluation(campaign=campaign, owner=by)


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

"""The job that evaluates a campaign, the same for a worker and a command."""

from __future__ import annotations

from typing import Any

from annotation.models import Campaign
from evaluation.models import RoundPlan
from evaluation.results.assessment import Assessment, assess
from evaluation.results.services import store_result
from evaluation.rounds.assessment import assess_rounds
from evaluation.rounds.progress import (
    find_plan,
    is_judged_in_part,
    rounds_progress,
    unfinished_problem,
)
from evaluation.rounds.services import store_look
from jobs.services import JobError, JobProgress
from lookalike.io.errors import InputError


def _store_look(plan: RoundPlan, assessment: Assessment, seed: int, progress: JobProgress) -> None:
    """Keep what is known after the last round; of a pool that is judged whole, too."""
    known = assessment.summary.rounds
    if known is None and not unfinished_problem(rounds_progress(plan)):
        known = assess_rounds(plan, seed=seed, progress=progress).summary.rounds
    if known is not None:
        store_look(campaign=plan.campaign, look=known)


def evaluate_campaign(
    campaign: Campaign, progress: JobProgress, *, seed: int = 0, n_bootstraps: int = 1000
) -> dict[str, Any]:
    """Evaluate, store the result, and return the job's result.

    Raises:
        JobError: there is nothing to evaluate; the message says what is missing.
    """
    plan = find_plan(campaign)
    try:
        if plan is not None and is_judged_in_part(campaign):
            assessment = assess_rounds(plan, seed=seed, progress=progress)
        else:
            assessment = assess(campaign, seed=seed, n_bootstraps=n_bootstraps, progress=progress)
    except InputError as problem:
        raise JobError(str(problem)) from problem
    progress.check()
    result = store_result(campaign=campaign, assessment=assessment, job=progress.job)
    if plan is not None:
        _store_look(plan, assessment, seed, progress)
    return {"result": str(result.uid), "campaign": campaign.slug, **result.summary}

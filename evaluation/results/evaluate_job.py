"""The job that evaluates a campaign, the same for a worker and a command."""

from __future__ import annotations

from typing import Any

from annotation.models import Campaign
from evaluation.results.assessment import assess
from evaluation.results.services import store_result
from jobs.services import JobError, JobProgress
from lookalike.io.errors import InputError


def evaluate_campaign(
    campaign: Campaign, progress: JobProgress, *, seed: int = 0, n_bootstraps: int = 1000
) -> dict[str, Any]:
    """Evaluate, store the result, and return the job's result.

    Raises:
        JobError: there is nothing to evaluate; the message says what is missing.
    """
    try:
        assessment = assess(campaign, seed=seed, n_bootstraps=n_bootstraps, progress=progress)
    except InputError as problem:
        raise JobError(str(problem)) from problem
    progress.check()
    result = store_result(campaign=campaign, assessment=assessment, job=progress.job)
    return {"result": str(result.uid), "campaign": campaign.slug, **result.summary}

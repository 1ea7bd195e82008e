"""The work of an evaluation job, the same for a worker and a command."""

from __future__ import annotations

from typing import Any

from annotation.models import Campaign
from evaluation.assessment import assess
from evaluation.errors import InputError
from evaluation.services import store_result
from jobs.services import JobError, Progress


def evaluate_campaign(
    campaign: Campaign, progress: Progress, *, seed: int = 0, n_bootstraps: int = 1000
) -> dict[str, Any]:
    """Evaluate, store the result, and return the job's result.

    Raises:
        JobError: there is nothing to evaluate; the message says what is missing.
    """

    def on_step(n_done: int, n_total: int, note: str) -> None:
        progress.update(n_done, n_total, note)

    try:
        found = assess(campaign, seed=seed, n_bootstraps=n_bootstraps, on_step=on_step)
    except InputError as problem:
        raise JobError(str(problem)) from problem
    progress.check()
    result = store_result(campaign=campaign, assessment=found, job=progress.job)
    return {"result": str(result.uid), "campaign": campaign.slug, **found.summary}

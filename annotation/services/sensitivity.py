"""How many labels models of the voters would change: reported, never used as labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from accounts.models import User
from annotation.models import Campaign
from annotation.queries.labels import labels, votes
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue
from lookalike.agreement.majority import MODELS
from lookalike.agreement.voter_models import posterior
from lookalike.agreement.votes import Votes

TASK = "annotation.tasks.compare_voter_models"
MODEL_NAMES = {"dawid-skene": "Dawid-Skene", "glad": "GLAD", "mace": "MACE"}


def job_subject(campaign: Campaign) -> str:
    """Return what the job works on, as the job table names it."""
    return f"campaign:{campaign.slug}"


def start_comparison(*, campaign: Campaign, by: User) -> Job:
    """Compare the labels with Dawid-Skene, GLAD and MACE in the background.

    Raises:
        JobConflictError: it is being done.
    """
    return enqueue(
        task=TASK,
        subject=job_subject(campaign),
        title=f"Compare the labels of “{campaign.name}” with models of its judges",
        arguments={"campaign": campaign.pk},
        owner=by,
    )


def compare(progress: JobProgress) -> dict[str, Any]:
    """Do the job: count the labels that each model of the judges would change.

    Raises:
        JobError: there is no vote yet.
    """
    campaign = Campaign.objects.get(pk=progress.job.arguments["campaign"])
    table = votes(campaign)
    if not table.query_ids.size:
        raise JobError("There is no vote yet.")
    pairs = np.stack([table.query_ids, table.candidate_ids], axis=1)
    unique, item_of = np.unique(pairs, axis=0, return_inverse=True)
    people, worker_of = np.unique(table.annotator_ids, return_inverse=True)
    unique_votes = Votes(
        items=[str(index) for index in range(len(unique))],
        workers=[str(person) for person in people],
        labels=["different", "similar"],
        item_of=item_of.reshape(-1),
        worker_of=worker_of,
        label_of=table.is_similar.astype(np.int64),
    )
    is_similar = _majority(campaign, unique)
    comparison: dict[str, Any] = {"n_pairs": len(unique), "n_judges": len(people), "models": []}
    for n_done, model in enumerate(MODELS):
        progress.update(n_done, len(MODELS), f"Fitting {MODEL_NAMES[model]}", is_long=True)
        says = posterior(unique_votes, model)[:, 1] > 0.5
        comparison["models"].append(
            {
                "model": model,
                "n_to_similar": int((says & ~is_similar).sum()),
                "n_to_different": int((~says & is_similar).sum()),
            }
        )
    progress.update(len(MODELS), len(MODELS), "")
    return comparison


def _majority(campaign: Campaign, pairs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the majority of each pair, ties being different, rulings left out of account."""
    table = labels(campaign, "negative")
    is_similar = dict(
        zip(
            zip(table.query_ids.tolist(), table.candidate_ids.tolist(), strict=True),
            (table.n_similar > table.n_different).tolist(),
            strict=True,
        )
    )
    return np.array([is_similar[tuple(pair)] for pair in pairs.tolist()], dtype=bool)

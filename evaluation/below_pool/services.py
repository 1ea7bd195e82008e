"""Ask for pairs below a campaign's pool, and put them to its judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from accounts.models import User
from annotation.errors import CampaignError
from annotation.models import Campaign, CampaignState
from annotation.services import add_questions
from evaluation.models import Sample, SampleAim, SampledPair
from jobs.models import Job
from jobs.services import enqueue
from lookalike.io.errors import InputError
from pooling.models import PoolCampaign

SAMPLE_TASK = "evaluation.tasks.draw_sample"
LEAST = 10
MOST = 20_000


def sample_subject(campaign: Campaign) -> str:
    """Return what the job that draws a campaign's sample is about."""
    return f"sample:{campaign.slug}"


def find_sample(campaign: Campaign) -> Sample | None:
    """Return the sample below a campaign's pool, if one was drawn."""
    return Sample.objects.filter(campaign=campaign).select_related("created_by").first()


def sampling_problem(campaign: Campaign) -> str:
    """Return why no pairs can be drawn below a campaign's pool, "" if they can."""
    if not PoolCampaign.objects.filter(campaign=campaign).exists():
        return "The campaign judges no pool, so there is nothing below it to draw from."
    if PoolCampaign.objects.filter(campaign=campaign, in_rounds=True).exists():
        return (
            "The campaign is judged in rounds: its labels are no plain sample of the pool, which "
            "these estimates need."
        )
    if Sample.objects.filter(campaign=campaign).exists():
        return "A sample was drawn already. It is frozen: two would change each other’s chances."
    if campaign.state == CampaignState.CLOSED:
        return "The campaign is closed; open it again before adding pairs."
    return ""


def request_sample(
    *, campaign: Campaign, n_pairs: int, aim: str, seed: int, owner: User | None
) -> Job:
    """Queue the draw.

    Raises:
        InputError: no pairs can be drawn, or the request makes no sense.
        JobConflictError: a draw is under way.
    """
    check_request(campaign, n_pairs, aim)
    return enqueue(
        task=SAMPLE_TASK,
        subject=sample_subject(campaign),
        title=f"Draw pairs below the pool of “{campaign.name}”",
        arguments={"campaign": campaign.pk, "n_pairs": n_pairs, "aim": aim, "seed": seed},
        owner=owner,
    )


def check_request(campaign: Campaign, n_pairs: int, aim: str) -> None:
    """Refuse what cannot be drawn.

    Raises:
        InputError: saying why.
    """
    problem = sampling_problem(campaign)
    if problem:
        raise InputError(problem)
    if not LEAST <= n_pairs <= MOST:
        raise InputError(f"{n_pairs} pairs cannot be drawn; ask for {LEAST} to {MOST:,}.")
    if aim not in SampleAim.values:
        raise InputError(f"unknown aim “{aim}”; known: {', '.join(SampleAim.values)}")


@transaction.atomic
def store_sample(
    *,
    campaign: Campaign,
    aim: str,
    seed: int,
    sources: dict[str, int],
    n_pool_pairs: int,
    strata: list[dict[str, Any]],
    pairs: Sequence[SampledPair],
    owner: User | None,
) -> Sample:
    """Freeze a draw and mix its pairs, not stored yet, into the judges' queues, both or neither.

    Raises:
        InputError: the campaign has a sample by now, or does not take pairs any more.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    problem = sampling_problem(Campaign.objects.get(pk=campaign.pk))
    if problem:
        raise InputError(problem)
    sample = Sample.objects.create(
        campaign=campaign, aim=aim, seed=seed, sources=sources, n_pool_pairs=n_pool_pairs,
        strata=strata, created_by=owner,
    )  # fmt: skip
    for pair in pairs:
        pair.sample = sample
    SampledPair.objects.bulk_create(pairs, batch_size=2000)
    try:
        add_questions(
            campaign=campaign, pairs=[(pair.query_id, pair.candidate_id) for pair in pairs]
        )
    except CampaignError as problem_found:
        raise InputError(str(problem_found)) from problem_found
    return sample

"""What result pages read."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from accounts.models import User
from annotation.models import Campaign, CampaignState, Judgement, QuestionKind
from evaluation.models import Result, Run
from evaluation.results.stored import StoredResult
from evaluation.runs.services import ADD_RUN_TASK, run_subject
from jobs.models import Job, JobState

MOST_JOBS = 5


def opened_campaigns() -> QuerySet[Campaign]:
    """Return the campaigns that were opened at least once, newest first."""
    judged = Judgement.objects.filter(  # by the judges' own index: they are fewer than the pairs
        member__campaign=OuterRef("pk"), question__kind=QuestionKind.PAIR
    )
    return (
        Campaign.objects.of_pairs()
        .exclude(state=CampaignState.DRAFT)
        .annotate(
            is_judged=Exists(judged),
            n_judges=Count("panel", filter=Q(panel__is_active=True), distinct=True),
        )
        .order_by("-id")
    )


def may_see(person: User, campaign: Campaign) -> bool:
    """Whether a reader may see what is computed from a campaign's labels."""
    return person.is_admin or not campaign.labels_hidden


def campaigns_seen_by(person: User) -> QuerySet[Campaign]:
    """Return the campaigns whose results a reader may see, newest first."""
    campaigns = opened_campaigns()
    return campaigns if person.is_admin else campaigns.filter(labels_hidden=False)


@dataclass(frozen=True)
class CampaignLine:
    """A campaign with its newest result, if there is one that the reader may see."""

    campaign: Campaign
    result: Result | None
    best: str
    is_shown: bool


def campaign_lines(person: User) -> list[CampaignLine]:
    """Return every campaign that can have results, with the newest of them for this reader."""
    newest = {
        result.campaign_id: result
        for result in Result.objects.order_by("campaign_id", "-id")
        .distinct("campaign_id")
        .defer("bias", "by_query")
    }
    lines = []
    for campaign in opened_campaigns():
        is_shown = may_see(person, campaign)
        result = newest.get(campaign.pk) if is_shown else None
        best = _best_model(result) if result else ""
        lines.append(CampaignLine(campaign, result, best, is_shown))
    return lines


def _best_model(result: Result, measure: str = "P@5") -> str:
    """Return the name of the model with the highest value of a measure."""
    models = StoredResult(result).summary.models
    values = ((model.value(measure), model.name) for model in models)
    known = [(value, name) for value, name in values if value is not None]
    return max(known, default=(0.0, ""))[1]


def latest_result(campaign: Campaign) -> Result | None:
    """Return the newest result of a campaign."""
    return Result.objects.filter(campaign=campaign).defer("by_query").order_by("-id").first()


def list_runs(campaign: Campaign) -> QuerySet[Run]:
    """Return the uploaded runs of a campaign, newest first."""
    return Run.objects.filter(campaign=campaign).select_related("owner").order_by("-id")


def has_votes(campaign: Campaign) -> bool:
    """Whether a pair has a vote that counts, or a ruling."""
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR)
    return (
        pairs.filter(judgements__is_counted=True).exists()
        or pairs.filter(adjudication__isnull=False).exists()
    )


def run_jobs(campaign: Campaign) -> list[Job]:
    """Return the newest check of each run name that is open, or has failed and stands."""
    jobs = Job.objects.filter(task=ADD_RUN_TASK, subject__startswith=run_subject(campaign))
    newest = jobs.order_by("subject", "-id").distinct("subject")
    wanted = [
        job
        for job in newest
        if job.is_open or (job.state == JobState.FAILED and not job.is_dismissed)
    ]
    return sorted(wanted, key=lambda job: -job.pk)[:MOST_JOBS]

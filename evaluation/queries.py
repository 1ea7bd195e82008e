"""What result pages read."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Campaign, CampaignState, Judgement, QuestionKind
from evaluation.models import Result, Run
from evaluation.services import ADD_RUN_TASK, EVALUATE_TASK, evaluation_subject, run_subject
from evaluation.services_samples import SAMPLE_TASK, sample_subject
from jobs.models import Job, JobState

MOST_JOBS = 5


def campaigns_with_judges() -> QuerySet[Campaign]:
    """Return the campaigns that were opened at least once, newest first."""
    judged = Judgement.objects.filter(
        question__campaign=OuterRef("pk"), question__kind=QuestionKind.PAIR
    )
    return (
        Campaign.objects.exclude(state=CampaignState.DRAFT)
        .annotate(
            is_judged=Exists(judged),
            n_judges=Count("panel", filter=Q(panel__is_active=True), distinct=True),
        )
        .order_by("-id")
    )


@dataclass(frozen=True)
class CampaignLine:
    """A campaign with its newest result, if there is one."""

    campaign: Campaign
    result: Result | None
    best: str


def campaign_lines() -> list[CampaignLine]:
    """Return every campaign that can have results, with the newest of them."""
    newest = {
        result.campaign_id: result
        for result in Result.objects.order_by("campaign_id", "-id")
        .distinct("campaign_id")
        .defer("bias", "by_query")
    }
    lines = []
    for campaign in campaigns_with_judges():
        result = newest.get(campaign.pk)
        lines.append(CampaignLine(campaign, result, _best_model(result) if result else ""))
    return lines


def _best_model(result: Result, measure: str = "vsd_hr@5") -> str:
    """Return the name of the model with the highest value of a measure."""
    values = [(m["measures"][measure]["value"], m["name"]) for m in result.summary["models"]]
    known = [(value, name) for value, name in values if value is not None]
    return max(known)[1] if known else ""


def latest_result(campaign: Campaign) -> Result | None:
    """Return the newest result of a campaign."""
    return Result.objects.filter(campaign=campaign).defer("by_query").order_by("-id").first()


def latest_evaluation(campaign: Campaign) -> Job | None:
    """Return the newest evaluation job of a campaign, whatever became of it."""
    subject = evaluation_subject(campaign)
    return Job.objects.filter(task=EVALUATE_TASK, subject=subject).order_by("-id").first()


def latest_draw(campaign: Campaign) -> Job | None:
    """Return the newest job that draws pairs below a campaign's pool, whatever became of it."""
    subject = sample_subject(campaign)
    return Job.objects.filter(task=SAMPLE_TASK, subject=subject).order_by("-id").first()


def runs_of(campaign: Campaign) -> QuerySet[Run]:
    """Return the uploaded runs of a campaign, newest first."""
    return Run.objects.filter(campaign=campaign).select_related("owner").order_by("-id")


def run_jobs(campaign: Campaign) -> list[Job]:
    """Return the newest check of each run name, unless it ended well or was called off."""
    jobs = Job.objects.filter(task=ADD_RUN_TASK, subject__startswith=run_subject(campaign))
    newest = jobs.order_by("subject", "-id").distinct("subject")
    wanted = [job for job in newest if job.is_open or job.state == JobState.FAILED]
    return sorted(wanted, key=lambda job: -job.pk)[:MOST_JOBS]

"""The API's routes about campaigns. Judges reach none of them: their answers must stay blind."""

from __future__ import annotations

import math
import uuid
from datetime import datetime
from typing import Annotated, Literal

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema
from pydantic import BeforeValidator

from accounts.access import signed_in
from annotation.models import Campaign, Judgement
from annotation.queries import labels
from annotation.queries.campaigns import CampaignRow, campaign_rows, campaigns_shown_to
from annotation.queries.judgements import list_judgements
from annotation.queries.quality import JudgeProgress, progress_by_judge
from api.access import reads, reads_judgements
from api.errors import errors
from api.paging import Page, PageQuery, Part, read_part
from audit.actions import Action
from audit.services import record
from lookalike.agreement.coefficients import Agreement

router = Router(tags=["Campaigns"], auth=reads)
Kind = Literal["pair", "gold", "repeat", "mirror", "training", "qualification"]


def _none_if_undefined(value: float) -> float | None:
    return None if math.isnan(value) else value


Figure = Annotated[float | None, BeforeValidator(_none_if_undefined)]


class CampaignOut(Schema):
    """A set of pairs put to a panel under one set of rules."""

    uid: uuid.UUID = Field(validation_alias="campaign.uid")
    slug: str = Field(validation_alias="campaign.slug")
    name: str = Field(validation_alias="campaign.name")
    state: str = Field(
        validation_alias="campaign.state", description="draft, open, paused or closed."
    )
    tie_rule: str = Field(
        validation_alias="campaign.tie_rule",
        description="What a tied vote means: negative or undecided.",
    )
    serving: str = Field(
        validation_alias="campaign.serving",
        description="everyone, or k_of_n of the panel judge each pair.",
    )
    k: int = Field(
        validation_alias="campaign.k",
        description="Votes wanted for each pair when k of n judge.",
    )
    is_simulated: bool = Field(
        validation_alias="campaign.is_simulated", description="At least one judge is a program."
    )
    n_pairs: int = Field(validation_alias="campaign.n_questions")
    n_judges: int
    n_done: int = Field(description="Answers given.")
    n_wanted: int = Field(
        validation_alias="n_total", description="Answers wanted; 0 while it is a draft."
    )
    created_at: datetime = Field(validation_alias="campaign.created_at")


class JudgeOut(Schema):
    """How far one judge is, by place on the panel."""

    judge: int = Field(validation_alias="member.number")
    is_active: bool = Field(validation_alias="member.is_active")
    n_done: int
    n_total: int
    last_answer_at: datetime | None = Field(validation_alias="last_answer")


class ProgressOut(Schema):
    """How far a campaign is."""

    state: str = Field(validation_alias="campaign.state")
    n_done: int
    n_wanted: int = Field(validation_alias="n_total")
    share_done: float
    judges: list[JudgeOut]

    @staticmethod
    def resolve_judges(row: CampaignRow) -> list[JudgeProgress]:
        return progress_by_judge(row.campaign)


class AgreementOut(Schema):
    """How much the panel agrees; null where a figure is not defined."""

    n_pairs: int = Field(
        validation_alias="n_questions",
        description="Pairs with at least two votes, over which the figures are.",
    )
    n_votes: int = Field(description="Votes on them.")
    percent: Figure = Field(description="Chance that two votes on a pair agree.")
    alpha: Figure = Field(description="Krippendorff's alpha.")
    ac1: Figure = Field(description="Gwet's AC1.")
    fleiss: Figure = Field(description="Fleiss' kappa; needs equally many votes a pair.")
    prevalence: Figure = Field(
        validation_alias="prevalence.1", description="Share of “similar” among all votes."
    )


class JudgementOut(Schema):
    """What one judge says about one pair now."""

    uid: uuid.UUID = Field(validation_alias="event.uuid")
    query: uuid.UUID = Field(validation_alias="question.query.uid")
    candidate: uuid.UUID = Field(validation_alias="question.candidate.uid")
    kind: str = Field(
        validation_alias="question.kind",
        description="pair, or a control: gold, repeat, mirror, …; only pairs vote.",
    )
    judge: int = Field(validation_alias="member.number", description="Place on the panel.")
    annotator: str = Field(validation_alias="member.annotator.username")
    answer: str = Field(description="similar, different, cant_tell or skip.")
    reason: str = Field(validation_alias="event.reason")
    is_surplus: bool = Field(description="Came after enough votes: kept, not counted.")
    guideline_version: int = Field(validation_alias="event.guideline_version")
    mode: str = Field(validation_alias="event.mode")
    device: str = Field(validation_alias="event.device")
    decided_at: datetime = Field(validation_alias="event.decided_at")
    visible_ms: int = Field(validation_alias="event.visible_ms")
    load_ms: int = Field(validation_alias="event.load_ms")


class JudgementQuery(Schema):
    """Which judgements are wanted."""

    kind: Kind | None = Field(None, description="Only of this kind of question.")


@router.get(
    "/campaigns", response={200: Page[CampaignOut], **errors(422)}, summary="List campaigns"
)
def campaigns(request: HttpRequest, page: Query[PageQuery]) -> Part[CampaignRow]:
    """Return the campaigns, newest first; drafts only to admins."""
    part = read_part(campaigns_shown_to(signed_in(request)), page, newest_first=True)
    rows = campaign_rows(Campaign.objects.filter(pk__in=[row.pk for row in part.items]))
    return Part(rows, part.next)


@router.get(
    "/campaigns/{slug:slug}", response={200: CampaignOut, **errors(404)}, summary="One campaign"
)
def campaign(request: HttpRequest, slug: str) -> CampaignRow:
    """Return a campaign with its rules and how much is done."""
    return _row(request, slug)


@router.get(
    "/campaigns/{slug:slug}/progress",
    response={200: ProgressOut, **errors(404)},
    summary="Progress of a campaign",
)
def progress(request: HttpRequest, slug: str) -> CampaignRow:
    """Return how far each judge is, without names."""
    return _row(request, slug)


@router.get(
    "/campaigns/{slug:slug}/agreement",
    response={200: AgreementOut, **errors(404)},
    summary="Agreement of a panel",
)
def agreement(request: HttpRequest, slug: str) -> Agreement:
    """Return the panel's agreement on the pairs that vote.

    Where labels are hidden, only to admins: figures of few pairs would tell them.
    """
    campaign = _row(request, slug).campaign
    if campaign.labels_hidden and not signed_in(request).is_admin:
        raise Http404
    return labels.agreement(campaign)


@router.get(
    "/campaigns/{slug:slug}/judgements",
    auth=reads_judgements,
    response={200: Page[JudgementOut], **errors(404, 422)},
    summary="Judgements of a campaign",
)
def judgements(
    request: HttpRequest, slug: str, wanted: Query[JudgementQuery], page: Query[PageQuery]
) -> Part[Judgement]:
    """Return the answers that stand, in the order in which they came. For admins."""
    campaign = get_object_or_404(campaigns_shown_to(signed_in(request)), slug=slug)
    if not page.after:  # one line for a whole list, however many parts it is read in
        record(request, Action.EXPORTED, campaign, what="judgements", format="json")
    return read_part(list_judgements(campaign, kind=wanted.kind or ""), page)


def _row(request: HttpRequest, slug: str) -> CampaignRow:
    """Return a campaign that this person may know, or answer 404."""
    campaign = get_object_or_404(campaigns_shown_to(signed_in(request)), slug=slug)
    return campaign_rows(Campaign.objects.filter(pk=campaign.pk))[0]

"""The API's routes about campaigns. Judges reach none of them: their answers must stay blind."""

from __future__ import annotations

import math
import uuid
from datetime import datetime
from typing import Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema

from accounts.access import signed_in
from annotation.models import Campaign, Judgement
from annotation.queries import labels
from annotation.queries.campaigns import CampaignRow, campaign_rows, campaigns_shown_to
from annotation.queries.judgements import judgements_of
from annotation.queries.quality import progress_by_judge
from api.access import reads, reads_judgements
from api.errors import errors
from api.paging import Page, PageQuery, part_of

router = Router(tags=["Campaigns"], auth=reads)
Kind = Literal["pair", "gold", "repeat", "mirror", "training", "qualification"]


class CampaignOut(Schema):
    """A set of pairs put to a panel under one set of rules."""

    uid: uuid.UUID
    slug: str
    name: str
    state: str = Field(description="draft, open, paused or closed.")
    tie_rule: str = Field(description="What a tied vote means: negative or undecided.")
    serving: str = Field(description="everyone, or k_of_n of the panel judge each pair.")
    k: int = Field(description="Votes wanted for each pair when k of n judge.")
    is_simulated: bool = Field(description="At least one judge is a program.")
    n_pairs: int
    n_judges: int
    n_done: int = Field(description="Answers given.")
    n_wanted: int = Field(description="Answers wanted; 0 while it is a draft.")
    created_at: datetime


class JudgeOut(Schema):
    """How far one judge is, by place on the panel."""

    judge: int
    is_active: bool
    n_done: int
    n_total: int
    last_answer_at: datetime | None


class ProgressOut(Schema):
    """How far a campaign is."""

    state: str
    n_done: int
    n_wanted: int
    share_done: float
    judges: list[JudgeOut]


class AgreementOut(Schema):
    """How much the panel agrees; null where a figure is not defined."""

    n_pairs: int = Field(description="Pairs with at least two votes, over which the figures are.")
    n_votes: int = Field(description="Votes on them.")
    percent: float | None = Field(description="Chance that two votes on a pair agree.")
    alpha: float | None = Field(description="Krippendorff's alpha.")
    ac1: float | None = Field(description="Gwet's AC1.")
    fleiss: float | None = Field(description="Fleiss' kappa; needs equally many votes a pair.")
    prevalence: float | None = Field(description="Share of “similar” among all votes.")


class JudgementOut(Schema):
    """What one judge says about one pair now."""

    uid: uuid.UUID
    query: uuid.UUID
    candidate: uuid.UUID
    kind: str = Field(description="pair, or a control: gold, repeat, mirror, …; only pairs vote.")
    judge: int = Field(description="Place on the panel.")
    annotator: str
    answer: str = Field(description="similar, different, cant_tell or skip.")
    reason: str
    is_surplus: bool = Field(description="Came after enough votes: kept, not counted.")
    guideline_version: int
    mode: str
    device: str
    decided_at: datetime
    visible_ms: int
    load_ms: int


class JudgementQuery(Schema):
    """Which judgements are wanted."""

    kind: Kind | None = Field(None, description="Only of this kind of question.")


@router.get(
    "/campaigns", response={200: Page[CampaignOut], **errors(422)}, summary="List campaigns"
)
def campaigns(request: HttpRequest, page: Query[PageQuery]) -> dict[str, object]:
    """Return the campaigns, newest first; drafts only to admins."""
    part = part_of(campaigns_shown_to(signed_in(request)), page, newest_first=True)
    rows = campaign_rows(Campaign.objects.filter(pk__in=[row.pk for row in part.rows]))
    return {"items": [_shown(row) for row in rows], "next": part.next}


@router.get(
    "/campaigns/{slug:slug}", response={200: CampaignOut, **errors(404)}, summary="One campaign"
)
def campaign(request: HttpRequest, slug: str) -> CampaignOut:
    """Return a campaign with its rules and how much is done."""
    return _shown(_row(request, slug))


@router.get(
    "/campaigns/{slug:slug}/progress",
    response={200: ProgressOut, **errors(404)},
    summary="Progress of a campaign",
)
def progress(request: HttpRequest, slug: str) -> ProgressOut:
    """Return how far each judge is, without names."""
    row = _row(request, slug)
    judges = [
        JudgeOut(
            judge=one.member.number,
            is_active=one.member.is_active,
            n_done=one.n_done,
            n_total=one.n_total,
            last_answer_at=one.last_answer,
        )
        for one in progress_by_judge(row.campaign)
    ]
    return ProgressOut(
        state=row.campaign.state,
        n_done=row.n_done,
        n_wanted=row.n_total,
        share_done=row.share_done,
        judges=judges,
    )


@router.get(
    "/campaigns/{slug:slug}/agreement",
    response={200: AgreementOut, **errors(404)},
    summary="Agreement of a panel",
)
def agreement(request: HttpRequest, slug: str) -> AgreementOut:
    """Return the panel's agreement on the pairs that vote."""
    found = labels.agreement(_row(request, slug).campaign)
    return AgreementOut(
        n_pairs=found.n_questions,
        n_votes=found.n_votes,
        percent=_defined(found.percent),
        alpha=_defined(found.alpha),
        ac1=_defined(found.ac1),
        fleiss=_defined(found.fleiss),
        prevalence=_defined(found.prevalence[1]),
    )


@router.get(
    "/campaigns/{slug:slug}/judgements",
    auth=reads_judgements,
    response={200: Page[JudgementOut], **errors(404, 422)},
    summary="Judgements of a campaign",
)
def judgements(
    request: HttpRequest, slug: str, wanted: Query[JudgementQuery], page: Query[PageQuery]
) -> dict[str, object]:
    """Return the answers that stand, in the order in which they came. For admins."""
    campaign = get_object_or_404(campaigns_shown_to(signed_in(request)), slug=slug)
    part = part_of(judgements_of(campaign, kind=wanted.kind or ""), page)
    return {"items": [_shown_judgement(one) for one in part.rows], "next": part.next}


def _row(request: HttpRequest, slug: str) -> CampaignRow:
    """Return a campaign that this person may know, or answer 404."""
    found = get_object_or_404(campaigns_shown_to(signed_in(request)), slug=slug)
    return campaign_rows(Campaign.objects.filter(pk=found.pk))[0]


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _shown(row: CampaignRow) -> CampaignOut:
    campaign = row.campaign
    return CampaignOut(
        uid=campaign.uid,
        slug=campaign.slug,
        name=campaign.name,
        state=campaign.state,
        tie_rule=campaign.tie_rule,
        serving=campaign.serving,
        k=campaign.k,
        is_simulated=campaign.is_simulated,
        n_pairs=campaign.n_questions,
        n_judges=row.n_judges,
        n_done=row.n_done,
        n_wanted=row.n_total,
        created_at=campaign.created_at,
    )


def _shown_judgement(judgement: Judgement) -> JudgementOut:
    question, event = judgement.question, judgement.event
    return JudgementOut(
        uid=event.uuid,
        query=question.query.uid,
        candidate=question.candidate.uid,
        kind=question.kind,
        judge=judgement.member.number,
        annotator=judgement.member.annotator.username,
        answer=judgement.answer,
        reason=event.reason,
        is_surplus=judgement.is_surplus,
        guideline_version=event.guideline_version,
        mode=event.mode,
        device=event.device,
        decided_at=event.decided_at,
        visible_ms=event.visible_ms,
        load_ms=event.load_ms,
    )

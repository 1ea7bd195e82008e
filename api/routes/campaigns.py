"""The API's routes about campaigns. Judges reach none of them: their answers must stay blind."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema
from pydantic import BeforeValidator

from accounts.access import signed_in
from annotation.queries.campaigns import agreement_report, campaigns_shown_to
from annotation.queries.numbers import CampaignNumbers, campaign_numbers, numbers_of
from api.access import reads
from api.errors import ApiError, errors
from api.paging import Page, PageQuery, Part, read_part
from lookalike.agreement.coefficients import Agreement

router = Router(tags=["Campaigns"], auth=reads)
Kind = Literal["pair", "gold", "repeat", "mirror", "training", "qualification"]


def _none_if_undefined(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


Figure = Annotated[float | None, BeforeValidator(_none_if_undefined)]


class CampaignOut(Schema):
    """A set of pairs, templates or triplets put to a panel under one set of rules."""

    uid: uuid.UUID = Field(validation_alias="campaign.uid")
    slug: str = Field(validation_alias="campaign.slug")
    name: str = Field(validation_alias="campaign.name")
    state: str = Field(
        validation_alias="campaign.state", description="draft, open, paused or closed."
    )
    task_kind: str = Field(
        validation_alias="campaign.task_kind",
        description="What is asked about: pair, template or triplet.",
    )
    tie_rule: str = Field(
        validation_alias="campaign.tie_rule",
        description="What a tied vote means: negative or undecided.",
    )
    grades: list[str] = Field(
        description="Words of the grades from 0; none where a pair is similar or different."
    )
    similar_from: int | None = Field(
        description="The least grade that counts as similar; null without grades."
    )
    notion: str = Field(
        validation_alias="campaign.notion",
        description="In what pictures are compared, as judges read it; empty: as a whole.",
    )
    notion_model: str = Field(
        validation_alias="campaign.notion_model",
        description="Spec of the learned model of that notion; may be empty.",
    )
    notion_prompts: list[str] = Field(
        validation_alias="campaign.asked_notion.prompts", description="What it was fitted to."
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
    n_pairs: int = Field(
        validation_alias="campaign.n_questions", description="Pairs, templates or triplets."
    )
    n_judges: int
    n_answers: int = Field(description="Answers that stand, to questions of every kind.")
    n_votes: int = Field(description="Answers to pairs that count for labels.")
    n_excluded: int = Field(description="Answers that an admin has excluded from counting.")
    n_done: int = Field(description="What is done: answers, or votes where k of n judge.")
    n_wanted: int = Field(
        validation_alias="n_total", description="As many of them are wanted; 0 of a draft."
    )
    created_at: datetime = Field(validation_alias="campaign.created_at")

    @staticmethod
    def resolve_grades(row: CampaignNumbers) -> list[str]:
        """Return the words of the grades."""
        return list(scale.words) if (scale := row.campaign.kind.scale) else []

    @staticmethod
    def resolve_similar_from(row: CampaignNumbers) -> int | None:
        """Return the threshold."""
        return scale.similar_from if (scale := row.campaign.kind.scale) else None


class JudgeOut(Schema):
    """How far one judge is, by place on the panel."""

    judge: int = Field(validation_alias="member.number")
    is_active: bool = Field(validation_alias="member.is_active")
    is_paused: bool = Field(validation_alias="member.is_paused")
    n_done: int = Field(validation_alias="n_answers", description="Answers that stand.")
    n_total: int = Field(description="Answers wanted, or lent so far where k of n judge.")
    n_votes: int = Field(description="Of these answers, those that count for labels.")
    n_excluded: int
    last_answer_at: datetime | None = Field(validation_alias="last_answer")


class ProgressOut(Schema):
    """How far a campaign is."""

    state: str = Field(validation_alias="campaign.state")
    n_answers: int
    n_votes: int
    n_excluded: int
    n_done: int = Field(description="Answers, or votes where k of n judge.")
    n_wanted: int = Field(validation_alias="n_total")
    share_done: float
    judges: list[JudgeOut]


GRADED = ("ordinal_alpha", "within_one")


@dataclass(frozen=True)
class PanelAgreement(Agreement):
    """Agreement with that on grades, None where there are none."""

    ordinal_alpha: float | None
    within_one: float | None
    intervals: Mapping[str, Any]


class IntervalOut(Schema):
    """A 95 % interval, null where none is valid, then with the reason."""

    low: float | None
    high: float | None
    reason: str | None = None


class IntervalsOut(Schema):
    """The intervals of a coefficient; queries of one product count as one."""

    items: IntervalOut = Field(description="Over other queries, judged by the same judges.")
    items_and_judges: IntervalOut = Field(description="Over other queries and other judges.")


class AgreementOut(Schema):
    """How much the panel agrees; null where a figure is not defined.

    All but the last two are of similar and different, by the threshold where pairs are graded.
    """

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
    ordinal_alpha: Figure = Field(
        None, description="Krippendorff's ordinal alpha of the grades; null without grades."
    )
    within_one: Figure = Field(
        None, description="Chance that two grades of a pair differ by one at most; likewise."
    )
    intervals: dict[str, IntervalsOut] = Field(
        description="Of each coefficient by name; those of grades only where pairs are graded."
    )


@router.get(
    "/campaigns", response={200: Page[CampaignOut], **errors(422)}, summary="List campaigns"
)
def campaigns(request: HttpRequest, page: Query[PageQuery]) -> Part[CampaignNumbers]:
    """Return the campaigns, newest first; drafts only to admins."""
    part = read_part(campaigns_shown_to(signed_in(request)), page, newest_first=True)
    return Part(campaign_numbers(part.items), part.next)


@router.get(
    "/campaigns/{slug:slug}", response={200: CampaignOut, **errors(404)}, summary="One campaign"
)
def campaign(request: HttpRequest, slug: str) -> CampaignNumbers:
    """Return a campaign with its rules and how much is done."""
    return _row(request, slug)


@router.get(
    "/campaigns/{slug:slug}/progress",
    response={200: ProgressOut, **errors(404)},
    summary="Progress of a campaign",
)
def progress(request: HttpRequest, slug: str) -> CampaignNumbers:
    """Return how far each judge is, without names."""
    return _row(request, slug)


@router.get(
    "/campaigns/{slug:slug}/agreement",
    response={200: AgreementOut, **errors(404, 409)},
    summary="Agreement of a panel",
)
def agreement(request: HttpRequest, slug: str) -> PanelAgreement:
    """Return the panel's agreement on the pairs that vote; 409 where none are asked.

    Where labels are hidden, only to admins: figures of few pairs would tell them.
    """
    campaign = _row(request, slug).campaign
    if campaign.kind.is_choice:
        raise ApiError(
            409, "conflict", "It asks about no pairs; a template or triplet set tells its results."
        )
    if campaign.labels_hidden and not signed_in(request).is_admin:
        raise Http404
    report = agreement_report(campaign)
    graded, of_grades = report.grades, report.grade_intervals or {}
    intervals = {name: report.intervals[name] for name in ("percent", "alpha", "ac1", "fleiss")}
    intervals |= {name: of for name, of in of_grades.items() if name in GRADED}
    return PanelAgreement(
        **vars(report.figures),
        ordinal_alpha=graded.alpha if graded else None,
        within_one=graded.within_one if graded else None,
        intervals={name: of.as_json() for name, of in intervals.items()},
    )


def _row(request: HttpRequest, slug: str) -> CampaignNumbers:
    """Return a campaign that this person may know, or answer 404."""
    campaign = get_object_or_404(campaigns_shown_to(signed_in(request)), slug=slug)
    return numbers_of(campaign)

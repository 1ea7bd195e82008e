"""The API's routes with which admins review what judges answered, and pause a judge."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema
from pydantic import StringConstraints

from accounts.access import signed_in
from annotation.errors import CampaignError
from annotation.models import Campaign, PanelMember
from annotation.queries.campaigns import campaigns_shown_to
from annotation.queries.reviewing.judgements import (
    JudgementRow,
    answer_words,
    is_answer,
    list_judgements,
    with_subjects,
)
from annotation.services import count_again, exclude_answers, pause_judge, resume_judge
from api.access import reads, reads_judgements, reviews_judgements
from api.errors import ApiError, Detail, errors
from api.paging import Page, PageQuery, Part, Text, read_part
from api.routes.campaigns import Kind
from audit.services import record_part
from lookalike.agreement.grades import NO_GRADE, grade_of

router = Router(tags=["Campaigns"], auth=reads)


class JudgementOut(Schema):
    """What one judge says about one pair, template or triplet now."""

    uid: uuid.UUID = Field(validation_alias="judgement.event.uuid")
    query: uuid.UUID = Field(validation_alias="judgement.question.query.uid")
    candidate: uuid.UUID = Field(validation_alias="judgement.question.candidate.uid")
    subject: uuid.UUID | None = Field(
        description="The template or triplet, by its uid in its set; null for a pair."
    )
    condition: str = Field(description="What the judge is to look at; empty for all.")
    choices: list[uuid.UUID] = Field(description="Images to pick from, by place; none of a pair.")
    picked: uuid.UUID | None = Field(description="The image that was picked, if one was.")
    kind: str = Field(
        validation_alias="judgement.question.kind",
        description="pair, or a control: gold, repeat, mirror, …; only pairs vote.",
    )
    judge: int = Field(
        validation_alias="judgement.member.number", description="Place on the panel."
    )
    annotator: str = Field(validation_alias="judgement.member.annotator.username")
    answer: str = Field(
        description="Of a pair similar or different. Of a template or triplet pick:N, the image "
        "at place N (from 0) of `choices`, or of a template none, several or bad_condition. "
        "Of all cant_tell (but templates) and skip.",
    )
    grade: int | None = Field(description="Where pairs are graded and this is a vote, the grade.")
    reason: str = Field(validation_alias="judgement.event.reason")
    is_surplus: bool = Field(
        validation_alias="judgement.is_surplus",
        description="Came after enough votes: kept, not counted.",
    )
    is_excluded: bool = Field(
        validation_alias="judgement.is_excluded", description="Excluded from counting by an admin."
    )
    is_counted: bool = Field(
        validation_alias="judgement.is_counted",
        description="A vote that counts, of a pair for its label.",
    )
    guideline_version: int = Field(validation_alias="judgement.event.guideline_version")
    mode: str = Field(validation_alias="judgement.event.mode")
    device: str = Field(validation_alias="judgement.event.device")
    decided_at: datetime = Field(validation_alias="judgement.event.decided_at")
    visible_ms: int = Field(validation_alias="judgement.event.visible_ms")
    load_ms: int = Field(validation_alias="judgement.event.load_ms")

    @staticmethod
    def resolve_answer(row: JudgementRow) -> str:
        """Return the answer without its grade."""
        answer = row.judgement.answer
        return answer if grade_of(answer) == NO_GRADE else answer.partition(":")[0]

    @staticmethod
    def resolve_grade(row: JudgementRow) -> int | None:
        """Return the grade, if there is one."""
        return None if (grade := grade_of(row.judgement.answer)) == NO_GRADE else grade


class JudgementQuery(Schema):
    """Which judgements are wanted."""

    kind: Kind | None = Field(None, description="Only of this kind of question.")
    judge: int | None = Field(
        None, ge=1, le=2**15 - 1, description="Only of the judge with this place on the panel."
    )
    answer: Annotated[Text, StringConstraints(min_length=1, max_length=15)] | None = Field(
        None, description="Only with this answer, one of the campaign's kind."
    )
    is_excluded: bool | None = Field(
        None, description="Only those that an admin has excluded, or only the others."
    )


@router.get(
    "/campaigns/{slug:slug}/judgements",
    auth=reads_judgements,
    response={200: Page[JudgementOut], **errors(404, 422)},
    summary="Judgements of a campaign",
)
def judgements(
    request: HttpRequest, slug: str, wanted: Query[JudgementQuery], page: Query[PageQuery]
) -> Part[JudgementRow]:
    """Return the answers that stand, in the order in which they came. For admins."""
    campaign = get_object_or_404(campaigns_shown_to(signed_in(request)), slug=slug)
    if wanted.answer and not is_answer(campaign, wanted.answer):
        told = f"Answers to a {campaign.kind.noun} are {answer_words(campaign)}."
        detail = Detail(where="query.answer", message=told)
        raise ApiError(422, "invalid_request", "There is no such answer.", details=[detail])
    record_part(request, campaign, what="judgements", is_first=not page.after)
    part = read_part(list_judgements(campaign, **wanted.dict(exclude_none=True)), page)
    return Part(with_subjects(campaign, part.items), part.next)


class ExclusionIn(Schema):
    """Judgements that are not to count."""

    judgements: list[uuid.UUID] = Field(min_length=1, max_length=500)
    reason: Annotated[Text, StringConstraints(min_length=1, max_length=500)]
    asks_again: bool = Field(False, description="Also put the questions before their judges again.")


class CountedIn(Schema):
    """Judgements that are to count again."""

    judgements: list[uuid.UUID] = Field(min_length=1, max_length=500)


class ChangedOut(Schema):
    """How many judgements were changed."""

    n: int


@router.post(
    "/campaigns/{slug:slug}/judgements/exclude",
    auth=reviews_judgements,
    response={200: ChangedOut, **errors(400, 404, 409, 422)},
    summary="Exclude judgements from counting",
)
def exclude(request: HttpRequest, slug: str, given: ExclusionIn) -> dict[str, int]:
    """Let judgements not count for votes, labels, quality and releases, until counted again.

    An exclusion holds for one judgement: what the judge answers afterwards counts. For admins.
    """
    campaign = get_object_or_404(Campaign, slug=slug)
    with _refusals():
        n = exclude_answers(
            campaign=campaign,
            events=given.judgements,
            reason=given.reason,
            by=signed_in(request),
            asks_again=given.asks_again,
        )
    return {"n": n}


@router.post(
    "/campaigns/{slug:slug}/judgements/count",
    auth=reviews_judgements,
    response={200: ChangedOut, **errors(400, 404, 409, 422)},
    summary="Count excluded judgements again",
)
def count(request: HttpRequest, slug: str, given: CountedIn) -> dict[str, int]:
    """End the exclusion of judgements, as if it had never been. For admins."""
    campaign = get_object_or_404(Campaign, slug=slug)
    with _refusals():
        n = count_again(campaign=campaign, events=given.judgements, by=signed_in(request))
    return {"n": n}


class PauseIn(Schema):
    """Why a judge is paused."""

    reason: Annotated[Text, StringConstraints(min_length=1, max_length=500)]


class PausedOut(Schema):
    """Whether a judge is paused."""

    judge: int
    is_paused: bool


@router.post(
    "/campaigns/{slug:slug}/judges/{int:number}/pause",
    auth=reviews_judgements,
    response={200: PausedOut, **errors(400, 404, 409, 422)},
    summary="Pause a judge",
)
def pause(request: HttpRequest, slug: str, number: int, given: PauseIn) -> dict[str, object]:
    """Give a judge nothing more and take no answer, until they are let go on. For admins."""
    member = _member(slug, number)
    with _refusals():
        pause_judge(member=member, reason=given.reason, by=signed_in(request))
    return {"judge": number, "is_paused": True}


@router.post(
    "/campaigns/{slug:slug}/judges/{int:number}/resume",
    auth=reviews_judgements,
    response={200: PausedOut, **errors(404, 409, 422)},
    summary="Let a paused judge go on",
)
def resume(request: HttpRequest, slug: str, number: int) -> dict[str, object]:
    """Let a paused judge go on where they were. For admins."""
    member = _member(slug, number)
    with _refusals():
        resume_judge(member=member, by=signed_in(request))
    return {"judge": number, "is_paused": False}


def _member(slug: str, number: int) -> PanelMember:
    """Return a judge by the place on the panel, or answer 404."""
    members = PanelMember.objects.select_related("campaign", "annotator")
    return get_object_or_404(members, campaign__slug=slug, number=min(number, 2**15 - 1))


@contextmanager
def _refusals() -> Iterator[None]:
    """Answer 409 where the campaign refuses."""
    try:
        yield
    except CampaignError as problem:
        raise ApiError(409, "conflict", str(problem)) from problem

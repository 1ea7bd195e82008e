"""The API's routes about what judges ask while they judge. For admins: judges reach none of it."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema
from pydantic import AwareDatetime, StringConstraints

from accounts.access import signed_in
from annotation.errors import CampaignError
from annotation.models import MAX_COMMENT, Campaign, Comment
from annotation.queries.comments import CommentFilter, list_comments
from annotation.services import reply_to_comment
from api.access import reads_judgements, reviews_judgements
from api.errors import ApiError, errors
from api.paging import Page, PageQuery, Part, Text, read_part
from audit.services import record_part

router = Router(tags=["Campaigns"])
State = Literal["open", "answered", "withdrawn"]


class CommentOut(Schema):
    """What a judge asked about one pair, template or triplet, and the reply."""

    uid: uuid.UUID = Field(validation_alias="uuid")
    query: uuid.UUID = Field(
        validation_alias="question.query.uid",
        description="Of a template its reference, of a triplet its anchor.",
    )
    candidate: uuid.UUID = Field(validation_alias="question.candidate.uid")
    judge: int = Field(validation_alias="member.number", description="Place on the panel.")
    annotator: str = Field(validation_alias="member.annotator.username")
    text: str = Field(description="Empty: the judge flagged it without words.")
    state: State
    guideline_version: int = Field(description="That the judge had read.")
    made_at: datetime
    received_at: datetime
    reply: str
    replied_by: str | None
    replied_at: datetime | None
    new_version: int | None = Field(description="Of the guidelines, made with the reply.")
    seen_at: datetime | None = Field(description="When the judge saw the reply.")

    @staticmethod
    def resolve_state(comment: Comment) -> State:
        """Return where the comment stands."""
        if comment.withdrawn_at is not None:
            return "withdrawn"
        return "open" if comment.replied_at is None else "answered"

    @staticmethod
    def resolve_replied_by(comment: Comment) -> str | None:
        """Return who replied, if the account is still there."""
        return comment.replied_by.username if comment.replied_by else None


class CommentQuery(Schema):
    """Which comments are wanted."""

    state: State | None = Field(None, description="Only those that stand so.")
    judge: int | None = Field(
        None, ge=1, le=2**15 - 1, description="Only of the judge with this place on the panel."
    )
    query: uuid.UUID | None = Field(None, description="Only about this query, by its image's uid.")


class ReplyIn(Schema):
    """What the judge is to read."""

    reply: Annotated[
        Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_COMMENT)
    ]
    replaces: AwareDatetime | None = Field(
        None, description="`replied_at` of the reply that it takes the place of, if there is one."
    )


@router.get(
    "/campaigns/{slug:slug}/comments",
    auth=reads_judgements,
    response={200: Page[CommentOut], **errors(404, 422)},
    summary="Comments of judges",
)
def comments(
    request: HttpRequest, slug: str, wanted: Query[CommentQuery], page: Query[PageQuery]
) -> Part[Comment]:
    """Return what judges asked, newest first. For admins."""
    asked = CommentFilter(wanted.state or "", wanted.judge, wanted.query)
    campaign = get_object_or_404(Campaign, slug=slug)
    record_part(request, campaign, what="comments", is_first=not page.after)
    return read_part(_comments(slug, asked), page, newest_first=True)


@router.post(
    "/campaigns/{slug:slug}/comments/{uuid:uid}/reply",
    auth=reviews_judgements,
    response={200: CommentOut, **errors(400, 404, 409, 422)},
    summary="Reply to a comment",
)
def reply(request: HttpRequest, slug: str, uid: uuid.UUID, given: ReplyIn) -> Comment:
    """Reply to a judge, who reads it before the next question; 409 if somebody else has replied.

    What is a rule for all belongs into the guidelines, on the comment's page. For admins.
    """
    found = get_object_or_404(_comments(slug, CommentFilter("")), uuid=uid)
    replaced, stored = given.replaces, found.replied_at
    if replaced and stored and _in_milliseconds(replaced) == _in_milliseconds(stored):
        replaced = stored
    try:
        reply_to_comment(
            campaign=found.question.campaign, comment=uid, reply=given.reply,
            by=signed_in(request), last_reply_at=replaced,
        )  # fmt: skip
    except CampaignError as problem:
        raise ApiError(409, "conflict", str(problem)) from problem
    return get_object_or_404(_comments(slug, CommentFilter("")), uuid=uid)


def _in_milliseconds(moment: datetime) -> int:
    """Return a moment as precisely as JSON tells it."""
    return int(moment.timestamp() * 1000)


def _comments(slug: str, wanted: CommentFilter) -> QuerySet[Comment]:
    """Return comments of a campaign, or answer 404 where there is none."""
    campaign = get_object_or_404(Campaign, slug=slug)
    return list_comments(campaign, wanted).select_related(
        "question__campaign", "question__query", "question__candidate", "member__annotator",
        "replied_by",
    )  # fmt: skip

"""Judges' comments: as their judge sees them, and as admins do, in the judge's own blind view."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from annotation.models import Campaign, Comment
from annotation.queries.judges import Judge
from catalog.models import Image
from lookalike.conditional.crops import Dilation
from lookalike.conditional.verdicts import gallery_order

OPEN = Q(replied_at=None, withdrawn_at=None)


@dataclass(frozen=True)
class CommentFilter:
    """Which comments are wanted; what is empty does not narrow them.

    Attributes:
        state: "open", "answered", "withdrawn" or "" for all.
        judge: place on the panel.
        query: uid of the query's image.
    """

    state: str = "open"
    judge: int | None = None
    query: UUID | None = None


def list_comments(campaign: Campaign, wanted: CommentFilter) -> QuerySet[Comment]:
    """Return the comments of a campaign, the newest first."""
    found = Comment.objects.filter(question__campaign=campaign).select_related(
        "question__query", "question__candidate", "member__annotator", "replied_by"
    )
    if wanted.state == "open":
        found = found.filter(OPEN)
    elif wanted.state == "answered":
        found = found.filter(replied_at__isnull=False)
    elif wanted.state == "withdrawn":
        found = found.filter(withdrawn_at__isnull=False)
    if wanted.judge is not None:
        found = found.filter(member__number=wanted.judge)
    if wanted.query is not None:
        found = found.filter(question__query__uid=wanted.query)
    return found.order_by("-pk")


def open_comments() -> list[tuple[int, str, int]]:
    """Return (campaign id, judge, how many) of all comments that wait for a reply."""
    rows = Comment.objects.filter(OPEN).order_by("member__campaign_id", "member__number")
    return list(
        rows.values_list("member__campaign_id", "member__annotator__username").annotate(
            n=Count("pk")
        )
    )


def own_comments(annotator_id: int) -> QuerySet[Comment]:
    """Return a judge's own comments, the newest first; those that were taken back are gone."""
    mine = Comment.objects.filter(member__annotator_id=annotator_id, withdrawn_at=None)
    return mine.select_related(
        "member__campaign", "question__query", "question__candidate"
    ).order_by("-pk")


def unseen_replies(judge: Judge) -> list[Comment]:
    """Return the judge's comments whose replies they have not seen, the oldest first."""
    mine = Comment.objects.filter(member_id=judge.member_id, replied_at__isnull=False, seen_at=None)
    return list(mine.select_related("question__query", "question__candidate").order_by("pk"))


@dataclass(frozen=True)
class SeenPicture:
    """A picture of a question, cut out of its image if it has a box."""

    image: Image
    box: list[float] | None
    crops: Dilation | None


def seen_pictures(comment: Comment) -> list[SeenPicture]:
    """Return the pictures of a comment's question as its judge saw them, the query first."""
    question, member = comment.question, comment.member
    kind = member.campaign.kind
    if not kind.is_choice:
        return [SeenPicture(one, None, None) for one in (question.query, question.candidate)]
    subject = kind.subjects([question.subject])[question.subject]
    order = gallery_order(
        member.campaign.seed, member.number, question.uid.int, len(subject.candidates)
    )
    places: list[int | None] = [None, *order]
    ids = [subject.compared_id if at is None else subject.candidates[at] for at in places]
    images = Image.objects.in_bulk(ids)
    return [
        SeenPicture(images[pk], subject.box_of(at), subject.crops)
        for pk, at in zip(ids, places, strict=True)
    ]

"""What a judge is asked next, and what they answered last. Nothing else leaves for a judge."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import (
    Answer,
    Campaign,
    CampaignState,
    EntryState,
    JudgementEvent,
    PanelMember,
    Question,
    QuestionKind,
    QueueEntry,
    Stage,
)
from annotation.queries.hot import prepared_cursor
from annotation.queries.judges import Judge, find_judge
from catalog.models import Image

NEXT = """
select q.uid, e.place, e.stage = 'training', e.lease_until,
       a.uid, a.width, a.height, b.uid, b.width, b.height
from annotation_queueentry e
join annotation_question q on q.id = e.question_id
join catalog_image a on a.id = q.query_id
join catalog_image b on b.id = q.candidate_id
where e.member_id = %s and e.state = 'open' and e.stage = %s and e.place > %s
order by e.place, e.id limit {n}
"""


@dataclass(frozen=True)
class Picture:
    """An image as a judge sees it: its random uid and its shape, and no more."""

    uid: uuid.UUID
    width: int
    height: int


@dataclass(frozen=True)
class AskedQuestion:
    """A question as a judge sees it, and until when it is lent (which they do not see).

    Only training shows itself; gold, repeats and mirrored pairs look like any other pair.
    """

    uid: uuid.UUID
    place: int
    is_training: bool
    lease_until: datetime | None
    query: Picture
    candidate: Picture


@dataclass(frozen=True)
class RecentAnswer:
    """One of the judge's own last answers."""

    uuid: uuid.UUID
    question: AskedQuestion
    answer: str
    reason: str
    decided_at: datetime
    is_current: bool


def next_questions(judge: Judge, *, after: int, n: int) -> list[AskedQuestion]:
    """Return the judge's open questions behind place `after`, in their stored order."""
    if judge.stage == Stage.NOT_QUALIFIED:
        return []
    # the number stands in the statement: an unknown limit would keep it from one plan for all
    statement = NEXT.format(n=int(n))
    with prepared_cursor() as cursor:
        cursor.execute(statement, [judge.member_id, judge.stage, after])
        return [
            AskedQuestion(uid, place, is_training, until, Picture(*shown[:3]), Picture(*shown[3:]))
            for uid, place, is_training, until, *shown in cursor.fetchall()
        ]


def are_lent_for_long(judge: Judge, asked: Iterable[AskedQuestion]) -> bool:
    """Return whether none of the judge's questions is lent for less than half of the time yet."""
    until = timezone.now() + timedelta(minutes=judge.lease_minutes) / 2
    return all(one.lease_until is None or one.lease_until > until for one in asked)


def progress(judge: Judge, n_done: int | None = None) -> tuple[int, int]:
    """Return how many questions the judge has answered, and of how many.

    Pairs that are settled need no answer and are left out.
    """
    done = judge.n_done if n_done is None else n_done
    total = judge.n_asked
    if judge.closes_settled and not judge.is_leased:
        settled = QueueEntry.objects.filter(member_id=judge.member_id, state=EntryState.SETTLED)
        total -= settled.count()
    return done, max(done, total)


def recent_answers(judge: Judge, *, n: int) -> list[RecentAnswer]:
    """Return the judge's own last answers, newest first, without those they took back."""
    events = (
        JudgementEvent.objects.filter(member_id=judge.member_id)
        .exclude(answer=Answer.WITHDRAWN)
        .select_related("question__query", "question__candidate")
        .order_by("-id")[:n]
    )
    entries = {
        entry.question_id: entry
        for entry in QueueEntry.objects.filter(
            member_id=judge.member_id, question_id__in=[event.question_id for event in events]
        )
    }
    return [_recent(event, entries[event.question_id]) for event in events]


def _recent(event: JudgementEvent, entry: QueueEntry) -> RecentAnswer:
    question = event.question
    asked = AskedQuestion(
        question.uid,
        entry.place,
        question.kind == QuestionKind.TRAINING,
        entry.lease_until,
        _picture(question.query),
        _picture(question.candidate),
    )
    is_current = entry.last_uuid == event.uuid
    return RecentAnswer(event.uuid, asked, event.answer, event.reason, event.decided_at, is_current)


def _picture(image: Image) -> Picture:
    return Picture(image.uid, image.width, image.height)


def image_for(judge: Judge, uid: uuid.UUID) -> Image | None:
    """Return an image of a question in this judge's queue, or of a worked example."""
    served = QueueEntry.objects.filter(member_id=judge.member_id)
    examples = Question.objects.filter(campaign_id=judge.campaign_id, kind=QuestionKind.EXAMPLE)
    return Image.objects.filter(
        Exists(served.filter(question__query=OuterRef("pk")))
        | Exists(served.filter(question__candidate=OuterRef("pk")))
        | Exists(examples.filter(Q(query=OuterRef("pk")) | Q(candidate=OuterRef("pk")))),
        uid=uid,
    ).first()


def campaigns_of(annotator_id: int) -> list[tuple[Campaign, Judge]]:
    """Return the campaigns in which somebody judges or has judged, those to do first."""
    members = PanelMember.objects.filter(annotator_id=annotator_id, is_active=True)
    campaigns = [
        member.campaign
        for member in members.exclude(campaign__state=CampaignState.DRAFT).select_related(
            "campaign"
        )
    ]
    judged = [(campaign, find_judge(campaign.uid, annotator_id)) for campaign in campaigns]
    order = [CampaignState.OPEN, CampaignState.PAUSED, CampaignState.CLOSED]
    return sorted(judged, key=lambda pair: (order.index(CampaignState(pair[0].state)), -pair[0].pk))

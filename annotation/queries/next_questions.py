"""What a judge is asked next, and what they answered last. Nothing else leaves for a judge."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import (
    Answer,
    Campaign,
    CampaignState,
    EntryState,
    JudgementEvent,
    Question,
    QuestionKind,
    QueueEntry,
    Stage,
)
from annotation.queries.choices import Choice, read_choices
from annotation.queries.guidelines import is_in_guidelines
from annotation.queries.judges import Judge, judge_columns
from annotation.queries.prepared import prepared_cursor
from catalog.images.pictures import Picture, with_pictures
from catalog.models import Image

# A question of an earlier stage is asked again only if its answer was taken back.
IS_ASKED = """
    e.state = 'open' and (e.stage = {stage} or e.stage in ('training', 'qualification')
        and {stage} not in ('training', 'not_qualified')
        and (select v.answer from annotation_judgementevent v
             where v.uuid = e.last_uuid) = 'withdrawn')
"""
WINDOW = 20  # how far ahead a judge may look, whatever is asked for
# The few that are wanted are taken before anything is joined: this runs at each key press.
AHEAD = f"""
select q.uid, e.place, e.question_id, e.is_training, e.lease_until, q.subject, q.query_id,
       q.candidate_id
from (
    select * from (
        select e.question_id, e.place, e.stage = 'training' as is_training, e.lease_until
        from annotation_queueentry e
        where e.member_id = {{member}} and e.question_id is distinct from {{answered}}
          and {IS_ASKED.format(stage="{stage}")}
        order by e.place, e.question_id limit {WINDOW}
    ) e where e.place > %(after)s order by e.place, e.question_id limit {{n}}
) e join annotation_question q on q.id = e.question_id
"""  # noqa: S608  (constants)
# A pair that others hold, or that is free, may yet be lent to a judge who has not had it.
MAY_COME = """
    select from annotation_question q
    where q.campaign_id = {campaign} and q.kind = 'pair' and not q.is_settled
      and not exists (select from annotation_queueentry e
                      where e.member_id = {member} and e.question_id = q.id
                        and e.state <> 'expired')
"""
STANDINGS = f"""
select {judge_columns()},
    case when c.closes_settled and c.serving = 'everyone' then (
        select count(*) from annotation_queueentry e
        where e.member_id = m.id and e.state = 'settled'
    ) else 0 end,
    exists (select from annotation_queueentry e
            where e.member_id = m.id and {IS_ASKED.format(stage="m.stage")})
        or c.serving = 'k_of_n' and m.stage = 'judging'
        and exists ({MAY_COME.format(campaign="c.id", member="m.id")} and q.is_free),
    c.serving = 'k_of_n' and m.stage = 'judging'
        and exists ({MAY_COME.format(campaign="c.id", member="m.id")})
from annotation_panelmember m join annotation_campaign c on c.id = m.campaign_id
where m.annotator_id = %s and m.is_active and c.state <> 'draft'
"""  # noqa: S608  (constants)


@dataclass(frozen=True)
class AskedQuestion:
    """A question as a judge sees it, and until when it is lent (which they do not see).

    Only training shows itself; gold, repeats and mirrored pairs look like any other pair. Of a
    choice the judge sees that alone, and not its query and candidate.
    """

    uid: uuid.UUID
    place: int
    is_training: bool
    lease_until: datetime | None
    query: Picture
    candidate: Picture
    choice: Choice | None = None


@dataclass(frozen=True)
class Standing:
    """How far one judge is in one campaign.

    Finished: no question is open, and none can come. Waiting: none is open and no pair is free,
    but pairs lent to others may come.
    """

    campaign: Campaign
    stage: Stage
    n_done: int
    n_total: int
    is_finished: bool
    is_waiting: bool


@dataclass(frozen=True)
class RecentAnswer:
    """One of the judge's own last answers."""

    uuid: uuid.UUID
    question: AskedQuestion
    answer: str
    reason: str
    decided_at: datetime
    is_current: bool


@lru_cache
def ahead_statement(n: int, *, member: str, stage: str, answered: str = "null") -> str:
    """Return SQL for a judge's next questions behind the place `after`, a value of its own.

    Only of the next `WINDOW`: who sees the queue to its end sees which queries come again. Rows
    are what `asked_questions` reads, in no order.

    Args:
        n: how many. It stands in the statement: an unknown limit would keep it from one plan.
        member: SQL for the judge's id.
        stage: SQL for the judge's stage.
        answered: SQL for the id of a question that is being answered, and not asked again.
    """
    rows = AHEAD.format(n=int(n), member=member, stage=stage, answered=answered)
    return with_pictures(rows, "query_id", "candidate_id")


def asked_questions(judge: Judge, rows: Iterable[Sequence[Any]]) -> list[AskedQuestion]:
    """Return questions as a judge sees them, in their order, given rows of `ahead_statement`."""
    listed = sorted(rows, key=lambda row: (row[1], row[2]))  # by place, then by question
    choices = read_choices(judge, [(row[0], row[5]) for row in listed])
    return [
        AskedQuestion(
            uid, place, is_training, until, Picture(*shapes[:3]), Picture(*shapes[3:]),
            choices.get(uid),
        )
        for uid, place, _, is_training, until, _, _, _, *shapes in listed
    ]  # fmt: skip


def next_questions(judge: Judge, *, after: int, n: int) -> list[AskedQuestion]:
    """Return the judge's open questions behind place `after`, in their stored order."""
    if judge.stage == Stage.NOT_QUALIFIED:
        return []
    statement = ahead_statement(n, member="%(member)s", stage="%(stage)s")
    with prepared_cursor() as cursor:
        cursor.execute(
            statement,
            {"member": judge.member_id, "stage": judge.stage, "after": after},
        )
        return asked_questions(judge, cursor.fetchall())


def may_be_lent_more(judge: Judge) -> bool:
    """Return whether pairs that wait for votes may yet come to a judge who has none open.

    They are free, or lent to others, who may let the lease run out or give no vote.
    """
    if not judge.is_leased or judge.stage != Stage.JUDGING or judge.refusal is not None:
        return False
    statement = MAY_COME.format(campaign="%s", member="%s")
    with prepared_cursor() as cursor:
        cursor.execute(f"select exists ({statement})", [judge.campaign_id, judge.member_id])
        [(may_come,)] = cursor.fetchall()
        return bool(may_come)


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


def recent_answers(judge: Judge, *, n: int, are_held: bool = False) -> list[RecentAnswer]:
    """Return the judge's own last answers, newest first.

    Args:
        judge: whose.
        n: how many.
        are_held: only those that hold: neither taken back nor changed since.
    """
    entries = QueueEntry.objects.filter(member_id=judge.member_id)
    given = JudgementEvent.objects.filter(member_id=judge.member_id)
    if are_held:
        holds = entries.filter(question=OuterRef("question"), last_uuid=OuterRef("uuid"))
        given = given.filter(Exists(holds))
    events = (
        given.exclude(answer=Answer.WITHDRAWN)
        .select_related("question__query", "question__candidate")
        .order_by("-id")[:n]
    )
    entry_of = {
        entry.question_id: entry
        for entry in entries.filter(question_id__in=[event.question_id for event in events])
    }
    choices = read_choices(judge, [(one.question.uid, one.question.subject) for one in events])
    return [_recent(event, entry_of[event.question_id], choices) for event in events]


def _recent(
    event: JudgementEvent, entry: QueueEntry, choices: Mapping[uuid.UUID, Choice]
) -> RecentAnswer:
    question = event.question
    asked = AskedQuestion(
        question.uid,
        entry.place,
        question.kind == QuestionKind.TRAINING,
        entry.lease_until,
        Picture.of(question.query),
        Picture.of(question.candidate),
        choices.get(question.uid),
    )
    is_current = entry.last_uuid == event.uuid
    return RecentAnswer(event.uuid, asked, event.answer, event.reason, event.decided_at, is_current)


def image_for(judge: Judge, image_id: int) -> Image | None:
    """Return an image of a question in this judge's queue, of a worked example or guidelines."""
    served = QueueEntry.objects.filter(member_id=judge.member_id)
    examples = Question.objects.filter(campaign_id=judge.campaign_id, kind=QuestionKind.EXAMPLE)
    found = Image.objects.filter(
        Exists(served.filter(question__query=OuterRef("pk")))
        | Exists(served.filter(question__candidate=OuterRef("pk")))
        | Exists(examples.filter(Q(query=OuterRef("pk")) | Q(candidate=OuterRef("pk")))),
        pk=image_id,
    ).first()
    if found is None and is_in_guidelines(judge.campaign_id, image_id):
        return Image.objects.get(pk=image_id)
    return found


def list_standings(annotator_id: int) -> list[Standing]:
    """Return the campaigns in which somebody judges or has judged, those to do first."""
    with prepared_cursor() as cursor:
        cursor.execute(STANDINGS, [annotator_id])
        rows = [(Judge(*row[:-3]), *row[-3:]) for row in cursor.fetchall()]
    campaigns = Campaign.objects.in_bulk([judge.campaign_id for judge, *_ in rows])
    order = [CampaignState.OPEN, CampaignState.PAUSED, CampaignState.CLOSED]
    standings = [_standing(campaigns[judge.campaign_id], judge, *rest) for judge, *rest in rows]
    return sorted(
        standings,
        key=lambda one: (order.index(CampaignState(one.campaign.state)), -one.campaign.pk),
    )


def _standing(
    campaign: Campaign, judge: Judge, n_settled: int, has_open: bool, may_come: bool
) -> Standing:
    has_work = judge.stage != Stage.NOT_QUALIFIED and (has_open or may_come)
    total = max(judge.n_asked - n_settled, judge.n_done) if has_work else judge.n_done
    return Standing(
        campaign,
        Stage(judge.stage),
        judge.n_done,
        total,
        is_finished=not has_work and judge.stage != Stage.NOT_QUALIFIED,
        is_waiting=has_work and not has_open,
    )

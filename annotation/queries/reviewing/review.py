"""What judges answered, for the admins who vouch for it: one by one, in parts by key.

Each judge's answers are read along an index, newest first, and only as many as are shown. What a
filter has to look up is joined only where that filter is set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import TextChoices

from accounts.models import User
from annotation.answering.register import is_vote
from annotation.models import (
    VOTES,
    Campaign,
    QuestionKind,
    Reason,
)
from annotation.queries.answer_codes import agrees as agrees_in_sql
from annotation.queries.answer_codes import side
from annotation.queries.prepared import rows_of
from annotation.task_kinds import Subject, TaskKind, task_kind
from catalog.models import Image
from lookalike.agreement.grades import agrees

A_PART = 50


class Shows(TextChoices):
    """Which answers are looked for."""

    ALL = "", "Every answer"
    DISAGREES = "disagrees", "Against the others’ majority"
    MISSED = "missed", "Missed checks"
    EXCLUDED = "excluded", "Excluded"
    SURPLUS = "surplus", "Surplus votes"


@dataclass(frozen=True)
class AnswerFilter:
    """Which answers are wanted; what is empty does not narrow them.

    Attributes:
        judge: place on the panel.
        answer: a code, such as similar or pick:3.
        kind: of the question.
        stage: of the judge when the question was given.
        shows: answers that need a look.
        seconds: only pairs looked at for less.
        since: decided then or later.
        until: decided before.
        version: made under earlier guidelines than this version.
        query: uid of the query's image.
    """

    judge: int | None = None
    answer: str = ""
    kind: str = ""
    stage: str = ""
    shows: str = ""
    seconds: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    version: int | None = None
    query: UUID | None = None


OTHERS = f"""
cross join lateral (
    select array_remove(array_agg(o.answer), null)::text[] as votes
    from annotation_judgement o
    where o.question_id = j.question_id and o.member_id <> j.member_id and o.is_counted
) others
cross join lateral (
    select coalesce(max(n) filter (where answer <> {side("j.answer")}), 0)
           > coalesce(max(n) filter (where answer = {side("j.answer")}), 0)
           and j.answer not in ('cant_tell', 'skip') as is_against
    from (select {side("vote")} as answer, count(*) as n
          from unnest(others.votes) as vote group by 1) counts
) led
"""  # noqa: S608  (constants)
# What a check expects: the gold's answer, or the judge's own to the pair that is asked again.
KNOWN = """
left join annotation_gold g on g.question_id = q.id
left join annotation_judgement own on own.question_id = q.original_id
     and own.member_id = j.member_id and own.answer not in ('cant_tell', 'skip')
"""
PART = """
select a.event_id from unnest(%(members)s::bigint[]) as m(id) cross join lateral (
    select j.event_id from annotation_judgement j {joins}
    where j.member_id = m.id and j.event_id < %(before)s {wanted}
    order by j.event_id desc limit %(n)s
) a order by a.event_id desc limit %(n)s
"""
ROWS = f"""
select v.id, v.uuid, v.answer, v.reason, v.mode, v.device, v.decided_at, v.visible_ms, v.load_ms,
       v.guideline_version, m.number, m.annotator_id, q.uid, q.kind, e.stage, e.state, q.query_id,
       q.candidate_id, j.is_counted, j.is_surplus, j.is_excluded, x.reason, x.asks_again,
       others.votes, led.is_against, coalesce(g.answer, own.answer, ''), c.task_kind, q.subject,
       c.grades, c.similar_from
from annotation_judgementevent v
join annotation_judgement j on j.event_id = v.id
join annotation_question q on q.id = v.question_id
join annotation_panelmember m on m.id = v.member_id
join annotation_campaign c on c.id = m.campaign_id
left join annotation_queueentry e on e.question_id = q.id and e.member_id = v.member_id
left join annotation_exclusion x on x.event_id = v.id and x.ended_at is null
{KNOWN} {OTHERS}
where v.id = any(%s::bigint[]) order by v.id desc
"""  # noqa: S608  (constants)
LATEST = 2**62
SIMPLE = {
    "query": "q.query_id = %(query)s",
    "version": "v.guideline_version < %(version)s",
    "kind": "q.kind = %(kind)s",
    "answer": "j.answer = %(answer)s",
    "since": "v.decided_at >= %(since)s",
    "until": "v.decided_at < %(until)s",
    "seconds": "v.mode <> 'import' and v.visible_ms < %(ms)s",
}


@dataclass(frozen=True)
class AnswerRow:
    """One answer that stands, with what it says of its judge.

    Attributes:
        votes: counted votes of the others on the question.
        disagrees: whether another answer leads among them.
        known: what a check expects; "" where the question is none.
        subject: what the question asks about, where that is more than the pair.
    """

    id: int
    uuid: UUID
    answer: str
    reason: str
    mode: str
    device: str
    decided_at: datetime
    visible_ms: int
    load_ms: int
    guideline_version: int
    number: int
    judge: str
    question: UUID
    kind: str
    stage: str | None
    state: str | None
    query: Image
    candidate: Image
    is_counted: bool
    is_surplus: bool
    is_excluded: bool
    exclusion: str
    asks_again: bool
    votes: list[str]
    disagrees: bool
    known: str
    kind_of_task: TaskKind
    subject: Subject | None

    @property
    def words(self) -> str:
        """The answer as pages say it."""
        return self.kind_of_task.words(self.answer, self.subject)

    @property
    def others(self) -> str:
        """What the others said, as pages say it; "" if nobody else voted."""
        n = Counter(self.votes)
        kind = self.kind_of_task
        is_plain = n and not kind.is_choice and not kind.scale
        said = VOTES if is_plain else sorted(n, key=lambda a: -n[a])
        words = [(self.kind_of_task.words(answer, self.subject), n[answer]) for answer in said]
        return ", ".join(f"{count} {word.lower()}" for word, count in words)

    @property
    def reason_words(self) -> str:
        """Why it was skipped, as pages say it."""
        return Reason(self.reason).label if self.reason else ""

    @property
    def kind_words(self) -> str:
        """The kind of question as pages say it."""
        return QuestionKind(self.kind).label

    @property
    def seconds(self) -> float:
        """How long the pair was looked at."""
        return self.visible_ms / 1000

    @property
    def is_missed(self) -> bool:
        """Whether a check was answered otherwise than expected."""
        return bool(self.known) and is_vote(self.answer) and not agrees(self.answer, self.known)

    @property
    def may_be_excluded(self) -> bool:
        """Whether it could count at all."""
        return self.kind not in {QuestionKind.TRAINING, QuestionKind.QUALIFICATION}


def list_answers(
    campaign: Campaign, wanted: AnswerFilter, *, before: int | None = None, n: int = A_PART
) -> tuple[list[AnswerRow], int | None]:
    """Return the answers that stand, newest first, and where the next part begins, if any.

    Args:
        campaign: whose.
        wanted: which.
        before: only what arrived before this event.
        n: at most so many.
    """
    panel = campaign.panel.all()
    if wanted.judge is not None:
        panel = panel.filter(number=wanted.judge)
    joins, conditions = _narrowed(wanted)
    statement = PART.format(joins=joins, wanted=conditions).replace("%(n)s", str(n + 1))
    values = {
        **vars(wanted),
        "campaign": campaign.pk,
        "query": _image_id(wanted.query),
        "ms": None if wanted.seconds is None else wanted.seconds * 1000,
        "members": list(panel.values_list("pk", flat=True)),
        "before": LATEST if before is None else before,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        ids = [pk for (pk,) in cursor.fetchall()]
    return read_answers(ids[:n]), ids[n - 1] if len(ids) > n else None


def _image_id(uid: UUID | None) -> int | None:
    if uid is None:
        return None
    return Image.objects.filter(uid=uid).values_list("pk", flat=True).first()


def matching_answers(campaign: Campaign, wanted: AnswerFilter, *, n: int) -> list[UUID]:
    """Return the newest answers of a filter that count or could, at most `n`."""
    found: list[UUID] = []
    before: int | None = None
    while len(found) < n:
        rows, before = list_answers(campaign, wanted, before=before, n=n)
        found += [row.uuid for row in rows if row.may_be_excluded and not row.is_excluded]
        if before is None:
            break
    return found[:n]


def read_answers(events: Sequence[int]) -> list[AnswerRow]:
    """Return answers that stand by the ids of their events, newest first."""
    rows = rows_of(ROWS, list(events))
    images = Image.objects.in_bulk({pk for row in rows for pk in row[16:18]})
    judges = User.objects.in_bulk({row[11] for row in rows})
    subjects = {
        name: task_kind(name).subjects({row[27] for row in rows if row[26] == name})
        for name in {row[26] for row in rows}
    }
    answers = []
    for row in rows:
        values = list(row)
        values[11] = judges[row[11]].username
        values[16:18] = images[row[16]], images[row[17]]
        values[21:23] = row[21] or "", bool(row[22])
        values[26:] = task_kind(row[26], *row[28:]), subjects[row[26]].get(row[27])
        answers.append(AnswerRow(*values))
    return answers


def _narrowed(wanted: AnswerFilter) -> tuple[str, str]:
    """Return the joins and conditions of a filter; its values are parameters."""
    joins, conditions = [], []
    if wanted.kind or wanted.query or wanted.shows == Shows.MISSED:
        joins.append("join annotation_question q on q.id = j.question_id")
    if wanted.since or wanted.until or wanted.version or wanted.seconds is not None:
        joins.append("join annotation_judgementevent v on v.id = j.event_id")
    conditions += [condition for name, condition in SIMPLE.items() if getattr(wanted, name)]
    if wanted.stage:
        conditions.append(
            "exists (select from annotation_queueentry e where e.question_id = j.question_id "
            "and e.member_id = j.member_id and e.stage = %(stage)s)"
        )
    if wanted.shows == Shows.EXCLUDED:
        conditions.append("j.is_excluded")
    if wanted.shows == Shows.SURPLUS:
        conditions.append("j.is_surplus and j.answer not in ('cant_tell', 'skip')")
    if wanted.shows == Shows.MISSED:
        joins.append(KNOWN)
        conditions.append(  # checks are few, and have an index
            "q.campaign_id = %(campaign)s and q.kind <> 'pair' and j.answer not in ('cant_tell', "
            f"'skip') and not {agrees_in_sql('j.answer', 'coalesce(g.answer, own.answer)')}"
        )
    if wanted.shows == Shows.DISAGREES:
        joins.append(OTHERS)
        conditions.append("led.is_against")
    return " ".join(joins), "".join(f" and {condition}" for condition in conditions)

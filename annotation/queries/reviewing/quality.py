"""What is known of each judge of a campaign, for the admin who vouches for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign, PanelMember
from annotation.models.choices import PICK
from annotation.queries.answer_codes import agrees, side
from annotation.queries.numbers import JudgeNumbers, numbers_of
from annotation.queries.prepared import rows_of
from lookalike.agreement.judge_statistics import (
    Pace,
    SequenceEffect,
    Share,
    pace,
    sequence_effect,
    share_by_part,
)

# Where two answers lead among the others, nothing is compared.
WITH_OTHERS = f"""
with given as (
    select j.question_id, j.member_id, {side("j.answer")} as answer from annotation_judgement j
    join annotation_question q on q.id = j.question_id
    where q.campaign_id = %s and q.kind = 'pair' and j.is_counted
), counts as (
    select g.question_id, g.member_id, g.answer, o.answer as other, count(*) as n
    from given g join given o on o.question_id = g.question_id and o.member_id <> g.member_id
    group by 1, 2, 3, 4
), ranked as (
    select *, rank() over (partition by question_id, member_id order by n desc) as place
    from counts
), leaders as (
    select question_id, member_id, min(answer) as answer, min(other) as other
    from ranked where place = 1 group by 1, 2 having count(*) = 1
)
select member_id, count(*) filter (where answer = other), count(*) from leaders group by 1
"""  # noqa: S608  (constants)
GOLD = f"""
select e.member_id, q.kind, count(*) filter (where {agrees("j.answer", "g.answer")}), count(*)
from annotation_gold g
join annotation_question q on q.id = g.question_id
join annotation_queueentry e on e.question_id = q.id
join annotation_judgement j on j.question_id = q.id and j.member_id = e.member_id
where q.campaign_id = %s and j.is_counted
group by 1, 2
"""  # noqa: S608  (constants)
SELF = f"""
select j.member_id, q.kind, count(*) filter (where {agrees("j.answer", "o.answer")}), count(*)
from annotation_judgement j
join annotation_question q on q.id = j.question_id
join annotation_judgement o on o.question_id = q.original_id and o.member_id = j.member_id
where q.campaign_id = %s and q.kind in ('repeat', 'mirror')
  and j.is_counted and not o.is_excluded and o.answer not in ('cant_tell', 'skip')
group by 1, 2
"""  # noqa: S608  (constants)
ANSWERS = """
select member_id, j.answer, count(*) from annotation_judgement j
join annotation_question q on q.id = j.question_id
where q.campaign_id = %s and q.kind = 'pair'
  and (j.is_counted or j.answer in ('cant_tell', 'skip') and not j.is_excluded)
group by 1, 2
"""
TIMELINE = f"""
select e.member_id, q.query_id, {side("j.answer")}, v.mode, v.visible_ms, v.load_ms, v.decided_at
from annotation_judgement j
join annotation_judgementevent v on v.id = j.event_id
join annotation_question q on q.id = j.question_id
join annotation_queueentry e on e.question_id = q.id and e.member_id = j.member_id
where q.campaign_id = %s and q.kind = 'pair' and v.mode <> 'import' and not j.is_excluded
order by e.member_id, v.decided_at, v.id
"""  # noqa: S608  (constants)


@dataclass(frozen=True)
class JudgeQuality:
    """One judge of a campaign; shares of nothing are empty, not zero.

    Attributes:
        numbers: how many answers and votes, as every page says it.
        answers: how many of each answer to pairs; those that count, of similar and different.
        with_others: votes that are the majority of the other judges'.
        with_gold: silent gold answered as known.
        qualification: the same for the qualification round.
        with_self: repeated pairs answered as before.
        with_mirror: mirrored pairs answered as the pair was.
        pace: of answers given here.
        sequence: whether answers lean on the last one; from pair mode alone, since in a sheet
            the judge chooses the order.
        by_part: share of similar in successive fifths of the work done here.
    """

    numbers: JudgeNumbers
    answers: dict[str, int]
    with_others: Share
    with_gold: Share
    qualification: Share
    with_self: Share
    with_mirror: Share
    pace: Pace
    sequence: SequenceEffect
    by_part: list[Share]

    @property
    def member(self) -> PanelMember:
        """The judge."""
        return self.numbers.member

    @property
    def said(self) -> list[tuple[str, int]]:
        """How often each answer of the kind was given, in words; picks are one."""
        words = self.member.campaign.kind.answers
        picks = sum(n for answer, n in self.answers.items() if answer.startswith(PICK))
        rest = [(words[answer], n) for answer, n in self.answers.items() if answer in words]
        return [("an image", picks), *rest] if picks else rest


def judge_qualities(campaign: Campaign) -> list[JudgeQuality]:
    """Return one row for each judge, in the order of the panel."""
    with_others = _with_others(campaign)
    gold, self_ = _shares(GOLD, campaign), _shares(SELF, campaign)
    answers: dict[int, dict[str, int]] = {}
    for member_id, answer, n in rows_of(ANSWERS, campaign.pk):
        answers.setdefault(member_id, {})[answer] = n
    timelines: dict[int, list[tuple[Any, ...]]] = {}
    for member_id, *rest in rows_of(TIMELINE, campaign.pk):
        timelines.setdefault(member_id, []).append(tuple(rest))
    none = Share(0, 0)
    return [
        JudgeQuality(
            numbers,
            answers.get(member.pk, {}),
            with_others.get(member.pk, none),
            gold.get((member.pk, "gold"), none),
            gold.get((member.pk, "qualification"), none),
            self_.get((member.pk, "repeat"), none),
            self_.get((member.pk, "mirror"), none),
            *_from_timeline(timelines.get(member.pk, [])),
        )
        for numbers in numbers_of(campaign).judges
        for member in [numbers.member]
    ]


def _with_others(campaign: Campaign) -> dict[int, Share]:
    """Compare each judge's counted votes with what most of the others said, by member id."""
    rows = rows_of(WITH_OTHERS, campaign.pk)
    return {member_id: Share(n_hits, n) for member_id, n_hits, n in rows}


def _from_timeline(rows: list[tuple[Any, ...]]) -> tuple[Pace, SequenceEffect, list[Share]]:
    times = np.array([row[3:5] for row in rows], dtype=np.int64).reshape(-1, 2)
    votes = [row for row in rows if row[1] in {"similar", "different"}]
    is_similar = np.array([row[1] == "similar" for row in votes], dtype=bool)
    in_pair_mode = np.array([row[2] == "pair" for row in votes], dtype=bool)
    queries = np.array([row[0] for row in votes], dtype=np.int64)
    effect = sequence_effect(is_similar[in_pair_mode], queries[in_pair_mode])
    return pace(times[:, 0], times[:, 1]), effect, share_by_part(is_similar)


def _shares(statement: str, campaign: Campaign) -> dict[tuple[int, str], Share]:
    rows = rows_of(statement, campaign.pk)
    return {(member_id, kind): Share(n_hits, n) for member_id, kind, n_hits, n in rows}

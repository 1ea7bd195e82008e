"""What is said of judges, by one statement for each figure: the long way, to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.models import Campaign
from annotation.queries.answer_codes import side
from annotation.queries.prepared import rows_of
from annotation.queries.reviewing.judge_summaries import CHECKS, GOLD, SELF
from lookalike.agreement.careless import Answers, careless_flags
from lookalike.agreement.judge_statistics import Share, pace, sequence_effect, share_by_part

# Where two answers lead among the others, nothing is compared.
WITH_OTHERS = f"""
with given as (
    select j.question_id, j.member_id, {side("j.answer")} as answer from annotation_judgement j
    join annotation_question q on q.id = j.question_id
    where q.campaign_id = any(%s) and q.kind = 'pair' and j.is_counted
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
ANSWERS = """
select member_id, j.answer, count(*) from annotation_judgement j
join annotation_question q on q.id = j.question_id
where q.campaign_id = any(%s) and q.kind = 'pair'
  and (j.is_counted or j.answer in ('cant_tell', 'skip') and not j.is_excluded)
group by 1, 2
"""
TIMELINE = f"""
select e.member_id, q.query_id, {side("j.answer")}, v.mode, v.visible_ms, v.load_ms, v.decided_at
from annotation_judgement j
join annotation_judgementevent v on v.id = j.event_id
join annotation_question q on q.id = j.question_id
join annotation_queueentry e on e.question_id = q.id and e.member_id = j.member_id
where q.campaign_id = any(%s) and q.kind = 'pair' and v.mode <> 'import' and not j.is_excluded
order by e.member_id, v.decided_at, v.id
"""  # noqa: S608  (constants)


SHOWN = """
select j.member_id, q.query_id, j.answer ^@ 'similar', j.answer not in ('cant_tell', 'skip'),
       v.visible_ms, v.mode = 'sheet', (extract(epoch from v.shown_at) * 1000)::bigint
from annotation_judgement j
join annotation_judgementevent v on v.id = j.event_id
join annotation_question q on q.id = j.question_id
where q.campaign_id = any(%s) and q.kind in ('pair', 'gold', 'repeat', 'mirror')
  and v.mode <> 'import' and v.shown_at is not null
order by j.member_id, v.decided_at, v.id
"""
LEANINGS = """
select j.member_id, count(*) filter (where j.answer ^@ 'similar'), count(*),
       sum(n.n_similar - (j.is_counted and j.answer ^@ 'similar')::int),
       sum(n.n_votes - j.is_counted::int)
from annotation_judgement j
join (select question_id, count(*) filter (where answer ^@ 'similar') as n_similar,
             count(*) as n_votes
      from annotation_judgement where is_counted group by 1) n on n.question_id = j.question_id
join annotation_question q on q.id = j.question_id
where q.campaign_id = any(%s) and q.kind = 'pair' and j.answer ~ '^(similar|different)' group by 1
"""


def scan(campaign: Campaign) -> dict[int, tuple[dict[str, Any], list[Any]]]:
    """Return the figures and signs of each judge, by the id of the panel member."""
    return {member.pk: (_figures(member), _flags(member)) for member in campaign.panel.all()}


def _rows(statement: str, member: Any) -> list[Any]:
    rows = rows_of(statement, [member.campaign_id])
    return [rest for member_id, *rest in rows if member_id == member.pk]


def _share(statement: str, member: Any, kind: str = "") -> Share:
    found = [row for row in _rows(statement, member) if not kind or row[0] == kind]
    return Share(*found[0][-2:]) if found else Share(0, 0)


def _figures(member: Any) -> dict[str, Any]:
    rows = _rows(TIMELINE, member)
    times = np.array([row[2:][1:3] for row in rows], np.int64).reshape(-1, 2)
    votes = [row for row in rows if row[1] in {"similar", "different"}]
    is_similar = np.array([row[1] == "similar" for row in votes], bool)
    in_pair_mode = np.array([row[2] == "pair" for row in votes], bool)
    queries = np.array([row[0] for row in votes], np.int64)
    return {
        "answers": sorted(_rows(ANSWERS, member)),
        "with_others": _share(WITH_OTHERS, member),
        "with_gold": _share(GOLD, member, "gold"),
        "qualification": _share(GOLD, member, "qualification"),
        "with_self": _share(SELF, member, "repeat"),
        "with_mirror": _share(SELF, member, "mirror"),
        "pace": pace(times[:, 0], times[:, 1]),
        "sequence": sequence_effect(is_similar[in_pair_mode], queries[in_pair_mode]),
        "by_part": share_by_part(is_similar),
    }


def _flags(member: Any) -> list[Any]:
    table = np.array(_rows(SHOWN, member), np.int64).reshape(-1, 6)
    queries, is_similar, is_vote, visible, in_sheet, shown = table.T
    on_pair = is_vote.astype(bool) & ~in_sheet.astype(bool)
    votes = _rows(LEANINGS, member)
    n_similar, n, others_similar, others = map(int, votes[0] if votes else (0, 0, 0, 0))
    return careless_flags(
        Answers(visible, in_sheet.astype(bool), shown, is_vote.astype(bool)),
        n_similar=n_similar,
        n_different=n - n_similar,
        others=Share(others_similar, others),
        checks=_share(CHECKS, member, "checks"),
        sequence=sequence_effect(is_similar[on_pair].astype(bool), queries[on_pair]),
        n_stops=member.n_stops,
    )

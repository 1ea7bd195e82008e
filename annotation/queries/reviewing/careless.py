"""Whose answers an admin should read: the signs of careless work, judge by judge.

They look at all that a judge answered, excluded or not, so that an exclusion hides no sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign, PanelMember
from annotation.queries.answer_codes import agrees
from annotation.queries.prepared import rows_of
from lookalike.agreement.careless import Answers, Flag, careless_flags
from lookalike.agreement.judge_statistics import Share, sequence_effect

ANSWERS = """
select j.member_id, q.query_id, j.answer ^@ 'similar', j.answer not in ('cant_tell', 'skip'),
       v.visible_ms, v.mode = 'sheet', (extract(epoch from v.shown_at) * 1000)::bigint
from annotation_judgement j
join annotation_judgementevent v on v.id = j.event_id
join annotation_question q on q.id = j.question_id
where q.campaign_id = %s and q.kind in ('pair', 'gold', 'repeat', 'mirror')
  and v.mode <> 'import' and v.shown_at is not null
order by j.member_id, v.decided_at, v.id
"""
VOTES = """
select j.member_id, count(*) filter (where j.answer ^@ 'similar'), count(*),
       sum(n.n_similar - (j.is_counted and j.answer ^@ 'similar')::int),
       sum(n.n_votes - j.is_counted::int)
from annotation_judgement j
join (select question_id, count(*) filter (where answer ^@ 'similar') as n_similar,
             count(*) as n_votes
      from annotation_judgement where is_counted group by 1) n on n.question_id = j.question_id
join annotation_question q on q.id = j.question_id
where q.campaign_id = %s and q.kind = 'pair' and j.answer ~ '^(similar|different)' group by 1
"""
CHECKS = f"""
select j.member_id,
       count(*) filter (where {agrees("j.answer", "coalesce(g.answer, o.answer)")}), count(*)
from annotation_judgement j
join annotation_question q on q.id = j.question_id
left join annotation_gold g on g.question_id = q.id
left join annotation_judgement o on o.question_id = q.original_id and o.member_id = j.member_id
     and o.answer not in ('cant_tell', 'skip')
where q.campaign_id = %s and q.kind in ('gold', 'repeat')
  and j.answer not in ('cant_tell', 'skip')
  and coalesce(g.answer, o.answer) is not null
group by 1
"""  # noqa: S608  (constants)


@dataclass(frozen=True)
class FlaggedJudge:
    """A judge with at least one sign."""

    member: PanelMember
    flags: list[Flag]


def flagged_judges(campaign: Campaign) -> list[FlaggedJudge]:
    """Return the judges with signs of careless work, in the order of the panel."""
    answers: dict[int, list[tuple[Any, ...]]] = {}
    for member_id, *row in rows_of(ANSWERS, campaign.pk):
        answers.setdefault(member_id, []).append(tuple(row))
    votes = {member_id: rest for member_id, *rest in rows_of(VOTES, campaign.pk)}
    checks = {member_id: rest for member_id, *rest in rows_of(CHECKS, campaign.pk)}
    judges = []
    for member in campaign.panel.select_related("annotator"):
        table = np.array(answers.get(member.pk, []), dtype=np.int64).reshape(-1, 6)
        queries, is_similar, is_vote, visible, in_sheet, shown = table.T
        on_pair = is_vote.astype(bool) & ~in_sheet.astype(bool)
        n_similar, n, others_similar, others = map(int, votes.get(member.pk, (0, 0, 0, 0)))
        flags = careless_flags(
            Answers(visible, in_sheet.astype(bool), shown, is_vote.astype(bool)),
            n_similar=n_similar,
            n_different=n - n_similar,
            others=Share(others_similar, others),
            checks=Share(*checks.get(member.pk, (0, 0))),
            sequence=sequence_effect(is_similar[on_pair].astype(bool), queries[on_pair]),
            n_stops=member.n_stops,
        )
        if flags:
            judges.append(FlaggedJudge(member, flags))
    return judges

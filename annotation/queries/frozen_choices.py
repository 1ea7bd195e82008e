"""What a release freezes of campaigns whose judges pick images, as it was at one moment.

What a question asks about is named by its subject; the app that registered the kind knows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobs.work.snapshot import Snapshot

CAMPAIGNS = """
select c.id, c.slug, c.name, c.state, g.text as guidelines,
       case when c.serving = 'k_of_n' then c.k else (
           select count(*) from annotation_panelmember m
           where m.campaign_id = c.id and m.is_active and m.stage <> 'not_qualified'
       ) end as n_judges
from annotation_campaign c
join annotation_guideline g on g.campaign_id = c.id and g.version = c.guideline_version
where c.slug = any(%s) and c.task_kind = %s order by c.slug
"""
SUBJECTS = """
select c.slug as campaign, q.subject
from annotation_campaign c join annotation_question q on q.campaign_id = c.id and q.kind = 'pair'
where c.slug = any(%s)
"""
VOTES = """
select c.slug as campaign, q.subject, m.annotator_id as annotator, j.answer
from annotation_campaign c
join annotation_question q on q.campaign_id = c.id and q.kind = 'pair'
join annotation_judgement j on j.question_id = q.id and j.is_counted
join annotation_panelmember m on m.id = j.member_id
where c.slug = any(%s)
"""
RULINGS = """
select c.slug as campaign, q.subject, r.answer
from annotation_campaign c
join annotation_question q on q.campaign_id = c.id and q.kind = 'pair'
join annotation_adjudication r on r.question_id = q.id
where c.slug = any(%s)
"""


class FrozenChoiceCampaign(NamedTuple):
    """A campaign with its guidelines and the number of votes wanted of each question."""

    id: int
    slug: str
    name: str
    state: str
    guidelines: str
    n_judges: int


class FrozenSubject(NamedTuple):
    """What a question of a campaign, named by its slug, asks about."""

    campaign: str
    subject: int


class FrozenChoice(NamedTuple):
    """What a judge, by id of the account, answers now."""

    campaign: str
    subject: int
    annotator: int
    answer: str


class FrozenChoiceRuling(NamedTuple):
    """The last ruling on a question."""

    campaign: str
    subject: int
    answer: str


def frozen_choice_campaigns(
    view: Snapshot, slugs: Sequence[str], kind: str
) -> list[FrozenChoiceCampaign]:
    """Return those of some campaigns that exist and are of a kind of task, by slug."""
    return view.rows(FrozenChoiceCampaign, CAMPAIGNS, [list(slugs), kind])


def frozen_subjects(view: Snapshot, slugs: Sequence[str]) -> list[FrozenSubject]:
    """Return what campaigns ask about, controls apart."""
    return view.rows(FrozenSubject, SUBJECTS, [list(slugs)])


def frozen_choices(view: Snapshot, slugs: Sequence[str]) -> list[FrozenChoice]:
    """Return the votes that stand."""
    return view.rows(FrozenChoice, VOTES, [list(slugs)])


def frozen_choice_rulings(view: Snapshot, slugs: Sequence[str]) -> list[FrozenChoiceRuling]:
    """Return the rulings that stand."""
    return view.rows(FrozenChoiceRuling, RULINGS, [list(slugs)])

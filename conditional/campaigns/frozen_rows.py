"""What a release freezes of verified templates, as it was at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobs.snapshot import Snapshot

VERIFICATIONS = """
select c.id, c.slug, c.name, c.state, g.text as guidelines, s.task, s.name as template_set,
       s.source, s.seed, s.file_sha256, s.catalog_id as catalog,
       case when c.serving = 'k_of_n' then c.k else (
           select count(*) from annotation_panelmember m
           where m.campaign_id = c.id and m.is_active and m.stage <> 'not_qualified'
       ) end as n_judges
from annotation_campaign c join conditional_setcampaign a on a.campaign_id = c.id
join conditional_templateset s on s.id = a.template_set_id
join annotation_guideline g on g.campaign_id = c.id and g.version = c.guideline_version
where c.slug = any(%s) order by c.slug
"""
VERIFIERS = """
select m.annotator_id from annotation_panelmember m
join annotation_campaign c on c.id = m.campaign_id where c.slug = any(%s)
"""
TEMPLATES = """
select c.slug as verification, t.position, s.task, t.condition, t.reference_id as reference,
       t.target_id as target, t.gallery, t.kinds, t.boxes
from annotation_campaign c
join annotation_question q on q.campaign_id = c.id and q.kind = 'pair'
join conditional_retrievaltemplate t on t.id = q.subject
join conditional_templateset s on s.id = t.template_set_id
where c.slug = any(%s) order by c.slug, t.position
"""
VOTES = """
select c.slug as verification, t.position, m.annotator_id as annotator,
       split_part(j.answer, ':', 1) as choice,
       nullif(split_part(j.answer, ':', 2), '')::int as picked
from annotation_campaign c
join annotation_question q on q.campaign_id = c.id and q.kind = 'pair'
join conditional_retrievaltemplate t on t.id = q.subject
join annotation_judgement j on j.question_id = q.id and j.is_counted
join annotation_panelmember m on m.id = j.member_id
where c.slug = any(%s)
"""
RULINGS = """
select c.slug as verification, t.position, r.answer = 'passes' as passes
from annotation_campaign c
join annotation_question q on q.campaign_id = c.id and q.kind = 'pair'
join conditional_retrievaltemplate t on t.id = q.subject
join annotation_adjudication r on r.question_id = q.id
where c.slug = any(%s) order by c.slug, t.position
"""


class FrozenVerification(NamedTuple):
    """A campaign about templates with what is known of its set of templates; the catalog by id."""

    id: int
    slug: str
    name: str
    state: str
    guidelines: str
    task: str
    template_set: str
    source: str
    seed: int
    file_sha256: str
    catalog: int
    n_judges: int


class FrozenTemplate(NamedTuple):
    """A template that was put to a panel; images by id, boxes by the image's role."""

    verification: str
    position: int
    task: str
    condition: str
    reference: int
    target: int
    gallery: list[int]
    kinds: list[str]
    boxes: dict[str, list[float]]


class FrozenVote(NamedTuple):
    """What a judge, by id of the account, said of a template last."""

    verification: str
    position: int
    annotator: int
    choice: str
    picked: int | None


class FrozenTemplateRuling(NamedTuple):
    """The last ruling on a template."""

    verification: str
    position: int
    passes: bool


def frozen_verifications(view: Snapshot, slugs: Sequence[str]) -> list[FrozenVerification]:
    """Return those of some campaigns about templates that exist, by slug."""
    return view.rows(FrozenVerification, VERIFICATIONS, [list(slugs)])


def verifiers_of(view: Snapshot, slugs: Sequence[str]) -> set[int]:
    """Return the ids of the accounts on the panels of some campaigns."""
    return set(view.values(VERIFIERS, [list(slugs)]))


def frozen_templates(view: Snapshot, slugs: Sequence[str]) -> list[FrozenTemplate]:
    """Return the templates of campaigns, by slug and position."""
    return view.rows(FrozenTemplate, TEMPLATES, [list(slugs)])


def frozen_votes(view: Snapshot, slugs: Sequence[str]) -> list[FrozenVote]:
    """Return the votes that stand."""
    return view.rows(FrozenVote, VOTES, [list(slugs)])


def frozen_template_rulings(view: Snapshot, slugs: Sequence[str]) -> list[FrozenTemplateRuling]:
    """Return the rulings that stand, by slug and position."""
    return view.rows(FrozenTemplateRuling, RULINGS, [list(slugs)])

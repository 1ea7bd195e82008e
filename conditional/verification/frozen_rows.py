"""What a release freezes of verified templates, as it was at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobs.snapshot import Snapshot

VERIFICATIONS = """
select v.id, v.slug, v.name, v.state, v.guidelines, s.task, s.name as template_set, s.source,
       s.seed, s.file_sha256, s.catalog_id as catalog,
       (select count(*) from conditional_verifier m where m.verification_id = v.id) as n_judges
from conditional_verification v join conditional_templateset s on s.id = v.template_set_id
where v.slug = any(%s) order by v.slug
"""
VERIFIERS = """
select m.annotator_id from conditional_verifier m
join conditional_verification v on v.id = m.verification_id where v.slug = any(%s)
"""
TEMPLATES = """
select v.slug as verification, t.position, s.task, t.condition, t.reference_id as reference,
       t.target_id as target, t.gallery, t.kinds, t.boxes
from conditional_verification v
join conditional_verification_templates a on a.verification_id = v.id
join conditional_retrievaltemplate t on t.id = a.retrievaltemplate_id
join conditional_templateset s on s.id = t.template_set_id
where v.slug = any(%s) order by v.slug, t.position
"""
VOTES = """
select * from (
    select distinct on (m.id, a.template_id) v.slug as verification, t.position,
           m.annotator_id as annotator, a.choice, a.picked
    from conditional_verifieranswer a join conditional_verifier m on m.id = a.verifier_id
    join conditional_verification v on v.id = m.verification_id
    join conditional_retrievaltemplate t on t.id = a.template_id
    where v.slug = any(%s) order by m.id, a.template_id, a.id desc
) last where choice <> 'withdrawn'
"""
RULINGS = """
select distinct on (v.slug, t.position) v.slug as verification, t.position, r.passes
from conditional_templateruling r join conditional_verification v on v.id = r.verification_id
join conditional_retrievaltemplate t on t.id = r.template_id
where v.slug = any(%s) order by v.slug, t.position, r.id desc
"""


class FrozenVerification(NamedTuple):
    """A verification with what is known of its set of templates; the catalog by id."""

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
    """Return those of some verifications of templates that exist, by slug."""
    return view.rows(FrozenVerification, VERIFICATIONS, [list(slugs)])


def verifiers_of(view: Snapshot, slugs: Sequence[str]) -> set[int]:
    """Return the ids of the accounts on the panels of some verifications."""
    return set(view.values(VERIFIERS, [list(slugs)]))


def frozen_templates(view: Snapshot, slugs: Sequence[str]) -> list[FrozenTemplate]:
    """Return the templates of verifications, by slug and position."""
    return view.rows(FrozenTemplate, TEMPLATES, [list(slugs)])


def frozen_votes(view: Snapshot, slugs: Sequence[str]) -> list[FrozenVote]:
    """Return the votes that stand."""
    return view.rows(FrozenVote, VOTES, [list(slugs)])


def frozen_template_rulings(view: Snapshot, slugs: Sequence[str]) -> list[FrozenTemplateRuling]:
    """Return the rulings that stand, by slug and position."""
    return view.rows(FrozenTemplateRuling, RULINGS, [list(slugs)])

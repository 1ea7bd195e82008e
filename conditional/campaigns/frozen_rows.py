"""What a release freezes of verified templates, as it was at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from annotation.queries.frozen_choices import (
    frozen_choice_campaigns,
    frozen_choice_rulings,
    frozen_choices,
    frozen_subjects,
)
from annotation.queries.frozen_rows import frozen_judges
from conditional.campaigns.kinds import PASSES, TEMPLATE, vote_of
from jobs.work.snapshot import Snapshot

SETS = """
select a.campaign_id as campaign, s.task, s.name, s.source, s.seed, s.file_sha256,
       s.catalog_id as catalog
from conditional_setcampaign a join conditional_templateset s on s.id = a.template_set_id
where a.campaign_id = any(%s)
"""
TEMPLATES = """
select t.id, t.position, s.task, t.condition, t.reference_id as reference, t.target_id as target,
       t.gallery, t.kinds, t.boxes
from conditional_retrievaltemplate t join conditional_templateset s on s.id = t.template_set_id
where t.id = any(%s)
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


class _Set(NamedTuple):
    campaign: int
    task: str
    name: str
    source: str
    seed: int
    file_sha256: str
    catalog: int


class _Template(NamedTuple):
    id: int
    position: int
    task: str
    condition: str
    reference: int
    target: int
    gallery: list[int]
    kinds: list[str]
    boxes: dict[str, list[float]]


def frozen_verifications(view: Snapshot, slugs: Sequence[str]) -> list[FrozenVerification]:
    """Return those of some campaigns about templates that exist, by slug."""
    campaigns = frozen_choice_campaigns(view, slugs, TEMPLATE)
    sets = view.rows(_Set, SETS, [[one.id for one in campaigns]])
    of_campaign = {one.campaign: one for one in sets}
    return [
        FrozenVerification(
            *one[:5], found.task, found.name, found.source, found.seed, found.file_sha256,
            found.catalog, one.n_judges,
        )
        for one, found in ((one, of_campaign[one.id]) for one in campaigns)
    ]  # fmt: skip


def verifiers_of(view: Snapshot, slugs: Sequence[str]) -> set[int]:
    """Return the ids of the accounts on the panels of some campaigns about templates."""
    campaigns = [one.id for one in frozen_choice_campaigns(view, slugs, TEMPLATE)]
    return {judge.account for judge in frozen_judges(view, campaigns)}


def frozen_templates(view: Snapshot, slugs: Sequence[str]) -> list[FrozenTemplate]:
    """Return the templates of campaigns, by slug and position."""
    asked = frozen_subjects(view, slugs)
    known = _templates(view, (one.subject for one in asked))
    return sorted(FrozenTemplate(one.campaign, *known[one.subject][1:]) for one in asked)


def frozen_votes(view: Snapshot, slugs: Sequence[str]) -> list[FrozenVote]:
    """Return the votes that stand."""
    given = frozen_choices(view, slugs)
    known = _templates(view, (one.subject for one in given))
    return [
        FrozenVote(one.campaign, known[one.subject].position, one.annotator, *vote_of(one.answer))
        for one in given
    ]


def frozen_template_rulings(view: Snapshot, slugs: Sequence[str]) -> list[FrozenTemplateRuling]:
    """Return the rulings that stand, by slug and position."""
    made = frozen_choice_rulings(view, slugs)
    known = _templates(view, (one.subject for one in made))
    return sorted(
        FrozenTemplateRuling(one.campaign, known[one.subject].position, one.answer == PASSES)
        for one in made
    )


def _templates(view: Snapshot, ids: Iterable[int]) -> dict[int, _Template]:
    return {one.id: one for one in view.rows(_Template, TEMPLATES, [sorted(set(ids))])}

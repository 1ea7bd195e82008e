"""What a release freezes of verified templates, as it was at one moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from annotation.queries.frozen_choices import FrozenChoiceCampaign, frozen_choice_campaigns
from annotation.queries.frozen_rows import frozen_judges
from conditional.campaigns.kinds import TEMPLATE
from jobs.work.snapshot import Snapshot

SETS = """
select a.campaign_id as campaign, s.task, s.name as template_set, s.source, s.seed, s.file_sha256,
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


class FrozenSet(NamedTuple):
    """The set of templates that a campaign, by id, asks about; the catalog by id."""

    campaign: int
    task: str
    template_set: str
    source: str
    seed: int
    file_sha256: str
    catalog: int


class FrozenTemplate(NamedTuple):
    """A template; images by id, boxes by the image's role."""

    id: int
    position: int
    task: str
    condition: str
    reference: int
    target: int
    gallery: list[int]
    kinds: list[str]
    boxes: dict[str, list[float]]


def frozen_verifications(
    view: Snapshot, slugs: Sequence[str]
) -> list[tuple[FrozenChoiceCampaign, FrozenSet]]:
    """Return those of some campaigns about templates that exist, by slug, each with its set."""
    campaigns = frozen_choice_campaigns(view, slugs, TEMPLATE)
    sets = view.rows(FrozenSet, SETS, [[one.id for one in campaigns]])
    set_of = {one.campaign: one for one in sets}
    return [(one, set_of[one.id]) for one in campaigns]


def verifiers_of(view: Snapshot, slugs: Sequence[str]) -> set[int]:
    """Return the ids of the accounts on the panels of some campaigns about templates."""
    campaigns = [one.id for one in frozen_choice_campaigns(view, slugs, TEMPLATE)]
    return {judge.account for judge in frozen_judges(view, campaigns)}


def frozen_templates(view: Snapshot, ids: Collection[int]) -> dict[int, FrozenTemplate]:
    """Return templates by their id, which is the subject of a campaign's question."""
    return {one.id: one for one in view.rows(FrozenTemplate, TEMPLATES, [sorted(ids)])}

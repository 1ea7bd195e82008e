"""What a release freezes of campaigns, as it was at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from annotation.notions import AskedNotion
from jobs.work.snapshot import Snapshot
from lookalike.agreement.grades import Scale

CAMPAIGNS = """
select id, slug, name, tie_rule, serving, k, seed, guideline_version, is_simulated, n_questions,
       state, asking_order, grades, similar_from, notion, notion_model, notion_prompts
from annotation_campaign where slug = any(%s) order by slug
"""
GUIDELINES = """
select c.slug as campaign, g.version,
       to_char(g.created_at at time zone 'UTC', 'YYYY-MM-DD') as date, g.text,
       g.language, g.translations::text
from annotation_guideline g join annotation_campaign c on c.id = g.campaign_id
where g.campaign_id = any(%s) order by c.slug, g.version
"""
IMAGES = """
select query_id from annotation_question where campaign_id = any(%s)
union select candidate_id from annotation_question where campaign_id = any(%s)
"""
QUERIES = """
select distinct query_id from annotation_question where campaign_id = any(%s) and kind = 'pair'
"""
OVERLAP = """
select exists (select from annotation_question where campaign_id = any(%s) and kind = 'pair'
               group by query_id, candidate_id having count(*) > 1)
"""
JUDGES = """
select id as member, annotator_id as account from annotation_panelmember
where campaign_id = any(%s)
"""
PAIRS = """
select query_id as query, candidate_id as image, campaign_id as campaign
from annotation_question where campaign_id = any(%s) and kind = 'pair'
"""
JUDGEMENTS = """
select q.query_id as query, q.candidate_id as image, j.member_id as member,
       split_part(j.answer, ':', 1) as answer,
       nullif(split_part(j.answer, ':', 2), '')::smallint as grade, e.reason,
       j.is_counted, e.mode,
       floor(extract(epoch from e.decided_at) / 3600)::bigint as hour,
       least(round(e.visible_ms, -2), 2147483600)::int as visible_ms, e.guideline_version,
       q.campaign_id as campaign
from annotation_judgement j
join annotation_question q on q.id = j.question_id
join annotation_judgementevent e on e.id = j.event_id
where q.campaign_id = any(%s) and q.kind = 'pair'
"""
RULINGS = """
select q.query_id as query, q.candidate_id as image, split_part(r.answer, ':', 1) as answer,
       nullif(split_part(r.answer, ':', 2), '')::smallint as grade
from annotation_adjudication r join annotation_question q on q.id = r.question_id
where q.campaign_id = any(%s) and q.kind = 'pair'
"""
_PAIR = {"query": pa.int64(), "image": pa.int64()}
_TEXT = pa.dictionary(pa.int32(), pa.string())
_PAIR_KINDS = {**_PAIR, "campaign": pa.int64()}
_JUDGEMENT_KINDS = {
    **_PAIR, "member": pa.int64(), "answer": _TEXT, "grade": pa.int8(), "reason": _TEXT,
    "is_counted": pa.bool_(),
    "mode": _TEXT, "hour": pa.int64(), "visible_ms": pa.int32(), "guideline_version": pa.int32(),
    "campaign": pa.int64(),
}  # fmt: skip


class FrozenCampaign(NamedTuple):
    """A campaign with its rules."""

    id: int
    slug: str
    name: str
    tie_rule: str
    serving: str
    k: int
    seed: int
    guideline_version: int
    is_simulated: bool
    n_questions: int
    state: str
    asking_order: str
    grades: str
    similar_from: int
    notion: str
    notion_model: str
    notion_prompts: str

    @property
    def scale(self) -> Scale | None:
        """The grades; None where a pair is similar or different."""
        words = tuple(self.grades.splitlines())
        return Scale(words, self.similar_from) if words else None

    @property
    def asked_notion(self) -> AskedNotion:
        """What similar means in it."""
        return AskedNotion.stored(self.notion, self.notion_model, self.notion_prompts)


class FrozenGuideline(NamedTuple):
    """A version of the guidelines of a campaign, named by its slug."""

    campaign: str
    version: int
    date: str
    text: str
    language: str
    translations: str  # JSON: the same text by code of other languages


class FrozenJudge(NamedTuple):
    """A seat on a panel and the account that holds it, by id."""

    member: int
    account: int


def frozen_campaigns(view: Snapshot, slugs: Sequence[str]) -> list[FrozenCampaign]:
    """Return those of some campaigns that exist, by slug."""
    return view.rows(FrozenCampaign, CAMPAIGNS, [list(slugs)])


def frozen_guidelines(view: Snapshot, campaigns: Sequence[int]) -> list[FrozenGuideline]:
    """Return every version of the guidelines, by slug of the campaign and version."""
    return view.rows(FrozenGuideline, GUIDELINES, [campaigns])


def images_asked_about(view: Snapshot, campaigns: Sequence[int]) -> list[int]:
    """Return the ids of all images of all questions, controls too."""
    return view.values(IMAGES, [campaigns, campaigns])


def queries_asked(view: Snapshot, campaigns: Sequence[int]) -> list[int]:
    """Return the image ids of the queries of all pairs."""
    return view.values(QUERIES, [campaigns])


def ask_a_pair_twice(view: Snapshot, campaigns: Sequence[int]) -> bool:
    """Return whether two of the campaigns ask the same pair."""
    return bool(view.values(OVERLAP, [campaigns])[0])


def frozen_judges(view: Snapshot, campaigns: Sequence[int]) -> list[FrozenJudge]:
    """Return every seat on the panels."""
    return view.rows(FrozenJudge, JUDGES, [campaigns])


def frozen_pairs(view: Snapshot, campaigns: Sequence[int]) -> pa.Table:
    """Return the pairs put to the judges: query, image, campaign, all by id."""
    return view.columns(PAIRS, [campaigns], _PAIR_KINDS)


def frozen_judgements(view: Snapshot, campaigns: Sequence[int]) -> pa.Table:
    """Return the answers that stand, with the hour since 1970 in which each was given.

    The time that a pair was seen is rounded to a tenth of a second.
    """
    return view.columns(JUDGEMENTS, [campaigns], _JUDGEMENT_KINDS)


def frozen_rulings(view: Snapshot, campaigns: Sequence[int]) -> pa.Table:
    """Return the rulings on pairs: query, image, answer, grade."""
    return view.columns(RULINGS, [campaigns], {**_PAIR, "answer": _TEXT, "grade": pa.int8()})

"""What pools hold, read from the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Count, QuerySet

from annotation.models import Campaign, CampaignState, Judgement, Question, QuestionKind
from annotation.queries.prepared import columns_of
from catalog.curation.services import omitted_ids
from catalog.images.content_pairs import content_pair
from catalog.models import Catalog, Image
from catalog.queries import with_attributes
from lookalike.pooling.eds import Proposals
from pooling.models import Pool, PoolSource, Proposal

Filters = Mapping[str, Sequence[str]]
PROPOSALS = """
select q.position, p.candidate_id, s.position, p.rank, p.score
from pooling_proposal p
join pooling_poolquery q on q.pool_id = p.pool_id and q.image_id = p.query_id
join pooling_poolsource s on s.id = p.source_id
where p.pool_id = %s and s.done_at is not null
"""
COLUMNS = {
    "query": ">i4", "candidate": ">i8", "source": ">i4", "rank": ">i4", "score": ">f8",
}  # fmt: skip


def pools_for_pages() -> QuerySet[Pool]:
    """Return all pools with what a page of pools shows of them, newest first."""
    return (
        Pool.objects.select_related("catalog", "query_catalog", "created_by")
        .prefetch_related("sources__job", "campaign_links__campaign")
        .annotate(n_queries=Count("queries"))
        .order_by("-id")
    )


def pool_of(campaign: Campaign) -> Pool | None:
    """Return the pool that a campaign judges, None for a campaign without one."""
    return Pool.objects.filter(campaign_links__campaign=campaign).first()


def proposed_pairs(campaigns: Iterable[Campaign]) -> Any:
    """Return what was proposed for the pools of campaigns, each with its `content_pair`."""
    pair = content_pair("query__sha256", "candidate__sha256")
    pools = Pool.objects.filter(campaign_links__campaign__in=campaigns)
    return Proposal.objects.filter(pool__in=pools).annotate(content_pair=pair).order_by()


def images_matching(catalog: Catalog, filters: Filters) -> QuerySet[Image]:
    """Return the catalog's images that have one of the values of every filter, by content hash.

    Without those that are left out. The order does not depend on who imported what when, so a
    seed means the same everywhere.
    """
    images = Image.objects.filter(catalog=catalog).exclude(pk__in=omitted_ids(catalog))
    return with_attributes(images.order_by("sha256"), filters)


def left_out_ids(pool: Pool) -> set[int]:
    """Return the ids of the catalog's images that no model ranks for a pool.

    Curation had left them out when the pool was made, and the pool does not ask about them.
    """
    omitted = omitted_ids(pool.catalog, pool.created_at)
    return omitted - {pk for pair in pool_pairs(pool) for pk in pair} if omitted else omitted


def stored_proposals(pool: Pool) -> tuple[list[PoolSource], Proposals]:
    """Return the sources that are done, and their proposals in the order of source, query, rank.

    A proposal's model is the source's place in the list, its query the position in the pool,
    its candidate an image id.
    """
    done = pool.sources.filter(done_at__isnull=False).select_related("embedding_set")
    sources = list(done.order_by("position"))
    found = columns_of(PROPOSALS, COLUMNS, pool.pk)
    order = np.lexsort((found["rank"], found["query"], found["source"]))
    query, candidate, source, rank, score = (found[name][order] for name in COLUMNS)
    positions = np.array([one.position for one in sources], np.int64)
    proposals = Proposals(
        query=query.astype(np.int64),
        candidate=candidate,
        model=np.searchsorted(positions, source),
        rank=rank.astype(np.int64),
        score=score.astype(np.float32),
        n_models=len(sources),
    )
    return sources, proposals


def pool_pairs(pool: Pool) -> list[tuple[int, int]]:
    """Return the distinct (query image id, candidate image id) of the sources that are done.

    Ordered by query position and candidate id, which tells nothing about who proposed what.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT q.position, p.query_id, p.candidate_id "
            "FROM pooling_proposal p JOIN pooling_poolquery q "
            "ON q.pool_id = p.pool_id AND q.image_id = p.query_id "
            "JOIN pooling_poolsource s ON s.id = p.source_id "
            "WHERE p.pool_id = %s AND s.done_at IS NOT NULL ORDER BY 1, 3",
            [pool.pk],
        )
        return [(row[1], row[2]) for row in cursor.fetchall()]


def judged_pairs(pool: Pool) -> set[tuple[int, int]]:
    """Return the (query image id, candidate image id) that some judge of the pool has answered."""
    campaigns = pool.campaign_links.values("campaign_id")
    answered = Judgement.objects.filter(
        question__campaign__in=campaigns, question__kind=QuestionKind.PAIR
    )
    return set(answered.values_list("question__query_id", "question__candidate_id"))


def without_campaign(pools: Iterable[Pool]) -> list[Pool]:
    """Return the pools that are ready and that no campaign judges."""
    return [pool for pool in pools if pool.has_ended and not pool.campaign_links.all()]


def unasked_by_campaign(pool: Pool) -> list[tuple[Campaign, int]]:
    """Return the campaigns of a pool that do not ask all of its pairs, with how many they miss.

    Those judged in rounds are not meant to.
    """
    n_pairs = int(pool.stats.get("pairs", 0))
    campaigns = [link.campaign for link in pool.campaign_links.all() if not link.in_rounds]
    gaps = [(campaign, n_pairs - campaign.n_questions) for campaign in campaigns]
    return [(campaign, gap) for campaign, gap in gaps if gap > 0]


def unasked_pairs(pool: Pool) -> int:
    """Return how many of a pool's pairs its largest gap leaves unasked in a campaign at work."""
    gaps = unasked_by_campaign(pool)
    return max((n for one, n in gaps if one.state != CampaignState.CLOSED), default=0)


@dataclass(frozen=True)
class ProposedBy:
    """One source's reason for a candidate: its name, rank from 1, and score."""

    spec: str
    rank: int
    score: float


@dataclass(frozen=True)
class ShownCandidate:
    """A candidate with everybody who proposed it, and the newest campaign's question about it."""

    image: Image
    proposed_by: list[ProposedBy]
    question: Question | None = None


@dataclass(frozen=True)
class ShownQuery:
    """A query with its candidates, those first that most sources agree on."""

    position: int
    image: Image
    candidates: list[ShownCandidate]


def shown_queries(pool: Pool, first: int, n: int) -> list[ShownQuery]:
    """Return `n` queries from position `first` on with all their candidates."""
    asked = list(
        pool.queries.filter(position__gte=first, position__lt=first + n).select_related("image")
    )
    proposals = Proposal.objects.filter(
        pool=pool, query_id__in=[row.image_id for row in asked], source__done_at__isnull=False
    ).order_by("source__position")
    rows = list(proposals.values_list("query_id", "candidate_id", "source__spec", "rank", "score"))
    images = Image.objects.in_bulk({candidate for _, candidate, *_ in rows})
    questions = _questions(pool, [row.image_id for row in asked])
    by_query: dict[int, dict[int, ShownCandidate]] = {row.image_id: {} for row in asked}
    for query, candidate, spec, rank, score in rows:
        of_query = by_query[query]
        if candidate not in of_query:
            question = questions.get((query, candidate))
            of_query[candidate] = ShownCandidate(images[candidate], [], question)
        of_query[candidate].proposed_by.append(ProposedBy(spec, rank + 1, score))
    return [
        ShownQuery(row.position, row.image, _agreed_first(by_query[row.image_id].values()))
        for row in asked
    ]


def _questions(pool: Pool, queries: Sequence[int]) -> dict[tuple[int, int], Question]:
    """Return what campaigns of a pool ask about the candidates of some queries, the newest ones."""
    campaigns = Campaign.objects.in_bulk(pool.campaign_links.values_list("campaign", flat=True))
    asked = Question.objects.filter(
        campaign__in=campaigns, query__in=queries, kind=QuestionKind.PAIR
    ).order_by("campaign_id")
    found = {(one.query_id, one.candidate_id): one for one in asked}
    for one in found.values():
        one.campaign = campaigns[one.campaign_id]
    return found


def _agreed_first(candidates: Iterable[ShownCandidate]) -> list[ShownCandidate]:
    def place(shown: ShownCandidate) -> tuple[int, int, int]:
        return (-len(shown.proposed_by), min(by.rank for by in shown.proposed_by), shown.image.pk)

    return sorted(candidates, key=place)

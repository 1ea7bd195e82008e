"""The API's routes about pools: what proposed which pairs, and how that work stands."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema

from api.access import reads, reads_judgements
from api.errors import errors
from api.paging import Page, PageQuery, cursor_of, keys_in, part_of
from pooling.models import Pool, PoolSource
from pooling.pools.pair_queries import n_queries_by_pool, pairs_with_reasons
from pooling.pools.queries import pools_for_pages

router = Router(tags=["Pools"], auth=reads)


class PoolOut(Schema):
    """The candidates that several models propose for a fixed list of queries."""

    slug: str
    name: str
    catalog: str
    query_catalog: str = Field(description="Where the queries come from; often the same.")
    state: str = Field(description="filling, complete, partial (some model failed) or failed.")
    k: int = Field(description="Depth: candidates that each model proposes for a query.")
    seed: int
    queries: str = Field(description="How they were chosen, in words.")
    exclude_same_product: bool
    candidates: str = Field(description="Further rules on candidates in words; empty for none.")
    index: str = Field(description="exact, or ivf: an approximate index.")
    n_queries: int
    n_pairs: int = Field(description="Distinct pairs; 0 until a model is done.")
    campaigns: list[str] = Field(description="Slugs of the campaigns that judge it.")
    created_at: datetime


class PoolModel(Schema):
    """A model that proposes for a pool."""

    spec: str
    k: int
    state: str = Field(description="queued, running, done, failed or cancelled.")
    n_proposals: int
    error: str
    done_at: datetime | None


class PoolWhole(PoolOut):
    """A pool with its models and its figures."""

    models: list[PoolModel]
    stats: dict[str, Any] = Field(description="Sizes, overlaps and the saving over judging all.")


class Reason(Schema):
    """Why a pair is in a pool."""

    model: str
    rank: int = Field(description="From 1.")
    score: float = Field(description="The model's own similarity; may be negative.")


class PooledPair(Schema):
    """A query and a candidate, by uid, with everybody who proposed the candidate."""

    query: uuid.UUID
    candidate: uuid.UUID
    proposed_by: list[Reason]


@router.get("/pools", response={200: Page[PoolOut], **errors(422)}, summary="List pools")
def pools(request: HttpRequest, page: Query[PageQuery]) -> dict[str, object]:
    """Return the pools, newest first."""
    part = part_of(pools_for_pages(), page, newest_first=True)
    n_queries = n_queries_by_pool(part.rows)
    return {
        "items": [_shown(pool, n_queries.get(pool.pk, 0)) for pool in part.rows],
        "next": part.next,
    }


@router.get("/pools/{slug:slug}", response={200: PoolWhole, **errors(404)}, summary="One pool")
def pool(request: HttpRequest, slug: str) -> dict[str, object]:
    """Return a pool with the state of each model."""
    found = get_object_or_404(pools_for_pages(), slug=slug)
    models = [_shown_model(source) for source in found.sources.all()]
    return {**_shown(found, found.queries.count()).dict(), "models": models, "stats": found.stats}


@router.get(
    "/pools/{slug:slug}/pairs",
    auth=reads_judgements,
    response={200: Page[PooledPair], **errors(404, 422)},
    summary="Pairs of a pool",
)
def pairs(request: HttpRequest, slug: str, page: Query[PageQuery]) -> dict[str, object]:
    """Return the pairs with models, ranks and scores. For admins: judging must stay blind."""
    found = get_object_or_404(Pool, slug=slug)
    place = keys_in(page.after, 2) if page.after else None
    rows = pairs_with_reasons(found, after=place, limit=page.limit + 1)
    shown = rows[: page.limit]
    items = [
        PooledPair(
            query=row.query,
            candidate=row.candidate,
            proposed_by=[
                Reason(model=by.spec, rank=by.rank, score=by.score) for by in row.proposed_by
            ],
        )
        for row in shown
    ]
    return {"items": items, "next": cursor_of(shown[-1].key) if len(rows) > page.limit else None}


def _shown(pool: Pool, n_queries: int) -> PoolOut:
    return PoolOut(
        slug=pool.slug,
        name=pool.name,
        catalog=pool.catalog.slug,
        query_catalog=pool.asking.slug,
        state=pool.state.value,
        k=pool.k,
        seed=pool.seed,
        queries=pool.rule.describe(),
        exclude_same_product=pool.exclude_same_product,
        candidates=pool.candidates.describe(),
        index=pool.index,
        n_queries=n_queries,
        n_pairs=pool.stats.get("pairs", 0),
        campaigns=[link.campaign.slug for link in pool.campaign_links.all()],
        created_at=pool.created_at,
    )


def _shown_model(source: PoolSource) -> PoolModel:
    return PoolModel(
        spec=source.spec,
        k=source.k,
        state=source.state.value,
        n_proposals=source.n_proposals,
        error=source.error,
        done_at=source.done_at,
    )

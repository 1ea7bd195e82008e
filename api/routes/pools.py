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
from api.paging import Page, PageQuery, Part, keys_in, make_cursor, read_part
from audit.services import record_part
from pooling.models import Pool
from pooling.pools.pair_queries import ReasonedPair, pairs_with_reasons
from pooling.pools.queries import pools_for_pages

router = Router(tags=["Pools"], auth=reads)


class PoolOut(Schema):
    """The candidates that several models propose for a fixed list of queries."""

    slug: str
    name: str
    catalog: str = Field(validation_alias="catalog.slug")
    query_catalog: str = Field(
        validation_alias="asking.slug", description="Where the queries come from; often the same."
    )
    state: str = Field(description="filling, complete, partial (some model failed) or failed.")
    k: int = Field(description="Depth: candidates that each model proposes for a query.")
    seed: int
    queries: str = Field(
        validation_alias="rule.describe", description="How they were chosen, in words."
    )
    exclude_same_product: bool
    shared_product_ids: bool = Field(
        description="Queries come from another catalog, and a product id means the same in both."
    )
    candidates: str = Field(
        validation_alias="candidates.describe",
        description="Further rules on candidates in words; empty for none.",
    )
    index: str = Field(description="exact, or ivf: an approximate index.")
    n_queries: int
    n_pairs: int = Field(description="Distinct pairs; 0 until a model is done.")
    campaigns: list[str] = Field(description="Slugs of the campaigns that judge it.")
    created_at: datetime

    @staticmethod
    def resolve_n_pairs(pool: Pool) -> int:
        return int(pool.stats.get("pairs", 0))

    @staticmethod
    def resolve_campaigns(pool: Pool) -> list[str]:
        return [link.campaign.slug for link in pool.campaign_links.all()]


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

    models: list[PoolModel] = Field(validation_alias="sources")
    stats: dict[str, Any] = Field(description="Sizes, overlaps and the saving over judging all.")


class Reason(Schema):
    """Why a pair is in a pool."""

    model: str = Field(validation_alias="spec")
    rank: int = Field(description="From 1.")
    score: float = Field(description="The model's own similarity; may be negative.")


class PooledPair(Schema):
    """A query and a candidate, by uid, with everybody who proposed the candidate."""

    query: uuid.UUID
    candidate: uuid.UUID
    proposed_by: list[Reason]


@router.get("/pools", response={200: Page[PoolOut], **errors(422)}, summary="List pools")
def pools(request: HttpRequest, page: Query[PageQuery]) -> Part[Pool]:
    """Return the pools, newest first."""
    return read_part(pools_for_pages(), page, newest_first=True)


@router.get("/pools/{slug:slug}", response={200: PoolWhole, **errors(404)}, summary="One pool")
def pool(request: HttpRequest, slug: str) -> Pool:
    """Return a pool with the state of each model."""
    return get_object_or_404(pools_for_pages(), slug=slug)


@router.get(
    "/pools/{slug:slug}/pairs",
    auth=reads_judgements,
    response={200: Page[PooledPair], **errors(404, 422)},
    summary="Pairs of a pool",
)
def pairs(request: HttpRequest, slug: str, page: Query[PageQuery]) -> Part[ReasonedPair]:
    """Return the pairs with models, ranks and scores. For admins: judging must stay blind."""
    pool = get_object_or_404(Pool, slug=slug)
    place = keys_in(page.after, 2) if page.after else None
    record_part(request, pool, what="pairs", is_first=place is None)
    rows = pairs_with_reasons(pool, after=place, limit=page.limit + 1)
    shown = rows[: page.limit]
    return Part(shown, make_cursor(shown[-1].key) if len(rows) > page.limit else None)

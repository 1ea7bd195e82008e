"""Make the pool of a design, and the draft of its campaign once that is filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from accounts.models import User
from annotation.models import Campaign, Serving
from annotation.queries.guidelines import guideline_in_force
from catalog.models import Catalog
from evaluation.models import PlannedCampaign
from evaluation.rounds.draw import check_pool
from evaluation.rounds.services import RoundRules, open_campaign_in_rounds
from jobs.models import Job
from lookalike.core.errors import Refused
from lookalike.planning.designs import Design, Goals
from lookalike.planning.planner import N_ROUNDS
from lookalike.pooling.query_rule import QueryRule
from pooling.campaign.services import campaign_name, check_panel, open_pool_campaign
from pooling.models import Pool, PoolState
from pooling.new_pool.requests import PoolRequest
from pooling.pools.queries import pool_of
from pooling.pools.services import create_pool


@transaction.atomic
def make_planned_pool(
    *,
    plan: Job,
    design: Design,
    name: str,
    catalog: Catalog,
    models: Sequence[str],
    panel: Sequence[User],
    owner: User,
) -> Pool:
    """Store the pool of a design, not started yet, and what its campaign shall be.

    Where a plan was tried out on a pilot of the same catalog, queries are drawn by its rules, with
    another seed, and candidates are those that it admits.

    Args:
        plan: the job that made the plan.
        design: of its designs.
        name: of pool and campaign.
        catalog: of candidates and, without a pilot, of queries.
        models: their specs.
        panel: at least as many as the design's judges.
        owner: who makes it.

    Raises:
        Refused: naming what cannot be; a pool that rounds cannot judge, where a part is planned.
    """
    check_panel(panel)
    like = Campaign.objects.filter(pk=plan.arguments["pilot"]).first()
    request = PoolRequest(
        name=name,
        catalog=catalog,
        specs=models,
        k=design.depth,
        rule=QueryRule(n=design.n_queries),
    )
    pilot_pool = pool_of(like) if like else None
    if pilot_pool is not None and pilot_pool.catalog_id == catalog.pk:
        request = _by_rules_of(pilot_pool, request)
    pool = create_pool(request=request, created_by=owner)
    if design.share < 1.0:
        check_pool(pool)
    goals = Goals(**plan.arguments["wish"])
    planned = PlannedCampaign.objects.create(
        pool=pool,
        plan=plan.uid,
        like=like,
        n_judges=design.n_judges,
        share=design.share,
        measure=plan.arguments["measure"],
        orders=goals.order is not None,
        width=goals.width,
        created_by=owner,
    )
    planned.panel.set(panel)
    return pool


def _by_rules_of(pilot: Pool, request: PoolRequest) -> PoolRequest:
    rule = pilot.rule
    return replace(
        request,
        query_catalog=pilot.query_catalog,
        rule=QueryRule(
            n=request.rule.n,
            filters=rule.filters,
            strata=rule.strata,
            one_per_product=rule.one_per_product,
        ),
        seed=pilot.seed + 1,
        exclude_same_product=pilot.exclude_same_product,
        shared_product_ids=pilot.shared_product_ids,
        candidates=pilot.candidates,
        index=pilot.index,
    )


def draft_planned_campaigns() -> int:
    """Make the drafts whose pools are filled; return how many. What cannot be made says why."""
    n_made = 0
    waiting = PlannedCampaign.objects.filter(campaign=None, problem="")
    for pk in waiting.values_list("pk", flat=True):
        with transaction.atomic():
            planned = (
                waiting.select_for_update(of=("self",), skip_locked=True)
                .select_related("pool")
                .filter(pk=pk)
                .first()
            )
            if planned is None or planned.pool.state != PoolState.COMPLETE:
                continue
            try:
                with transaction.atomic():
                    planned.campaign = _draft(planned)
                n_made += 1
            except Refused as problem:
                planned.problem = problem.message
            planned.save(update_fields=["campaign", "problem"])
    return n_made


def _draft(planned: PlannedCampaign) -> Campaign:
    pool, panel = planned.pool, list(planned.panel.order_by("username"))
    rules: dict[str, Any] = {}
    if planned.n_judges < len(panel):
        rules = {"serving": Serving.K_OF_N, "k": planned.n_judges}
    common = {
        "pool": pool,
        "name": campaign_name(pool.name).free or pool.name,
        "panel": panel,
        "owner": planned.created_by,
        "rules": rules,
        **(_as_in(planned.like) if planned.like else {}),
    }
    if planned.share == 1.0:
        return open_pool_campaign(is_draft=True, **common)
    round_rules = RoundRules(
        share=planned.share / N_ROUNDS,
        measure=planned.measure,
        n_looks=N_ROUNDS,
        orders=planned.orders,
        width=planned.width,
    )
    return open_campaign_in_rounds(round_rules=round_rules, **common)


def _as_in(like: Campaign) -> dict[str, Any]:
    """Return what judges are asked and told, as in another campaign; texts without pictures."""
    guideline = guideline_in_force(like.pk)
    return {
        "scale": like.kind.scale,
        "tie_rule": like.tie_rule,
        "guidelines": "" if guideline.pictures else guideline.text,
        "notion": like.notion,
        "notion_model": like.notion_model,
    }

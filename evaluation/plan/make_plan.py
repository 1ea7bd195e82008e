"""Make a plan: try every design out on a pilot, or on a campaign simulated from assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Campaign
from evaluation.plan.pilots import pilot_of
from evaluation.plan.services import Plan, PlanLine
from jobs.services import JobError, JobProgress
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.planning.designs import Costs, Design, Goals, cheapest, frontier
from lookalike.planning.planner import assumed_pilot, forecast
from lookalike.planning.simulator import World
from pooling.pools.queries import pool_of


def make_plan(
    *,
    pilot: int | None,
    designs: Sequence[Mapping[str, Any]],
    measure: str,
    costs: Mapping[str, Any],
    wish: Mapping[str, Any],
    world: Mapping[str, Any],
    progress: JobProgress,
) -> dict[str, Any]:
    """Return a plan as JSON; may run twice.

    Raises:
        JobError: the pilot was deleted, lacks what a plan needs, or is not as deep as a design.
    """
    wanted = [Design(**design) for design in designs]
    campaign = None if pilot is None else _pilot_campaign(pilot)
    if campaign is None:
        tried_on = assumed_pilot(World(**world), wanted)
    else:
        tried_on = pilot_of(campaign, progress)
    try:
        Goals(**wish).refuse_order_of_one(tried_on.pool.models)
    except Refused as problem:
        raise JobError(f"The pilot cannot tell: {problem.message}.") from problem
    try:
        found = forecast(tried_on, wanted, [measure], Costs(**costs), progress=progress)
    except (Refused, InputError) as problem:
        raise JobError(f"{problem}.") from problem
    if not found:
        raise JobError(f"No design is deep enough for {measure}.")
    best = cheapest(found, Goals(**wish))
    on_frontier = {one.design for one in frontier(found)}
    plan = Plan(
        lines=[
            PlanLine.of(one, is_best=one.design in on_frontier)
            for one in sorted(found, key=lambda one: (one.hours, one.design))
        ],
        cheapest=None if best is None else best.design,
        neighbours=[] if best is None else [list(pair) for pair in best.neighbours],
        n_pilot_queries=tried_on.pool.n_queries,
        n_pilot_units=tried_on.pool.n_units,
        n_pilot_models=len(tried_on.pool.models),
        has_rules=campaign is not None and _has_rules(campaign),
    )
    return dict(as_json(plan))


def _pilot_campaign(pilot: int) -> Campaign:
    campaign = Campaign.objects.filter(pk=pilot).first()
    if campaign is None:
        raise JobError("The pilot was deleted.")
    return campaign


def _has_rules(campaign: Campaign) -> bool:
    pool = pool_of(campaign)
    return pool is not None and bool(pool.candidates)

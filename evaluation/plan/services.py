"""Ask for a plan, and what a plan says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from accounts.models import User
from annotation.models import Campaign
from jobs.models import OPEN_STATES, Job
from jobs.services import cancel_job, enqueue
from lookalike.planning.designs import Costs, Design, Forecast, Goals
from lookalike.planning.simulator import World
from lookalike.stats.units import sample_words

PLAN_TASK = "evaluation.tasks.plan"


@dataclass(frozen=True)
class PlanLine:
    """What one design would bring.

    Attributes:
        design: it.
        n_pairs: that would be judged.
        hours: of all judges.
        money: for them.
        width: half of the widest interval; NaN where one is unknown.
        width_from, width_to: the range in which most such widths come, as `Forecast` says it; NaN
            where it is unknown, and of plans that knew none.
        bias: how far wrong labels move a value at most.
        off: how far any value may be off: the largest of width and bias together.
        order: probability, at least, that all models come out in the right order.
        is_best: no cheaper design is less off.
    """

    design: Design
    n_pairs: int
    hours: float
    money: float
    width: float
    bias: float
    off: float
    order: float
    is_best: bool
    width_from: float = float("nan")
    width_to: float = float("nan")

    @classmethod
    def of(cls, one: Forecast, *, is_best: bool) -> PlanLine:
        """Return the line of a forecast."""
        width_from, width_to = one.widest_range
        return cls(
            design=one.design,
            n_pairs=one.n_pairs,
            hours=one.hours,
            money=one.money,
            width=one.widest,
            bias=max(one.biases),
            off=one.off,
            order=one.order,
            is_best=is_best,
            width_from=width_from,
            width_to=width_to,
        )


@dataclass(frozen=True)
class Plan:
    """What was found.

    Attributes:
        lines: every design, by hours.
        cheapest: the design of fewest hours that meets the goals; None if none does.
        neighbours: of it: (upper, lower, probability that they come out in this order).
        n_pilot_queries: that designs were tried out on.
        n_pilot_units: their products, which intervals take as independent where queries share
            one; None of plans made before that.
        n_pilot_models: ranked there.
        has_rules: whether the pilot's pool has rules on candidates, by which its models are ranked.
    """

    lines: list[PlanLine]
    cheapest: Design | None
    neighbours: list[list[Any]]
    n_pilot_queries: int
    n_pilot_models: int
    has_rules: bool = False
    n_pilot_units: int | None = None

    @property
    def pilot_sample(self) -> str:
        """The queries that designs were tried out on, in words."""
        return sample_words(self.n_pilot_queries, self.n_pilot_units)

    @property
    def shares_units(self) -> bool:
        """Whether queries of the pilot share a product."""
        return self.n_pilot_units is not None and self.n_pilot_units < self.n_pilot_queries


def request_plan(
    *,
    pilot: Campaign | None,
    designs: Sequence[Design],
    measure: str,
    costs: Costs,
    wish: Goals,
    world: World,
    owner: User,
) -> Job:
    """Queue a plan; an earlier one of the same person that is open is called off.

    Raises:
        JobConflictError: the person has too many jobs waiting.
    """
    subject = f"plan by {owner.pk}"
    for job in Job.objects.filter(task=PLAN_TASK, subject=subject, state__in=OPEN_STATES):
        cancel_job(job=job)
    return enqueue(
        task=PLAN_TASK,
        subject=subject,
        title=f"Plan of a campaign like “{pilot}”" if pilot else "Plan of a campaign",
        arguments={
            "pilot": pilot.pk if pilot else None,
            "designs": [asdict(design) for design in designs],
            "measure": measure,
            "costs": asdict(costs),
            "wish": asdict(wish),
            "world": asdict(world),
        },
        owner=owner,
    )

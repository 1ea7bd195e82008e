"""What the page of a campaign's rounds shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Serving
from annotation.queries.numbers import members_at_work
from evaluation.models import RoundPlan
from evaluation.results.leaderboard import HEADINGS
from evaluation.results.stored import RoundsSummary
from evaluation.rounds.progress import RoundProgress, next_round_problem, unfinished_problem
from evaluation.rounds.services import is_met, look_of
from lookalike.pooling.stats import expert_hours
from lookalike.stats.intervals import LEAST_QUERIES
from lookalike.stats.text_tables import PAGE
from pooling.pools.costs import SECONDS_PER_PAIR

SAYS = {"above": "is above", "alike": "is about like", "open": "may be above or below"}


@dataclass(frozen=True)
class RoundLine:
    """A round with what it took and what was known after it.

    Attributes:
        progress: of the round.
        look: what was known; None before anybody looked.
        hours: that its pairs were on screen.
        width, recall: as the page shows them.
    """

    progress: RoundProgress
    look: RoundsSummary | None
    hours: float
    width: str
    recall: str


@dataclass(frozen=True)
class Goal:
    """One goal: whether it is met, and how things stand."""

    title: str
    is_met: bool
    now: str


@dataclass(frozen=True)
class RoundsPage:
    """What is known of a campaign's rounds.

    Attributes:
        lines: its rounds.
        look: after the last one that was looked at.
        found_at_least: share of the similar pairs, as the page shows it.
        goals: by the last look.
        is_met: whether all of them are.
        order: what the last look claims of neighbours: (upper, says, lower, difference).
        missing: what is missing until the goals are met, in words; "" where nothing is.
        next_number: of the round to come.
        next_problem: why it cannot be opened, "" if it can.
        stop_problem: why nothing can be claimed now, "" if something can.
    """

    lines: list[RoundLine]
    look: RoundsSummary | None
    found_at_least: str
    goals: list[Goal]
    is_met: bool
    order: list[tuple[str, str, str, str]]
    missing: str
    next_number: int
    next_problem: str
    stop_problem: str


def rounds_page(plan: RoundPlan, rounds: Sequence[RoundProgress]) -> RoundsPage:
    """Return what the page shows."""
    lines = [_line(one) for one in rounds]
    look = next((line.look for line in reversed(lines) if line.look), None)
    problem = unfinished_problem(rounds)
    if not problem and lines[-1].look is None:
        problem = "Nobody has looked at what is known since the last round."
    return RoundsPage(
        lines=lines,
        look=look,
        found_at_least=at_least(look.recall) if look else "",
        goals=_goals(plan, look) if look else [],
        is_met=look is not None and is_met(plan, look),
        order=[(two.upper, SAYS[two.verdict], two.lower, f"difference {two.difference:+.4f}")
               for two in look.neighbours] if look else [],
        missing=_missing(plan, look, rounds) if look else "",
        next_number=len(lines) + 1,
        next_problem=next_round_problem(plan, rounds),
        stop_problem=problem,
    )  # fmt: skip


def at_least(share: float) -> str:
    """Return a lower bound in percent, rounded down, so that it still is one."""
    return PAGE.share(share if math.isnan(share) else math.floor(1000 * share) / 1000)


def _line(one: RoundProgress) -> RoundLine:
    look = look_of(one.row)
    return RoundLine(
        progress=one,
        look=look,
        hours=one.effort.hours,
        width=_shown(look.half_width) if look else "",
        recall=at_least(look.recall) if look else "–",
    )


def _goals(plan: RoundPlan, look: RoundsSummary) -> list[Goal]:
    goals = []
    if plan.orders:
        n_open = sum(two.verdict == "open" for two in look.neighbours)
        now = f"now {len(look.neighbours) - n_open} of {len(look.neighbours)} neighbours settled"
        goals.append(Goal("Order of the models", look.order_is_known, now))
    if plan.width is not None:
        is_narrow = look.half_width <= plan.width
        now = f"now ± {_shown(look.half_width)}"
        name = HEADINGS.get(plan.measure, plan.measure)
        goals.append(Goal(f"No {name} off by more than ± {plan.width:g}", is_narrow, now))
    if plan.recall is not None:
        now = "–" if math.isnan(look.recall) else f"now at least {at_least(look.recall)}"
        title = f"{PAGE.share(plan.recall, 0)} of the similar pairs found"
        goals.append(Goal(title, look.recall >= plan.recall, now))
    return goals


def _missing(plan: RoundPlan, look: RoundsSummary, rounds: Sequence[RoundProgress]) -> str:
    """Return what judging is missing until the goals for order and width are met, in words."""
    if is_met(plan, look) or not (plan.orders or plan.width is not None):
        return ""
    if not look.is_planned:
        return "All looks planned are taken: nothing more is claimed, whatever is judged."
    if look.n_units is not None and look.n_units < LEAST_QUERIES:
        return (
            f"No interval holds below {LEAST_QUERIES} products, and these are {look.sample}. "
            "A pool of more products would tell."
        )
    if math.isnan(look.share_needed):
        return (
            "Judging all of the pool will hardly do: the queries differ too much among "
            "themselves. More queries would tell, or lower goals."
        )
    if look.share_needed <= look.judged:
        return ""
    n_pairs = max(1, round((look.share_needed - look.judged) * look.n_pairs))
    hours = n_pairs * _hours_per_pair(plan, rounds)
    share = PAGE.share(look.share_needed, 0)
    return (
        f"About {hours:,.1f} hours of all judges, {n_pairs:,} pairs, until order and width are "
        f"known: then {share} of the pool is judged. A forecast, not a promise."
    )


def _hours_per_pair(plan: RoundPlan, rounds: Sequence[RoundProgress]) -> float:
    """Return what a pair takes all judges: as measured, else as plans assume."""
    n_labelled = sum(one.n_labelled for one in rounds)
    measured = sum(one.effort.hours for one in rounds)
    if measured and n_labelled:
        return measured / n_labelled
    campaign = plan.campaign
    is_leased = campaign.serving == Serving.K_OF_N
    n_votes = campaign.k if is_leased else members_at_work(campaign).count()
    return expert_hours(n_votes, SECONDS_PER_PAIR)


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"

"""Make campaigns that are judged in rounds, open rounds, and stop. The only writers of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from annotation.bulk import copy_rows
from annotation.errors import CampaignError
from annotation.models import Campaign
from annotation.queries.labels import labels
from annotation.services import add_questions
from audit.actions import Action
from audit.services import record
from evaluation.models import Round, RoundPair, RoundPlan
from evaluation.results.inputs import label_digest
from evaluation.results.stored import RoundsSummary
from evaluation.rounds.draw import PairPool, check_pool, draw, pair_pool
from evaluation.rounds.progress import next_round_problem, rounds_progress, unfinished_problem
from jobs.models import Job
from jobs.services import enqueue
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.core.errors import Refused
from lookalike.planning.label_model import LABEL_MODEL
from lookalike.planning.measures import needed_depth
from lookalike.planning.rounds import Round as Draw
from lookalike.stats.text_tables import PAGE
from pooling.campaign.services import open_pool_campaign
from pooling.models import Pool
from pooling.pools.queries import pool_of

LOOK_TASK = "evaluation.tasks.look"
MOST_LOOKS = 50


@dataclass(frozen=True, kw_only=True)
class RoundRules:
    """How a campaign is judged in rounds; see `RoundPlan` for each."""

    share: float
    measure: str
    n_looks: int
    floor: float | None = None
    seed: int = 0
    alpha: float = 0.05
    alike: float = 0.0
    orders: bool = False
    width: float | None = None
    recall: float | None = None
    opens_itself: bool = False


@transaction.atomic
def open_campaign_in_rounds(
    *,
    pool: Pool,
    round_rules: RoundRules,
    owner: User | None = None,
    **campaign: Any,
) -> Campaign:
    """Draw the first round and make a draft of it, whose panel is asked nothing else yet.

    Args:
        pool: to be judged.
        round_rules: of the rounds.
        owner: who makes it.
        campaign: what else `open_pool_campaign` takes.

    Raises:
        Refused: the pool cannot be judged in rounds, a rule makes no sense, or as
            `open_pool_campaign`.
    """
    check_pool(pool)
    pairs = pair_pool(pool)
    check_rules(round_rules, pairs)
    nothing = np.full(pairs.ranked.n_pairs, np.nan)
    drawn = draw(
        pairs,
        nothing,
        share=round_rules.share,
        floor=round_rules.floor,
        seed=round_rules.seed,
        n_rounds=0,
    )
    first = [(query, candidate) for query, candidate in pairs.image_ids[drawn.drawn].tolist()]
    if not first:
        raise Refused("share", "the draw came out empty; let a round draw more.")
    made = open_pool_campaign(pool=pool, owner=owner, is_draft=True, first_round=first, **campaign)
    plan = RoundPlan.objects.create(campaign=made, created_by=owner, **vars(round_rules))
    _store_round(plan, 1, pairs, drawn, owner)
    return made


def check_rules(rules: RoundRules, pairs: PairPool) -> None:
    """Raise Refused naming the first rule that makes no sense for a pool."""
    if not 0.0 < rules.share <= 1.0:
        raise Refused("share", f"a round cannot draw {PAGE.share(rules.share, 0)} of the pool.")
    if not 1 <= rules.n_looks <= MOST_LOOKS:
        raise Refused("n_looks", f"plan 1 to {MOST_LOOKS} looks.")
    if not 0.0 < rules.alpha < 1.0:
        raise Refused("alpha", f"{rules.alpha:g} is no chance of a wrong claim.")
    if needed_depth(rules.measure) > pairs.ranked.depth:
        raise Refused(
            "measure",
            f"{rules.measure} needs a deeper pool; this one is {pairs.ranked.depth} deep.",
        )
    if rules.orders and len(pairs.ranked.models) < 2:
        raise Refused("orders", "one model alone has no order; set a width instead.")


@transaction.atomic
def open_round(*, campaign: Campaign, number: int, by: User | None) -> Round:
    """Draw the next round and mix its pairs into what judges have still to answer.

    Args:
        campaign: judged in rounds.
        number: of the round to open, as whoever asks knows it: one that was opened meanwhile is
            not opened twice.
        by: who asks; None: it opens itself.

    Raises:
        Refused: saying why it cannot be opened.
    """
    plan = RoundPlan.objects.select_for_update(of=("self",)).select_related("campaign").get(
        campaign=campaign
    )  # fmt: skip
    rounds = rounds_progress(plan)
    if number <= len(rounds):
        raise Refused("number", f"Round {number} was opened already.")
    if number > len(rounds) + 1:
        raise Refused("number", f"Round {number} does not come next: {len(rounds) + 1} does.")
    problem = next_round_problem(plan, rounds)
    pool = pool_of(plan.campaign)
    if problem or pool is None:
        raise Refused("number", problem)
    check_pool(pool)
    pairs = pair_pool(pool)
    known = pairs.labels(plan.campaign)
    drawn = draw(
        pairs, known, share=plan.share, floor=plan.floor, seed=plan.seed, n_rounds=len(rounds)
    )
    row = _store_round(plan, number, pairs, drawn, by)
    try:
        add_questions(
            campaign=plan.campaign,
            pairs=[
                (query, candidate) for query, candidate in pairs.image_ids[drawn.drawn].tolist()
            ],
        )
    except CampaignError as problem_found:
        raise Refused("number", str(problem_found)) from problem_found
    return row


def _store_round(
    plan: RoundPlan, number: int, pairs: PairPool, drawn: Draw, by: User | None
) -> Round:
    is_open = ~np.isnan(drawn.probabilities)
    row = Round.objects.create(
        plan=plan,
        number=number,
        n_known=int((~is_open).sum()),
        n_open=int(is_open.sum()),
        n_drawn=int(drawn.drawn.sum()),
        guess=LABEL_MODEL,
        opened_by=by,
    )
    copy_rows(
        RoundPair,
        ("round_id", "query_id", "candidate_id", "probability", "is_drawn"),
        (
            (row.pk, query, candidate, probability, was_drawn)
            for (query, candidate), probability, was_drawn in zip(
                pairs.image_ids[is_open].tolist(),
                drawn.probabilities[is_open].tolist(),
                drawn.drawn[is_open].tolist(),
                strict=True,
            )
        ),
    )
    record(by, Action.ROUND_OPENED, plan.campaign, number=number, n_pairs=row.n_drawn)
    return row


def store_look(*, campaign: Campaign, look: RoundsSummary) -> None:
    """Keep what was known after the last round."""
    last = Round.objects.filter(plan__campaign=campaign).order_by("number").last()
    if last is not None and last.number == look.n_rounds:
        last.look = as_json(look)
        last.save(update_fields=["look"])


@transaction.atomic
def stop_rounds(*, campaign: Campaign, by: User) -> RoundPlan:
    """End judging, and keep for good what was known after the last round.

    Raises:
        Refused: it was stopped before, a round is being judged, nobody has looked at what is
            known since, or labels have changed since then.
    """
    plan = RoundPlan.objects.select_for_update(of=("self",)).select_related("campaign").get(
        campaign=campaign
    )  # fmt: skip
    if plan.stopped_at is not None:
        raise Refused("", "Judging was stopped already.")
    rounds = rounds_progress(plan)
    if problem := unfinished_problem(rounds):
        raise Refused("", problem)
    look = rounds[-1].row.look
    if not look:
        raise Refused("", "Nobody has looked at what is known since the last round.")
    if look["labels"] != label_digest(labels(plan.campaign)):
        raise Refused("", "Labels have changed since somebody looked: look again.")
    plan.claim = {**look, "round": rounds[-1].row.number}
    plan.stopped_at, plan.stopped_by = timezone.now(), by
    plan.save(update_fields=["claim", "stopped_at", "stopped_by"])
    record(by, Action.ROUNDS_STOPPED, plan.campaign, round=rounds[-1].row.number)
    return plan


def look_subject(campaign: Campaign, number: int) -> str:
    """Return what the jobs are about that look at what is known after a round."""
    return f"round:{campaign.slug}:{number}"


def request_look(
    *, campaign: Campaign, number: int, opens: bool, owner: User | None, until_goals: bool = False
) -> Job:
    """Queue a look at what is known after a round, and the opening of the next.

    Args:
        campaign: judged in rounds.
        number: of the round that is done.
        opens: whether to open the next one.
        owner: who asks; None: it happens by itself.
        until_goals: open the next one only while the goals are not met.

    Raises:
        JobConflictError: it is under way.
        Refused: the round is not done, or the next one cannot be opened.
    """
    plan = RoundPlan.objects.select_related("campaign").get(campaign=campaign)
    rounds = rounds_progress(plan)
    problem = unfinished_problem(rounds) or (next_round_problem(plan, rounds) if opens else "")
    if problem:
        raise Refused("", problem)
    return enqueue(
        task=LOOK_TASK,
        subject=look_subject(campaign, number),
        title=f"Round {number} of “{campaign.name}”: what is known",
        arguments={
            "campaign": campaign.pk, "number": number, "opens": opens, "until_goals": until_goals,
        },
        owner=owner,
    )  # fmt: skip


def look_of(row: Round) -> RoundsSummary | None:
    """Return what was known after a round, None before anybody looked."""
    return from_json(RoundsSummary, row.look) if row.look else None


def is_met(plan: RoundPlan, look: RoundsSummary) -> bool:
    """Whether all goals are met; never where none was set."""
    goals: Mapping[str, bool] = {
        **({"order": look.order_is_known} if plan.orders else {}),
        **({"width": look.half_width <= plan.width} if plan.width is not None else {}),
        **({"recall": look.recall >= plan.recall} if plan.recall is not None else {}),
    }
    return bool(goals) and all(goals.values())

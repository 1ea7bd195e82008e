"""How far the rounds of a campaign are, and why the next one cannot be opened yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, CampaignState, Question, QuestionKind
from annotation.queries.effort import Effort, effort_by_pair
from annotation.queries.kept import kept
from annotation.queries.labels import labels
from annotation.queries.reviewing.adjudication import finished_ids
from evaluation.models import Round, RoundPair, RoundPlan
from lookalike.core.arrays import Floats
from lookalike.planning.rounds import Round as Draw
from pooling.models import PoolState
from pooling.pools.queries import pool_of, pool_pairs

Pair = tuple[int, int]
NOTHING = Effort(0, 0.0)


@dataclass(frozen=True)
class RoundProgress:
    """How far one round is.

    Attributes:
        row: the round.
        n_waiting: pairs that a judge is still to answer.
        n_without_label: pairs that nobody is going to answer any more and that have no label.
        effort: what it took so far.
    """

    row: Round
    n_waiting: int
    n_without_label: int
    effort: Effort

    @property
    def n_labelled(self) -> int:
        """Pairs with a label that is final."""
        return self.row.n_drawn - self.n_waiting - self.n_without_label

    @property
    def is_done(self) -> bool:
        """Whether every pair drawn has a label that no judge is still to change."""
        return not self.n_waiting and not self.n_without_label


def find_plan(campaign: Campaign) -> RoundPlan | None:
    """Return how a campaign is judged in rounds; None for one that asks all at once."""
    return RoundPlan.objects.filter(campaign=campaign).select_related("campaign").first()


def is_judged_in_part(campaign: Campaign) -> bool:
    """Whether a campaign is judged in rounds and lacks labels of its pool.

    Plain measures would take what was drawn for all there is.
    """
    if not RoundPlan.objects.filter(campaign=campaign).exists():
        return False
    pool = pool_of(campaign)
    return pool is not None and bool(set(pool_pairs(pool)) - labelled_pairs(campaign))


def labelled_pairs(campaign: Campaign) -> set[Pair]:
    """Return the pairs with a label: (query id, candidate id)."""
    table = labels(campaign)
    kept = table.is_decided
    return set(zip(table.query_ids[kept].tolist(), table.candidate_ids[kept].tolist(), strict=True))


def rounds_progress(plan: RoundPlan) -> list[RoundProgress]:
    """Return how far each round is, in their order; counted anew when judging has gone on."""
    rows = list(plan.rounds.order_by("number"))
    counts = kept(plan.campaign, f"rounds {len(rows)}", lambda: _counts(plan.campaign, rows))
    return [RoundProgress(row, *counted) for row, counted in zip(rows, counts, strict=True)]


def _counts(campaign: Campaign, rows: Sequence[Round]) -> list[tuple[int, int, Effort]]:
    """Return of each round the pairs waiting, those without a label, and what it took."""
    labelled, finished = labelled_pairs(campaign), _finished_pairs(campaign)
    effort = effort_by_pair(campaign)
    found = []
    for row in rows:
        drawn = set(row.pairs.filter(is_drawn=True).values_list("query_id", "candidate_id"))
        spent = [effort.get(pair, NOTHING) for pair in drawn]
        took = Effort(sum(e.n_answers for e in spent), sum(e.hours for e in spent))
        found.append((len(drawn - finished), len((drawn & finished) - labelled), took))
    return found


def _finished_pairs(campaign: Campaign) -> set[Pair]:
    """Return the pairs that nobody is going to judge any more; none of a draft."""
    if Campaign.objects.filter(pk=campaign.pk, state=CampaignState.DRAFT).exists():
        return set()
    finished = finished_ids(campaign)
    asked = Question.objects.filter(campaign=campaign, kind=QuestionKind.PAIR)
    rows = asked.values_list("pk", "query_id", "candidate_id")
    return {(query, candidate) for pk, query, candidate in rows if pk in finished}


def unfinished_problem(rounds: Sequence[RoundProgress]) -> str:
    """Return why labels are not final, "" if they are.

    Of every round: a label may be withdrawn after a later round was drawn.
    """
    for one in rounds:
        if one.n_waiting:
            return (
                f"Round {one.row.number} is not done: {_pairs(one.n_waiting)} of "
                f"{one.row.n_drawn:,} are still with judges. Judges who have left for good can be "
                "taken off the panel."
            )
        if one.n_without_label:
            return (
                f"Round {one.row.number} is not done: {_pairs(one.n_without_label)} came to no "
                "label, and an estimate without them would not be valid. Rule on them, or ask "
                "again."
            )
    return ""


def next_round_problem(plan: RoundPlan, rounds: Sequence[RoundProgress]) -> str:
    """Return why the next round cannot be opened, "" if it can."""
    pool = pool_of(plan.campaign)
    if plan.stopped_at is not None:
        return "Judging was stopped, and what was known then was claimed: no round comes after it."
    if plan.campaign.state != CampaignState.OPEN:
        state = plan.campaign.get_state_display().lower()
        return f"The campaign is {state}; rounds are opened while judges may answer."
    if pool is None or pool.state == PoolState.FILLING:
        return "The pool is being filled; its new pairs are to be drawn from, too. Wait for it."
    problem = unfinished_problem(rounds)
    if not problem and not set(pool_pairs(pool)) - labelled_pairs(plan.campaign):
        problem = "Every pair of the pool is judged: there is nothing to draw."
    return problem


def stored_draws(plan: RoundPlan, place_of: dict[Pair, int]) -> list[Draw]:
    """Return the rounds as they were drawn, in their order.

    Args:
        plan: whose.
        place_of: where each pair of the pool stands, by ids of query and candidate.
    """
    draws = []
    for row in plan.rounds.order_by("number"):
        probabilities: Floats = np.full(len(place_of), np.nan)
        is_drawn = np.zeros(len(place_of), np.bool_)
        pairs = RoundPair.objects.filter(round=row)
        for query, candidate, probability, drawn in pairs.values_list(
            "query_id", "candidate_id", "probability", "is_drawn"
        ):
            at = place_of[query, candidate]
            probabilities[at], is_drawn[at] = probability, drawn
        draws.append(Draw(probabilities, is_drawn))
    return draws


def _pairs(n: int) -> str:
    return f"{n:,} pair{'' if n == 1 else 's'}"

"""Look at what is known once a round is done, and open the next; for workers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from annotation.models import Campaign, CampaignState
from annotation.queries.reviewing.adjudication import has_open_pair
from evaluation.models import Round, RoundPlan
from evaluation.results.evaluate_job import evaluate_campaign
from evaluation.rounds.progress import next_round_problem, rounds_progress, unfinished_problem
from evaluation.rounds.services import (
    LOOK_TASK,
    is_met,
    look_of,
    look_subject,
    open_round,
    request_look,
)
from jobs.models import Job, JobState
from jobs.services import JobConflictError, JobError, JobProgress
from lookalike.core.errors import Refused


def look(
    *, campaign: int, number: int, opens: bool, until_goals: bool, progress: JobProgress
) -> dict[str, Any]:
    """Do what `request_look` asked for; may run twice.

    Raises:
        JobError: the round is not done, no estimate is valid and that was all that was asked for,
            or the next round cannot be opened.
    """
    asked = Campaign.objects.filter(pk=campaign).first()
    plan = RoundPlan.objects.filter(campaign=campaign).select_related("campaign").first()
    if asked is None or plan is None:
        raise JobError("The campaign was deleted.")
    row = plan.rounds.get(number=number)
    if problem := unfinished_problem(rounds_progress(plan)):
        raise JobError(problem)
    found: dict[str, Any] = {"campaign": asked.slug, "number": number}
    if not (opens and row.look):
        try:
            found["result"] = evaluate_campaign(asked, progress)["result"]
        except JobError as problem_found:
            if not opens:
                raise
            found["problem"] = str(problem_found)
    progress.check()
    if opens and not (until_goals and _is_enough(plan, number)):
        try:
            opened = open_round(campaign=asked, number=number + 1, by=progress.job.owner)
        except Refused as problem_found:
            raise JobError(problem_found.message) from problem_found
        found |= {"opened": opened.number, "n_drawn": opened.n_drawn}
    return found


def _is_enough(plan: RoundPlan, number: int) -> bool:
    """Whether a plan that goes on by itself ends here: goals are met, or all looks are taken."""
    known = look_of(plan.rounds.get(number=number))
    return number >= plan.n_looks or (known is not None and is_met(plan, known))


def look_at_rounds() -> int:
    """Queue a look after each round that is done and that nobody has looked at; return how many.

    What failed, or was called off, waits for a person.
    """
    n_queued = 0
    waiting = RoundPlan.objects.filter(stopped_at=None, campaign__state=CampaignState.OPEN)
    for plan in waiting.select_related("campaign"):
        last = plan.rounds.order_by("number").last()
        if last is None or not _is_due(plan, last) or has_open_pair(plan.campaign):
            continue
        rounds = rounds_progress(plan)
        if unfinished_problem(rounds):
            continue
        opens = plan.opens_itself and not next_round_problem(plan, rounds)
        if last.look and not opens:
            continue
        with suppress(JobConflictError):
            request_look(
                campaign=plan.campaign,
                number=last.number,
                opens=opens,
                until_goals=True,
                owner=None,
            )
            n_queued += 1
    return n_queued


def _is_due(plan: RoundPlan, last: Round) -> bool:
    """Whether something is to be done of itself after a plan's last round, once it is done."""
    is_open_still = plan.opens_itself and not _is_enough(plan, last.number)
    if last.look and not is_open_still:
        return False
    jobs = Job.objects.filter(task=LOOK_TASK, subject=look_subject(plan.campaign, last.number))
    return not jobs.exclude(state=JobState.SUCCEEDED).exists()

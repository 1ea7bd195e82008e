"""A judged campaign as the pilot that designs are tried out on.

Its models are ranked by the rules of its pool: what these leave out stands in no list, as it stands
in no proposal.
"""

from __future__ import annotations

from annotation.models import Campaign
from evaluation.results.inputs import read_inputs
from evaluation.rounds.progress import is_judged_in_part
from evaluation.runs.pool_rankings import pooled_models, ranked_runs
from evaluation.runs.ranking_task import pooled_task
from jobs.services import JobError
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.io.errors import InputError
from lookalike.planning.pilot import Pilot
from lookalike.planning.pool_files import named_pool


def pilot_of(campaign: Campaign, progress: Progress) -> Pilot:
    """Return what a campaign's judges said, and how its pool's models with vectors rank.

    Raises:
        JobError: it lacks a pool, labels, models or queries that are judged whole.
    """
    if is_judged_in_part(campaign):
        raise JobError(
            f"“{campaign}” cannot be a pilot: rounds have judged a part of it, and the queries "
            "that are judged whole are no fair sample of it."
        )
    try:
        inputs = read_inputs(campaign)
        if inputs.pool is None or inputs.proposals is None:
            raise JobError(f"“{campaign}” has no pool any more, and a plan starts from one.")
        task = pooled_task(inputs.pool, inputs.images, by_rules=True)
        runs = ranked_runs(task, pooled_models(inputs), inputs.proposals, progress)
        named = named_pool(
            inputs.proposals, runs, products=inputs.products, unit_of=inputs.product_of
        )
        votes = named.votes(inputs.vote_table.rows, len(inputs.vote_table.annotators))
        return Pilot.of(named.pool, votes)
    except (InputError, Refused) as problem:
        message = problem.message if isinstance(problem, Refused) else str(problem)
        raise JobError(f"“{campaign}” cannot be a pilot: {message}.") from problem

"""A judged campaign as the pilot that designs are tried out on.

Its models are ranked by the rules of its pool: what these leave out stands in no list, as it stands
in no proposal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.models import Campaign
from evaluation.results.inputs import EmbeddedModel, EvaluationInputs, models_on, read_inputs
from evaluation.rounds.progress import is_judged_in_part
from evaluation.runs.ranking_task import labelled_task
from jobs.services import JobError
from lookalike.bias.evidence.files import Proposals
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.planning.pilot import Pilot
from lookalike.planning.pool_files import named_pool

ROUNDING = 1e-4  # of a cosine, by vectors in float16


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
        proposers = set(inputs.proposals.generators)
        embedded = [
            model for model in models_on(inputs.pool, inputs.sources) if model.name in proposers
        ]
        runs = ranked_runs(inputs, embedded, progress)
        named = named_pool(inputs.proposals, runs, products=inputs.products)
        votes = named.votes(inputs.vote_table.rows, len(inputs.vote_table.annotators))
        return Pilot.of(named.pool, votes)
    except (InputError, Refused) as problem:
        message = problem.message if isinstance(problem, Refused) else str(problem)
        raise JobError(f"“{campaign}” cannot be a pilot: {message}.") from problem


def ranked_runs(
    inputs: EvaluationInputs, models: Sequence[EmbeddedModel], progress: Progress
) -> list[Run]:
    """Return what each model lists.

    Raises:
        InputError: there is none.
    """
    if not models:
        raise InputError("no model that has built its pool has vectors: embed its catalog")
    task = labelled_task(inputs, by_rules=True)
    runs: list[Run] = []
    for model in models:
        progress.update(len(runs), len(models), f"Ranking the catalog by {model.name}")
        run = task.run_of(model)
        runs.append(run if inputs.proposals is None else as_proposed(run, inputs.proposals))
    return runs


def as_proposed(run: Run, proposals: Proposals) -> Run:
    """Return a run in which a model's own proposals stand above what only a rounding puts there.

    A pool may have been filled from vectors before they were stored in float16: a candidate that
    nobody proposed may then come out above the last that the model did propose, by `ROUNDING` at
    most. What is further above stays there.
    """
    asked: dict[str, set[str]] = {}
    own: dict[str, set[str]] = {}
    for q, c, m in zip(proposals.queries.tolist(), proposals.candidates.tolist(),
                       proposals.models.tolist(), strict=True):  # fmt: skip
        query, candidate = proposals.query_ids[q], proposals.candidate_ids[c]
        asked.setdefault(query, set()).add(candidate)
        if proposals.generators[m] == run.name:
            own.setdefault(query, set()).add(candidate)
    scores = run.scores.copy()
    last = {
        query: min((found[c] for c in own.get(query, ()) if c in found), default=np.inf)
        for query, found in run.by_query().items()
    }
    for i, (q, c) in enumerate(zip(run.queries.tolist(), run.candidates.tolist(), strict=True)):
        query = run.query_ids[q]
        is_asked = run.candidate_ids[c] in asked.get(query, ())
        if not is_asked and last[query] <= scores[i] <= last[query] + ROUNDING:
            scores[i] = last[query] - ROUNDING / 10
    return replace(run, scores=scores)

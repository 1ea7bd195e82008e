"""What the models of a pool rank, with their proposals where they stood when the pool was made."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.results.inputs import EmbeddedModel, EvaluationInputs, models_on
from evaluation.runs.ranking_task import RankingTask
from lookalike.bias.evidence.as_proposed import as_proposed
from lookalike.bias.evidence.files import Proposals
from lookalike.core.progress import Progress
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.metrics.embedding_runs import LIST_DEPTH


def pooled_models(inputs: EvaluationInputs) -> list[EmbeddedModel]:
    """Return the models that have built the pool and have vectors.

    Raises:
        InputError: there is none, or no pool any more.
    """
    if inputs.pool is None or inputs.proposals is None:
        raise InputError(f"“{inputs.campaign}” has no pool any more")
    proposers = set(inputs.proposals.generators)
    models = [one for one in models_on(inputs.pool, inputs.sources) if one.name in proposers]
    if not models:
        raise InputError("no model that has built the pool has vectors: embed its catalog")
    return models


def ranked_runs(
    task: RankingTask,
    models: Sequence[EmbeddedModel],
    proposals: Proposals,
    progress: Progress,
    *,
    depth: int = LIST_DEPTH,
) -> list[Run]:
    """Return what each model lists; depth as in `embedding_run`."""
    runs: list[Run] = []
    for model in models:
        progress.update(len(runs), len(models), f"Ranking the catalog by {model.name}")
        runs.append(as_proposed(task.run_of(model, depth=depth), proposals))
    return runs

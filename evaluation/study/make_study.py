"""Make the further study of a campaign; for workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.models import Campaign
from evaluation.models import Run as Upload
from evaluation.results.inputs import (
    EvaluationInputs,
    label_digest,
    model_family,
    models_on,
    read_inputs,
)
from evaluation.rounds.progress import is_judged_in_part
from evaluation.runs.pool_rankings import pooled_models, ranked_runs
from evaluation.runs.ranking_task import pooled_task
from evaluation.runs.stored_runs import load_run
from evaluation.study.services import (
    MachineLine,
    NewcomerLine,
    OpinionLine,
    Study,
    TurnedPair,
    VotesLine,
)
from jobs.services import JobError, JobProgress
from lookalike.agreement.machine_judge import answers_by_score, leaning, trial
from lookalike.core.arrays import Bools, Floats
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.planning.designs import Costs
from lookalike.planning.label_sensitivity import label_sensitivity
from lookalike.planning.next_model import Newcomer, builders_as_newcomers, next_models
from lookalike.planning.pilot import majority_labels, part_of
from lookalike.planning.pool_files import NamedPool, named_pool, with_newcomers
from lookalike.planning.second_opinion import second_opinions
from lookalike.stats.proportion import Interval

MEASURE = "AP'"
N_PANELS = 50
N_OPINIONS = 20


@dataclass(frozen=True)
class _JudgedPool:
    """A campaign's pool, who ranks it, and its votes.

    Attributes:
        inputs: of its evaluation.
        named: pairs as the builders with vectors see them.
        votes: shape (n_pairs, n_judges), NaN where there is none.
        runs: whole lists of every model with vectors, builders first.
        n_builders: of them.
    """

    inputs: EvaluationInputs
    named: NamedPool
    votes: Floats
    runs: list[Run]
    n_builders: int


def make_study(*, campaign: int, progress: JobProgress) -> dict[str, Any]:
    """Return the study as JSON; may run twice.

    Raises:
        JobError: the campaign was deleted, lacks a pool, labels or models, or rounds have judged
            a part of it.
    """
    asked = Campaign.objects.filter(pk=campaign).first()
    if asked is None:
        raise JobError("The campaign was deleted.")
    if is_judged_in_part(asked):
        raise JobError("Rounds have judged a part of it: what is asked here needs all labels.")
    try:
        judged = _read_pool(asked, progress)
    except (InputError, Refused) as problem:
        raise JobError(f"{problem}.") from problem
    study = Study(measure=MEASURE, labels=label_digest(judged.inputs.table))
    for part, work in (("votes", _votes), ("opinions", _opinions), ("machines", _machines),
                       ("newcomers", _newcomers)):  # fmt: skip
        progress.note(f"Looking at {part}")
        try:
            study = replace(study, **work(judged))
        except (InputError, Refused) as problem:
            message = problem.message if isinstance(problem, Refused) else str(problem)
            study.problems[part] = message
    return dict(as_json(study))


def _read_pool(campaign: Campaign, progress: JobProgress) -> _JudgedPool:
    inputs = read_inputs(campaign)
    builders = pooled_models(inputs)
    assert inputs.pool is not None  # noqa: S101 - else it has no models
    assert inputs.proposals is not None  # noqa: S101 - likewise
    models = models_on(inputs.pool, inputs.sources, [campaign.notion_model])
    newcomers = [model for model in models if model not in builders]
    task = pooled_task(inputs.pool, inputs.images, by_rules=True)
    runs = ranked_runs(task, [*builders, *newcomers], inputs.proposals, progress)
    named = named_pool(
        inputs.proposals,
        runs[: len(builders)],
        products=inputs.products,
        unit_of=inputs.product_of,
    )
    votes = named.votes(inputs.vote_table.rows, len(inputs.vote_table.annotators))
    return _JudgedPool(inputs, named, votes, runs, len(builders))


def _votes(judged: _JudgedPool) -> dict[str, Any]:
    """Look at the queries of which every pair has a vote."""
    pool = judged.named.pool
    lacks = np.bincount(pool.queries, np.isnan(judged.votes).all(axis=1), pool.n_queries) > 0
    if lacks.all():
        raise Refused("votes", "no query has a vote on each of its pairs")
    kept = ~lacks[pool.queries]
    part = part_of(pool, kept, np.flatnonzero(~lacks))
    rng = np.random.default_rng(0)
    (found,) = label_sensitivity(part, judged.votes[kept], [MEASURE], rng, n_draws=N_PANELS)
    lines = [
        VotesLine(
            model=model,
            majority=float(found.values[m]),
            shares=float(found.soft[m]),
            spread=float(found.spread[m]),
            low=found.intervals[m].low,
            high=found.intervals[m].high,
        )
        for m, model in enumerate(pool.models)
    ]
    turned = [TurnedPair(*two) for two in found.turned]
    lines.sort(key=lambda line: -line.majority)
    return {"votes": lines, "turned": turned, "unsure": found.unsure}


def _opinions(judged: _JudgedPool) -> dict[str, Any]:
    votes, images = judged.votes, judged.inputs.images
    found = second_opinions(judged.named.pool, votes, MEASURE)
    id_of = dict(zip(images.names, images.ids.tolist(), strict=True))
    lines = []
    for i in found.order[:N_OPINIONS].tolist():
        m = int(np.abs(found.moves[:, i]).argmax())
        query, candidate = judged.named.pairs[i]
        lines.append(
            OpinionLine(
                query=id_of[query],
                candidate=id_of[candidate],
                n_similar=int(np.nansum(votes[i])),
                n_votes=int((~np.isnan(votes[i])).sum()),
                chance=float(found.chance[i]),
                model=judged.named.pool.models[m],
                moves=float(found.moves[m, i]),
            )
        )
    return {"opinions": lines}


def _machines(judged: _JudgedPool) -> dict[str, Any]:
    """Put every model with vectors and every uploaded run on trial."""
    similar, different = (judged.votes == 1).sum(axis=1), (judged.votes == 0).sum(axis=1)
    labels = np.where(similar + different > 0, majority_labels(judged.votes), np.nan)
    lines = []
    for run, family in _candidates(judged):
        by_query = run.by_query()
        scores = np.array([by_query.get(q, {}).get(c, np.nan) for q, c in judged.named.pairs])
        answers = answers_by_score(scores, labels)
        found = trial(similar, different, answers, units=judged.named.pool.queries)
        lean = leaning(labels, answers, _is_own(judged, family), judged.named.pool.queries)
        whole = found.strata[0]
        lines.append(
            MachineLine(
                run.name, whole.n_pairs, whole.kappa, whole.human_kappa, whole.misses,
                whole.false_alarms, found.saved, found.changed,
                lean.own if lean.n_own else float("nan"), lean.other,
                _ends(whole.interval), _ends(whole.human_interval),
            )
        )  # fmt: skip
    return {"machines": sorted(lines, key=lambda line: -line.kappa)}


def _ends(of: Interval) -> tuple[float, ...]:
    return (of.low, of.high) if of.is_defined else ()


def _candidates(judged: _JudgedPool) -> Iterator[tuple[Run, str]]:
    for run in judged.runs:
        yield run, model_family(run.name)
    for upload in Upload.objects.filter(campaign=judged.inputs.campaign):
        yield load_run(upload.sha256, upload.name), upload.family


def _is_own(judged: _JudgedPool, family: str) -> Bools:
    proposed = judged.named.pool.proposed
    own = [model_family(model) == family for model in judged.named.pool.models]
    is_own: Bools = np.any(proposed[np.array(own)], axis=0)
    return is_own


def _newcomers(judged: _JudgedPool) -> dict[str, Any]:
    inputs, new = judged.inputs, judged.runs[judged.n_builders :]
    if not new:
        raise Refused("", "every model with vectors has built the pool: embed its catalog by more")
    assert inputs.proposals is not None  # noqa: S101 - for the type checker
    queries = set(inputs.proposals.query_ids)
    proposals = with_newcomers(inputs.proposals, new, queries, inputs.products)
    named = named_pool(proposals, judged.runs, products=inputs.products, missing="worst")
    labels = named.labels(inputs.qrels)
    builders = [run.name for run in judged.runs[: judged.n_builders]]
    n_judges = max(1, len(inputs.vote_table.annotators))

    def lines(found: Iterable[Newcomer]) -> list[NewcomerLine]:
        seconds = Costs().seconds
        return [
            NewcomerLine(one.model, one.n_new, one.expected, one.found,
                         one.per_hour(seconds, n_judges))
            for one in found
        ]  # fmt: skip

    checks: Sequence[Newcomer] = builders_as_newcomers(named.pool, labels, builders)
    return {
        "newcomers": lines(next_models(named.pool, labels, builders)),
        "builders": lines(checks),
    }

"""Compare labels, and the ranking of models, with and without the votes of one judge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from accounts.models import User
from annotation.models import Campaign, PanelMember
from annotation.queries.kept import kept
from annotation.queries.labels import find_pairs, labels
from evaluation.rounds.progress import is_judged_in_part
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue
from lookalike.io.errors import InputError

TASK = "evaluation.tasks.rank_without_judge"
MEASURES = ("vsd_hr@5", "P@5", "AP'")


@dataclass(frozen=True)
class LabelChanges:
    """What becomes of the labels: how many there are, and how many would be another or none."""

    n_labels: int
    n_to_similar: int
    n_to_different: int
    n_lost: int


@dataclass(frozen=True)
class ModelPlace:
    """A model's value and place, from 1, with all judges and without one; None where undefined."""

    name: str
    value: float | None
    place: int | None
    value_without: float | None
    place_without: int | None


def label_changes(member: PanelMember) -> LabelChanges:
    """Return what the labels of a campaign would be without one judge."""
    return kept(member.campaign, f"without {member.pk}", lambda: _label_changes(member))


def _label_changes(member: PanelMember) -> LabelChanges:
    now, then = labels(member.campaign), labels(member.campaign, without=member)
    at = find_pairs(then, now.query_ids[now.is_decided], now.candidate_ids[now.is_decided])
    before, is_there = now.is_similar[now.is_decided], at >= 0
    is_there[is_there] = then.is_decided[at[is_there]]
    before, after = before[is_there], then.is_similar[at[is_there]]
    return LabelChanges(
        n_labels=int(now.is_decided.sum()),
        n_to_similar=int((after & ~before).sum()),
        n_to_different=int((before & ~after).sum()),
        n_lost=int((~is_there).sum()),
    )


def ranking_subject(member: PanelMember) -> str:
    """Return what the job is about."""
    return f"without:{member.campaign.slug}:{member.number}"


def request_ranking(*, member: PanelMember, by: User) -> Job:
    """Queue the ranking with and without a judge.

    Raises:
        JobConflictError: it is being done.
    """
    return enqueue(
        task=TASK,
        subject=ranking_subject(member),
        title=f"Rank the models of “{member.campaign}” without judge {member.number}",
        arguments={"member": member.pk},
        owner=by,
    )


def rank_without_judge(progress: JobProgress) -> dict[str, Any]:
    """Do the job: score every model on the labels with all judges, and without one.

    Raises:
        JobError: one of both has no label, there is no model, or rounds have judged a part.
    """
    member = PanelMember.objects.select_related("campaign").get(pk=progress.job.arguments["member"])
    if is_judged_in_part(member.campaign):
        raise JobError(
            "The campaign is judged in part, by rounds: without a judge some pairs drawn would "
            "have no label, and plain measures would take what was drawn for all there is."
        )
    try:
        now = _values(member.campaign, None, progress)
        then = _values(member.campaign, member, progress)
    except InputError as problem:
        raise JobError(str(problem)) from problem
    return {"measures": {name: _places(values, then[name]) for name, values in now.items()}}


def _values(
    campaign: Campaign, without: PanelMember | None, progress: JobProgress
) -> dict[str, dict[str, float | None]]:
    """Return each model's value by measure."""
    from evaluation.models import Run  # noqa: PLC0415
    from evaluation.results.inputs import models_on, read_inputs  # noqa: PLC0415  # loads torch
    from evaluation.runs.evaluated_models import read_models  # noqa: PLC0415
    from lookalike.metrics.measures import known_measures, parse_measure  # noqa: PLC0415
    from lookalike.metrics.scoring import score_runs  # noqa: PLC0415

    inputs = read_inputs(campaign, without=without)
    notions = [inputs.campaign.notion_model]
    embedded = models_on(inputs.pool, inputs.sources, notions) if inputs.pool else []
    uploads = list(Run.objects.filter(campaign=campaign))
    models = read_models(inputs, embedded, uploads, progress)
    board = score_runs(
        inputs.qrels,
        models.runs,
        [parse_measure(name) for name in known_measures(MEASURES, inputs.products)],
        products=inputs.products,
        missing="worst",
        matches=models.aligned,
        without_list=models.without_list,
    )
    return {
        name: {one.name: _known(one.outcomes[name].value) for one in board}
        for name in board[0].outcomes
    }


def _known(value: float | None) -> float | None:
    """Return a value, None where it is not defined."""
    return None if value is None or math.isnan(value) else value


def _places(
    now: Mapping[str, float | None], then: Mapping[str, float | None]
) -> list[dict[str, Any]]:
    """Return the models by their place now."""
    place, place_without = _ranked(now), _ranked(then)
    rows = [
        ModelPlace(name, now[name], place.get(name), then.get(name), place_without.get(name))
        for name in sorted(now, key=lambda name: place.get(name, math.inf))
    ]
    return [asdict(row) for row in rows]


def _ranked(values: Mapping[str, float | None]) -> dict[str, int]:
    """Return the place of each model with a value; equal but for rounding, they share one."""
    known = {name: round(value, 9) for name, value in values.items() if value is not None}
    return {
        name: 1 + sum(other > value for other in known.values()) for name, value in known.items()
    }

"""Which models an evaluation scores: those with vectors, and the runs that were uploaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evaluation.models import Run as UploadedRun
from evaluation.results.inputs import EmbeddedModel, Gathered, family_of
from evaluation.runs.model_runs import asked_of
from evaluation.runs.storage import load_run
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.metrics.match import Matched, has_list, match_run
from lookalike.metrics.scoring import coverage


@dataclass(frozen=True)
class Entrants:
    """The models to be scored beside the labels, and the uploads that cannot be, with reasons.

    `without_list` names the uploads that score labelled pairs alone.
    """

    runs: list[Run]
    matches: list[Matched]
    families: dict[str, str]
    hashes: dict[str, str]
    left_out: list[dict[str, str]]
    without_list: list[str] = field(default_factory=list)


def find_entrants(
    gathered: Gathered,
    models: Sequence[EmbeddedModel],
    uploads: Sequence[UploadedRun],
    tell: Callable[[int, str], None],
) -> Entrants:
    """Return the runs of all models; an upload that the labels have outgrown is left out."""
    campaign = gathered.campaign
    if not models and not uploads:
        raise InputError(
            f"no model can be evaluated on “{campaign}”: embed its catalog or upload a run"
        )
    found = Entrants([], [], {}, {}, [])
    asked = asked_of(gathered) if models else None
    for model in models:
        tell(len(found.runs), f"Ranking the catalog by {model.name}")
        if asked is not None:
            run = asked.run_of(model)
            found.runs.append(run)
            found.matches.append(match_run(gathered.qrels, run, products=gathered.products))
        found.hashes[f"model {model.name}"] = model.images.fingerprint
    for upload in uploads:
        tell(len(found.runs), f"Reading {upload.name}")
        run = load_run(upload.sha256, upload.name)
        found.hashes[f"run {upload.name}"] = upload.sha256
        matched = match_run(gathered.qrels, run, products=gathered.products)
        reason = _unusable(matched, upload)
        if reason:
            found.left_out.append({"name": upload.name, "reason": reason})
            continue
        found.runs.append(run)
        found.matches.append(matched)
        if not has_list(matched):
            found.without_list.append(upload.name)
        if upload.family:
            found.families[upload.name] = upload.family
    if not found.runs:
        reasons = "; ".join(f"{one['name']}: {one['reason']}" for one in found.left_out)
        raise InputError(f"no model can be evaluated on “{campaign}”: {reasons}")
    generators = gathered.proposals.generators if gathered.proposals else ()
    for name in (*generators, *(run.name for run in found.runs)):
        found.families.setdefault(name, family_of(name))
    return found


def _unusable(matched: Matched, upload: UploadedRun) -> str:
    """Return why a run cannot be scored on the labels as they are now, "" if it can."""
    if upload.missing == "worst":
        return ""
    said = coverage(matched)
    if said.n_scored == said.n_pairs:
        return ""
    return (
        f"it has no score for {said.n_pairs - said.n_scored} of {said.n_pairs} labelled pairs; "
        "upload it again with them, or let missing scores count as the worst"
    )

"""Which models an evaluation scores: those with vectors, and the runs that were uploaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluation.models import Run as UploadedRun
from evaluation.results.inputs import EmbeddedModel, EvaluationInputs, model_family
from evaluation.results.stored import LeftOut
from evaluation.runs.ranking_task import labelled_task
from evaluation.runs.stored_runs import load_run
from lookalike.core.progress import Progress
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.metrics.match import AlignedRun, has_list, match_run
from lookalike.metrics.scoring import coverage


@dataclass(frozen=True)
class EvaluatedModels:
    """The models to be scored, aligned with the labels.

    Attributes:
        runs: what each model says.
        aligned: each run beside the labels.
        families: family of each model and of each source of the pool, by name.
        specs: of the models with vectors, by name.
        hashes: SHA-256 or fingerprint of each input by name.
        left_out: the uploads that cannot be scored.
        without_list: names of the uploads that score pairs put to the judges alone.
    """

    runs: list[Run] = field(default_factory=list)
    aligned: list[AlignedRun] = field(default_factory=list)
    families: dict[str, str] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    without_list: list[str] = field(default_factory=list)


def read_models(
    inputs: EvaluationInputs,
    embedded: Sequence[EmbeddedModel],
    uploads: Sequence[UploadedRun],
    progress: Progress,
    further: Sequence[tuple[str, str]] = (),
) -> EvaluatedModels:
    """Return the runs of all models; an upload that the labels have outgrown is left out.

    Models with vectors score the pairs in `further`, too.

    Raises:
        InputError: there is none to score.
    """
    nothing = f"no model can be evaluated on “{inputs.campaign}”"
    if not embedded and not uploads:
        raise InputError(f"{nothing}: embed its catalog or upload a run")
    models = EvaluatedModels()
    task = labelled_task(inputs, further) if embedded else None
    for model in embedded:
        progress.update(len(models.runs), note=f"Ranking the catalog by {model.name}")
        if task is not None:
            run = task.run_of(model)
            models.runs.append(run)
            models.aligned.append(match_run(inputs.qrels, run, products=inputs.products))
        models.specs[model.name] = model.images.spec
        models.hashes[f"model {model.name}"] = model.images.fingerprint
    for upload in uploads:
        progress.update(len(models.runs), note=f"Reading {upload.name}")
        _add_upload(models, inputs, upload)
    if not models.runs:
        reasons = "; ".join(f"{run.name}: {run.reason}" for run in models.left_out)
        raise InputError(f"{nothing}: {reasons}")
    generators = inputs.proposals.generators if inputs.proposals else ()
    for name in (*generators, *(run.name for run in models.runs)):
        models.families.setdefault(name, model_family(models.specs.get(name, name)))
    return models


def _add_upload(models: EvaluatedModels, inputs: EvaluationInputs, upload: UploadedRun) -> None:
    """Add an uploaded run, or the reason why it is left out."""
    run = load_run(upload.sha256, upload.name)
    models.hashes[f"run {upload.name}"] = upload.sha256
    aligned = match_run(inputs.qrels, run, products=inputs.products)
    reason = "" if upload.missing == "worst" else _missing_scores(aligned)
    if reason:
        models.left_out.append(LeftOut(upload.name, reason))
        return
    models.runs.append(run)
    models.aligned.append(aligned)
    if not has_list(aligned, match_run(inputs.asked, run, products=inputs.products)):
        models.without_list.append(upload.name)
    if upload.family:
        models.families[upload.name] = upload.family


def _missing_scores(aligned: AlignedRun) -> str:
    """Return in words how many labelled pairs a run does not score, "" if it scores all."""
    covered = coverage(aligned)
    n_missing = covered.n_pairs - covered.n_scored
    if not n_missing:
        return ""
    return (
        f"it has no score for {n_missing} of {covered.n_pairs} labelled pairs; "
        "upload it again with them, or let missing scores count as the worst"
    )

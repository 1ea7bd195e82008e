"""Runs, uploads and results as the API shows them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema

from api.job_schemas import JobOut, job_out
from api.paging import Text
from evaluation.models import Result, Run
from evaluation.results.api_queries import result_with
from jobs.models import Job


class MeasureOut(Schema):
    """One measure of one model."""

    value: float | None = Field(description="Null where it is defined for no query.")
    n_defined: int | None = Field(
        description="Queries that it is the mean of; null for measures over all pairs at once."
    )
    low: float | None = Field(None, description="Lower end of the 95 % interval.")
    high: float | None = Field(None, description="Upper end of the 95 % interval.")


class ScoredModel(Schema):
    """A model with its measures."""

    name: str
    family: str
    kind: str = Field(description="pooled, sibling (of a pooled one) or outsider.")
    n_pairs: int = Field(description="Labelled pairs that are compared.")
    n_scored: int = Field(description="Of them, how many the model scores.")
    measures: dict[str, MeasureOut]


class ResultOut(Schema):
    """The measures of every model on a campaign's labels, at one moment; it never changes."""

    uid: uuid.UUID
    campaign: str
    created_at: datetime
    code_version: str
    is_simulated: bool
    n_models: int


class ResultWhole(ResultOut):
    """A result with its models, and what it was computed from."""

    labels: dict[str, Any] = Field(description="Counts of pairs, labels and ties; prevalence.")
    settings: dict[str, Any] = Field(description="Measures, seed, number of bootstraps.")
    inputs: dict[str, str] = Field(description="SHA-256 of labels, votes, pool and each model.")
    left_out: list[dict[str, str]] = Field(description="Runs that were not scored, and why.")
    models: list[ScoredModel]


class ScoreOut(Schema):
    """What a result says about one run."""

    result: uuid.UUID
    created_at: datetime
    left_out: str = Field(description="Why it was not scored; empty if it was.")
    measures: dict[str, MeasureOut]


class RunOut(Schema):
    """Somebody's scores for a campaign's pairs."""

    uid: uuid.UUID
    campaign: str
    name: str
    family: str
    description: str
    missing: str = Field(description="What a missing score means: error or worst.")
    sha256: str = Field(description="Of the scores as stored.")
    owner: str
    coverage: dict[str, Any]
    created_at: datetime


class RunWhole(RunOut):
    """A run with its newest score."""

    score: ScoreOut | None = Field(description="Null until an evaluation has seen it.")


class UploadOut(Schema):
    """The check of an uploaded run."""

    job: JobOut
    run: uuid.UUID | None = Field(description="The run, once it is checked and stored.")


class RunDetails(Schema):
    """What is said about an uploaded run."""

    name: Text = Field(min_length=1, max_length=200, description="As on the leaderboard.")
    family: Text = Field("", max_length=200, description="Backbone or data shared with others.")
    description: Text = Field("", max_length=2000, description="How it was made.")
    missing: Literal["error", "worst"] = Field(
        "error", description="Pairs without a score: refuse the run, or count as the worst."
    )


def run_out(run: Run) -> RunOut:
    """Return a run as lists show it."""
    return RunOut(
        uid=run.uid,
        campaign=run.campaign.slug,
        name=run.name,
        family=run.family,
        description=run.description,
        missing=run.missing,
        sha256=run.sha256,
        owner=run.owner.username if run.owner else "",
        coverage=run.coverage,
        created_at=run.created_at,
    )


def run_whole(run: Run) -> RunWhole:
    """Return a run with its newest score."""
    result = result_with(run)
    return RunWhole(**run_out(run).dict(), score=score_out(result, run) if result else None)


def upload_out(job: Job) -> UploadOut:
    """Return the check of an upload."""
    return UploadOut(job=job_out(job), run=job.result.get("run"))


def score_out(result: Result, run: Run) -> ScoreOut:
    """Return what a result says about a run."""
    reasons = {one["name"]: one["reason"] for one in result.summary.get("left_out", [])}
    models = {model["name"]: model for model in result.summary["models"]}
    return ScoreOut(
        result=result.uid,
        created_at=result.created_at,
        left_out=reasons.get(run.name, ""),
        measures=_measures(models.get(run.name, {}).get("measures", {})),
    )


def result_out(result: Result) -> ResultOut:
    """Return a result as lists show it."""
    return ResultOut(
        uid=result.uid,
        campaign=result.campaign.slug,
        created_at=result.created_at,
        code_version=result.code_version,
        is_simulated=bool(result.summary.get("is_simulated", False)),
        n_models=len(result.summary["models"]),
    )


def result_whole(result: Result) -> ResultWhole:
    """Return a result with its models."""
    return ResultWhole(
        **result_out(result).dict(),
        labels=result.summary["labels"],
        settings=result.settings,
        inputs=result.inputs,
        left_out=result.summary.get("left_out", []),
        models=[
            ScoredModel(
                name=model["name"],
                family=model.get("family", ""),
                kind=model["badge"],
                n_pairs=model["coverage"]["n_pairs"],
                n_scored=model["coverage"]["n_scored"],
                measures=_measures(model["measures"]),
            )
            for model in result.summary["models"]
        ],
    )


def _measures(stored: Mapping[str, Mapping[str, Any]]) -> dict[str, MeasureOut]:
    found = {}
    for name, one in stored.items():
        ends = one.get("interval") or {}
        found[name] = MeasureOut(
            value=one["value"],
            n_defined=one["n_defined"],
            low=ends.get("low"),
            high=ends.get("high"),
        )
    return found

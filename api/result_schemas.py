"""Runs, uploads and results as the API shows them."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema

from api.job_schemas import JobOut
from api.paging import Text
from evaluation.models import Result, Run
from evaluation.results.api_queries import result_with
from jobs.models import Job

Stored = dict[str, Any]  # of a result's summary


class MeasureOut(Schema):
    """One measure of one model."""

    value: float | None = Field(description="Null where it is defined for no query.")
    n_defined: int | None = Field(
        description="Queries that it is the mean of; null for measures over all pairs at once."
    )
    n_units: int | None = Field(
        None,
        description="Independent units of these queries, such as products; null if unknown.",
    )
    low: float | None = Field(None, description="Lower end of the 95 % interval.")
    high: float | None = Field(None, description="Upper end of the 95 % interval.")

    no_interval: str = Field("", description="Why there is no interval; empty where there is.")

    @staticmethod
    def resolve_no_interval(measure: Stored) -> str:
        return str((measure.get("interval") or {}).get("reason", ""))

    @staticmethod
    def resolve_low(measure: Stored) -> float | None:
        return (measure.get("interval") or {}).get("low")

    @staticmethod
    def resolve_high(measure: Stored) -> float | None:
        return (measure.get("interval") or {}).get("high")


class ScoredModel(Schema):
    """A model with its measures."""

    name: str
    family: str
    kind: str = Field(
        validation_alias="badge", description="pooled, sibling (of a pooled one) or outsider."
    )
    n_pairs: int = Field(description="Labelled pairs that are compared.")
    n_scored: int = Field(description="Of them, how many the model scores.")
    n_seen_queries: int = Field(
        0, description="Queries whose labels or captions a learned model was learned from."
    )
    measures: dict[str, MeasureOut]

    @staticmethod
    def resolve_family(model: Stored) -> str:
        return str(model.get("family", ""))

    @staticmethod
    def resolve_n_pairs(model: Stored) -> int:
        return int(model["coverage"]["n_pairs"])

    @staticmethod
    def resolve_n_scored(model: Stored) -> int:
        return int(model["coverage"]["n_scored"])


class ResultOut(Schema):
    """The measures of every model on a campaign's labels, at one moment; it never changes."""

    uid: uuid.UUID
    campaign: str = Field(validation_alias="campaign.slug")
    created_at: datetime
    code_version: str
    is_simulated: bool
    n_models: int

    @staticmethod
    def resolve_is_simulated(result: Result) -> bool:
        return bool(result.summary.get("is_simulated", False))

    @staticmethod
    def resolve_n_models(result: Result) -> int:
        return len(result.summary["models"])


class ResultWhole(ResultOut):
    """A result with its models, and what it was computed from."""

    labels: dict[str, Any] = Field(
        validation_alias="summary.labels",
        description="Counts of pairs, labels and ties; prevalence; answered pairs that are not "
        "compared, by reason (left_out).",
    )
    settings: dict[str, Any] = Field(description="Measures, seed, number of bootstraps.")
    inputs: dict[str, str] = Field(description="SHA-256 of labels, votes, pool and each model.")
    left_out: list[dict[str, str]] = Field(description="Runs that were not scored, and why.")
    rounds: dict[str, Any] | None = Field(
        None,
        description="Where rounds have judged the pool in part, so that all measures are "
        "estimates: the share judged, and what is claimed. Null where plain measures stand.",
    )
    negatives: list[dict[str, Any]] = Field(
        description="Lists of negatives drawn for measures that end in _random and _band: kind, "
        "source, seed, number of pairs, SHA-256, estimated share of positives (contamination)."
    )
    models: list[ScoredModel] = Field(validation_alias="summary.models")

    @staticmethod
    def resolve_rounds(result: Result) -> Any:
        return result.summary.get("rounds")

    @staticmethod
    def resolve_negatives(result: Result) -> Any:
        return result.summary.get("negatives", [])

    @staticmethod
    def resolve_left_out(result: Result) -> Any:
        return result.summary.get("left_out", [])


class BiasOut(Schema):
    """What a result says of the bias of its campaign's pool; docs/pool-bias.md explains it."""

    result: uuid.UUID = Field(validation_alias="uid")
    campaign: str = Field(validation_alias="campaign.slug")
    created_at: datetime
    findings: list[str] = Field(
        validation_alias="bias.findings", description="The main points in plain words."
    )
    report: dict[str, Any] = Field(
        validation_alias="bias",
        description="All of it: pool, overlap, generators, model_rows, leave_out, tests, depths, …",
    )


class ScoreOut(Schema):
    """What a result says about one run."""

    result: uuid.UUID
    created_at: datetime
    left_out: str = Field(description="Why it was not scored; empty if it was.")
    measures: dict[str, MeasureOut]


class RunOut(Schema):
    """Somebody's scores for a campaign's pairs."""

    uid: uuid.UUID
    campaign: str = Field(validation_alias="campaign.slug")
    name: str
    family: str
    description: str
    missing: str = Field(description="What a missing score means: error or worst.")
    sha256: str = Field(description="Of the scores as stored.")
    owner: str
    coverage: dict[str, Any]
    created_at: datetime

    @staticmethod
    def resolve_owner(run: Run) -> str:
        return run.owner.username if run.owner else ""


class RunWhole(RunOut):
    """A run with its newest score."""

    score: ScoreOut | None = Field(description="Null until an evaluation has seen it.")

    @staticmethod
    def resolve_score(run: Run) -> dict[str, Any] | None:
        result = result_with(run)
        if result is None:
            return None
        reasons = {model["name"]: model["reason"] for model in result.summary.get("left_out", [])}
        models = {model["name"]: model["measures"] for model in result.summary["models"]}
        return {
            "result": result.uid,
            "created_at": result.created_at,
            "left_out": reasons.get(run.name, ""),
            "measures": models.get(run.name, {}),
        }


class UploadOut(Schema):
    """The check of an uploaded run."""

    job: JobOut
    run: uuid.UUID | None = Field(description="The run, once it is checked and stored.")

    @staticmethod
    def resolve_job(job: Job) -> Job:
        return job

    @staticmethod
    def resolve_run(job: Job) -> Any:
        return job.result.get("run")


class RunDetails(Schema):
    """What is said about an uploaded run."""

    name: Text = Field(min_length=1, max_length=200, description="As on the leaderboard.")
    family: Text = Field("", max_length=200, description="Backbone or data shared with others.")
    description: Text = Field("", max_length=2000, description="How it was made.")
    missing: Literal["error", "worst"] = Field(
        "error", description="Pairs without a score: refuse the run, or count as the worst."
    )
    lower_is_better: bool = Field(False, description="Whether its scores are distances.")


class CampaignQuery(Schema):
    """Of which campaign."""

    campaign: Text = Field("", max_length=80, description="Slug of a campaign; empty for all.")


class OpinionOut(Schema):
    """A judged pair, and what another panel would do to it."""

    query: uuid.UUID
    candidate: uuid.UUID
    n_similar: int
    n_votes: int
    chance: float = Field(description="That another panel of as many says otherwise.")
    model: str = Field(description="Whose value would move most then.")
    moves: float = Field(description="By how much.")


class SecondOpinionsOut(Schema):
    """The judged pairs that another panel would change most by, the worthiest first."""

    campaign: str
    measure: str
    is_current: bool = Field(description="Whether labels are still those that it was made with.")
    pairs: list[OpinionOut]

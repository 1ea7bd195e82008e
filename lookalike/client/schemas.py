"""What a site tells about, as frozen dataclasses; docs/api.md describes every field."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Me:
    username: str
    role: str
    may: list[str]


@dataclass(frozen=True)
class Catalog:
    slug: str
    name: str
    description: str
    is_rendered: bool
    n_images: int
    n_products: int
    created_at: datetime


@dataclass(frozen=True)
class Image:
    uid: str
    sha256: str
    product_id: str
    attributes: dict[str, str]
    paths: list[str]
    width: int
    height: int
    format: str
    n_bytes: int


@dataclass(frozen=True)
class PoolModel:
    spec: str
    k: int
    state: str
    n_proposals: int
    error: str


@dataclass(frozen=True)
class Pool:
    slug: str
    name: str
    catalog: str
    query_catalog: str
    state: str
    k: int
    n_queries: int
    n_pairs: int
    campaigns: list[str]
    created_at: datetime


@dataclass(frozen=True)
class PoolWhole(Pool):
    models: list[PoolModel]
    stats: dict[str, Any]


@dataclass(frozen=True)
class Reason:
    model: str
    rank: int
    score: float | None


@dataclass(frozen=True)
class PooledPair:
    query: str
    candidate: str
    proposed_by: list[Reason]


@dataclass(frozen=True)
class Campaign:
    uid: str
    slug: str
    name: str
    state: str
    tie_rule: str
    serving: str
    k: int
    is_simulated: bool
    n_pairs: int
    n_judges: int
    n_answers: int
    n_votes: int
    n_excluded: int
    n_done: int
    n_wanted: int
    created_at: datetime


@dataclass(frozen=True)
class JudgeProgress:
    judge: int
    is_active: bool
    is_paused: bool
    n_done: int
    n_total: int
    n_votes: int
    n_excluded: int
    last_answer_at: datetime | None


@dataclass(frozen=True)
class Progress:
    state: str
    n_answers: int
    n_votes: int
    n_excluded: int
    n_done: int
    n_wanted: int
    share_done: float
    judges: list[JudgeProgress]


@dataclass(frozen=True)
class Agreement:
    n_pairs: int
    n_votes: int
    percent: float | None
    alpha: float | None
    ac1: float | None
    fleiss: float | None
    prevalence: float | None


@dataclass(frozen=True)
class Judgement:
    uid: str
    query: str
    candidate: str
    kind: str
    judge: int
    annotator: str
    answer: str
    reason: str
    is_surplus: bool
    is_excluded: bool
    is_counted: bool
    guideline_version: int
    decided_at: datetime
    visible_ms: int
    load_ms: int


@dataclass(frozen=True)
class Measure:
    value: float | None
    n_defined: int | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Model:
    name: str
    family: str
    kind: str
    n_pairs: int
    n_scored: int
    measures: dict[str, Measure]


@dataclass(frozen=True)
class Result:
    uid: str
    campaign: str
    created_at: datetime
    code_version: str
    is_simulated: bool
    n_models: int


@dataclass(frozen=True)
class ResultWhole(Result):
    labels: dict[str, Any]
    settings: dict[str, Any]
    inputs: dict[str, str]
    left_out: list[dict[str, str]]
    models: list[Model]


@dataclass(frozen=True)
class Score:
    result: str
    created_at: datetime
    left_out: str
    measures: dict[str, Measure]


@dataclass(frozen=True)
class Run:
    uid: str
    campaign: str
    name: str
    family: str
    description: str
    missing: str
    sha256: str
    owner: str
    coverage: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True)
class RunWhole(Run):
    score: Score | None


@dataclass(frozen=True)
class Job:
    uid: str
    title: str
    state: str
    n_done: int
    n_total: int | None
    note: str
    error: str


@dataclass(frozen=True)
class Upload:
    job: Job
    run: str | None


@dataclass(frozen=True)
class ReleaseFile:
    path: str
    name: str
    sha256: str
    n_bytes: int
    n_rows: int | None
    url: str


@dataclass(frozen=True)
class Release:
    uid: str
    slug: str
    version: str
    title: str
    description: str
    visibility: str
    seal: str
    has_hidden_labels: bool
    archive: ReleaseFile
    created_at: datetime


@dataclass(frozen=True)
class ReleaseWhole(Release):
    info: dict[str, Any]
    statistics: dict[str, Any]
    files: list[ReleaseFile]


@dataclass(frozen=True)
class Submission:
    uid: str
    release: str
    version: str
    name: str
    is_published: bool
    job: Job | None
    scored_at: datetime | None
    results: dict[str, Any]
    hidden_results: dict[str, Any]

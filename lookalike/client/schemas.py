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
    joined_at: datetime


@dataclass(frozen=True)
class Catalog:
    slug: str
    name: str
    description: str
    is_rendered: bool
    n_images: int
    n_products: int
    n_without_product: int
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True)
class Attribute:
    name: str
    n_values: int
    n_images: int


@dataclass(frozen=True)
class CatalogWhole(Catalog):
    attributes: list[Attribute]


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
    done_at: datetime | None


@dataclass(frozen=True)
class Pool:
    slug: str
    name: str
    catalog: str
    query_catalog: str
    state: str
    k: int
    seed: int
    queries: str
    exclude_same_product: bool
    shared_product_ids: bool
    candidates: str
    index: str
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
    score: float


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
    task_kind: str
    tie_rule: str
    grades: list[str]
    similar_from: int | None
    notion: str
    notion_model: str
    notion_prompts: list[str]
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
class Interval:
    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True)
class Intervals:
    items: Interval
    items_and_judges: Interval


@dataclass(frozen=True)
class Agreement:
    n_pairs: int
    n_votes: int
    percent: float | None
    alpha: float | None
    ac1: float | None
    fleiss: float | None
    prevalence: float | None
    ordinal_alpha: float | None
    within_one: float | None
    intervals: dict[str, Intervals]


@dataclass(frozen=True)
class Judgement:
    uid: str
    query: str
    candidate: str
    subject: str | None
    condition: str
    choices: list[str]
    picked: str | None
    kind: str
    judge: int
    annotator: str
    answer: str
    grade: int | None
    reason: str
    is_surplus: bool
    is_excluded: bool
    is_counted: bool
    guideline_version: int
    mode: str
    device: str
    decided_at: datetime
    visible_ms: int
    load_ms: int


@dataclass(frozen=True)
class Comment:
    uid: str
    query: str
    candidate: str
    judge: int
    annotator: str
    text: str
    state: str
    guideline_version: int
    made_at: datetime
    received_at: datetime
    reply: str
    replied_by: str | None
    replied_at: datetime | None
    new_version: int | None
    seen_at: datetime | None


@dataclass(frozen=True)
class Measure:
    value: float | None
    n_defined: int | None
    low: float | None
    high: float | None
    n_units: int | None
    no_interval: str


@dataclass(frozen=True)
class Model:
    name: str
    family: str
    kind: str
    n_pairs: int
    n_scored: int
    n_seen_queries: int
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
    rounds: dict[str, Any] | None
    negatives: list[dict[str, Any]]
    models: list[Model]


@dataclass(frozen=True)
class BiasReport:
    result: str
    campaign: str
    created_at: datetime
    findings: list[str]
    report: dict[str, Any]


@dataclass(frozen=True)
class SecondOpinion:
    query: str
    candidate: str
    n_similar: int
    n_votes: int
    chance: float
    model: str
    moves: float


@dataclass(frozen=True)
class SecondOpinions:
    campaign: str
    measure: str
    is_current: bool
    pairs: list[SecondOpinion]


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
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class Upload:
    job: Job
    run: str | None

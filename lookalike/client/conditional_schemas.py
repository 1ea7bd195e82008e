"""What a site tells about templates and triplets, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class TemplateSet:
    slug: str
    name: str
    catalog: str
    task: str
    source: str
    seed: int | None
    file_sha256: str
    n_templates: int
    created_at: datetime


@dataclass(frozen=True)
class Condition:
    condition: str
    n_templates: int


@dataclass(frozen=True)
class TemplateScore:
    model: str
    baseline: str
    is_normalised: bool
    recall: dict[str, dict[str, float]]
    chance: dict[str, float]
    n_templates: int
    n_ties: int
    scored_at: datetime


@dataclass(frozen=True)
class TemplateSetWhole(TemplateSet):
    recipe: dict[str, Any]
    report: dict[str, Any]
    conditions: list[Condition]
    scores: list[TemplateScore]


@dataclass(frozen=True)
class Distractor:
    image: str
    kind: str


@dataclass(frozen=True)
class Template:
    uid: str
    position: int
    condition: str
    reference: str
    target: str
    gallery: list[Distractor]
    boxes: dict[str, list[float]]


@dataclass(frozen=True)
class TripletScore:
    model: str
    metric: str
    figures: dict[str, Any]
    scored_at: datetime


@dataclass(frozen=True)
class TripletSet:
    slug: str
    name: str
    catalog: str
    source: str
    seed: int | None
    file_sha256: str
    n_questions: int
    n_answers: int
    created_at: datetime


@dataclass(frozen=True)
class TripletSetWhole(TripletSet):
    recipe: dict[str, Any]
    figures: dict[str, Any]
    scores: list[TripletScore]


@dataclass(frozen=True)
class Triplet:
    position: int
    condition: str
    anchor: str
    closer: str
    farther: str
    is_swapped: bool


@dataclass(frozen=True)
class TripletQuestion:
    uid: str
    position: int
    condition: str
    anchor: str
    first: str
    second: str


@dataclass(frozen=True)
class Alignment:
    uid: str
    metric: str
    seed: int
    inputs: dict[str, Any]
    result: dict[str, Any]
    scored_at: datetime

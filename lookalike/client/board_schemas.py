"""What a site tells about the board of a campaign, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class BoardCell:
    value: float | None
    low: float | None
    high: float | None
    no_interval: str
    n_queries: int | None
    n_units: int | None
    comparable_with: str
    reason: str
    letters: str
    is_best: bool


@dataclass(frozen=True)
class BoardLine:
    name: str
    badge: str
    notes: list[str]
    cells: dict[str, BoardCell]


@dataclass(frozen=True)
class Board:
    campaign: str
    result: str
    created_at: datetime
    by: str
    unit: str
    measures: list[str]
    lines: list[BoardLine]


@dataclass(frozen=True)
class Comparison:
    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    no_interval: str
    effect_size: float | None
    n_queries: int
    n_units: int | None
    p: float | None
    p_holm: float | None


@dataclass(frozen=True)
class Comparisons:
    campaign: str
    result: str
    measure: str
    unit: str
    comparisons: list[Comparison]

"""Figures of the pool page, laid out for templates: a heat map and a histogram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

N_SHADES = 10
WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 22, 40
MAX_TICKS = 12
LABELLED_BARS = 24  # with more bars than this their counts would run into each other


@dataclass(frozen=True)
class Cell:
    """What part of the row's pairs the column found too (None: of nothing), and its shade."""

    share: float | None
    shade: int
    is_self: bool


@dataclass(frozen=True)
class OverlapRow:
    """What one model shares with every other."""

    spec: str
    letter: str
    cells: list[Cell]


def overlap_table(stats: Mapping[str, Any]) -> list[OverlapRow]:
    """Return the pairwise overlap as rows of shaded cells; empty with fewer than two models."""
    models, overlap = stats.get("models", []), stats.get("overlap", [])
    if len(models) < 2:
        return []
    return [
        OverlapRow(
            spec=spec,
            letter=column_letter(row),
            cells=[
                Cell(share, round((share or 0) * N_SHADES), is_self=row == column)
                for column, share in enumerate(shares)
            ],
        )
        for row, (spec, shares) in enumerate(zip(models, overlap, strict=True))
    ]


def column_letter(position: int) -> str:
    """Return A, B, … Z, AA, AB, …: a column's short name."""
    letters = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@dataclass(frozen=True)
class Bar:
    """A bar in the SVG's units, with what it stands for."""

    x: float
    y: float
    width: float
    height: float
    middle: float
    n_candidates: int
    n_queries: int
    is_labelled: bool


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    place: float
    text: str


@dataclass(frozen=True)
class Histogram:
    """Queries by how many candidates they have."""

    bars: list[Bar]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right_edge: int = WIDTH - RIGHT
    baseline: int = HEIGHT - BOTTOM
    middle: float = (LEFT + WIDTH - RIGHT) / 2


def make_histogram(stats: Mapping[str, Any]) -> Histogram | None:
    """Return the histogram of candidates per query, one bar for each number that is possible
    between the least and the most; None before anything was proposed.
    """
    per_query = stats.get("candidates_per_query", {})
    counts = {int(n): int(count) for n, count in per_query.get("histogram", [])}
    if not counts:
        return None
    first, last = min(counts), max(counts)
    step = (WIDTH - LEFT - RIGHT) / (last - first + 1)
    tallest = max(counts.values())
    bars = []
    for place, n_candidates in enumerate(range(first, last + 1)):
        n_queries = counts.get(n_candidates, 0)
        height = (HEIGHT - TOP - BOTTOM) * n_queries / tallest
        x = LEFT + place * step
        bars.append(
            Bar(
                x=round(x + 0.08 * step, 2),
                y=round(HEIGHT - BOTTOM - height, 2),
                width=round(0.84 * step, 2),
                height=round(height, 2),
                middle=round(x + step / 2, 2),
                n_candidates=n_candidates,
                n_queries=n_queries,
                is_labelled=n_queries > 0 and last - first < LABELLED_BARS,
            )
        )
    every = -(-len(bars) // MAX_TICKS)
    x_ticks = [Tick(bar.middle, str(bar.n_candidates)) for bar in bars[::every]]
    return Histogram(bars, x_ticks, _y_ticks(tallest))


def _y_ticks(tallest: int) -> list[Tick]:
    room = HEIGHT - TOP - BOTTOM
    counts = [0, tallest] if tallest < 4 else [0, tallest // 2, tallest]
    return [Tick(round(HEIGHT - BOTTOM - room * n / tallest, 2), f"{n:,}") for n in counts]

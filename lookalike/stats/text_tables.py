"""Numbers in words, and aligned tables in the text that commands print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.stats.proportion import Interval


@dataclass(frozen=True)
class Style:
    """How numbers are written: what stands for an undefined one, and behind a percentage."""

    dash: str
    percent: str

    def number(self, value: float | None, digits: int = 4, *, signed: bool = False) -> str:
        """Return a number at a fixed number of digits."""
        if value is None or math.isnan(value):
            return self.dash
        return f"{value:{'+' if signed else ''}.{digits}f}"

    def share(self, value: float | None, digits: int = 1) -> str:
        """Return a share in percent."""
        if value is None or math.isnan(value):
            return self.dash
        return f"{100 * value:.{digits}f}{self.percent}"

    def p_value(self, value: float) -> str:
        """Return a p-value, "< .0001" where four digits would say 0."""
        return "< .0001" if value < 1e-4 else self.number(value)

    def interval(self, ends: Interval, digits: int = 4, *, signed: bool = False) -> str:
        """Return "[low, high]"."""
        if math.isnan(ends.low):
            return self.dash
        low, high = (self.number(end, digits, signed=signed) for end in (ends.low, ends.high))
        return f"[{low}, {high}]"


TEXT = Style("-", "%")
PAGE = Style("–", " %")


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with the first column to the left and the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]

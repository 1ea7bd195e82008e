"""Numbers and aligned tables in the text that commands print."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lookalike.stats.proportion import Interval


def number(value: float | None, digits: int = 4, *, signed: bool = False) -> str:
    """Return a number at a fixed number of digits, "-" if it is undefined."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def p_value(value: float) -> str:
    """Return a p-value, "< .0001" where four digits would say 0."""
    return "< .0001" if value < 1e-4 else number(value)


def share(value: float) -> str:
    """Return a share in percent, "-" if it is undefined."""
    return "-" if math.isnan(value) else f"{value:.1%}"


def interval(ends: Interval, *, signed: bool = False) -> str:
    """Return "[low, high]", "-" if it is undefined."""
    if math.isnan(ends.low):
        return "-"
    return f"[{number(ends.low, signed=signed)}, {number(ends.high, signed=signed)}]"


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

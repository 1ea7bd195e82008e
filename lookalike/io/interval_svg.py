"""A chart of intervals as a picture for papers and pages: one SVG file, no scripts, no fonts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, ROW, TOP, BOTTOM, RIGHT = 760, 24, 56, 44, 24
_NOTE = 18
_CHARACTER = 8  # width of a letter of 13 px, about
_STYLE = """text { font: 13px system-ui, sans-serif; fill: #222 }
.title { font-weight: 600 } .axis { stroke: #888 } .grid { stroke: #ddd }
.line { stroke: #1f5fa8; stroke-width: 2 } .dot { fill: #1f5fa8; stroke: #1f5fa8 }
.open { fill: #fff } .small { font-size: 12px }
@media (prefers-color-scheme: dark) {
  .page { fill: #16181c } text { fill: #e6e6e6 } .grid { stroke: #3a3d44 }
  .line { stroke: #7db4f2 } .dot { fill: #7db4f2; stroke: #7db4f2 } .open { fill: #16181c }
}"""


@dataclass(frozen=True)
class IntervalRow:
    """One value of a chart.

    Attributes:
        label: to its left.
        value: the dot.
        low, high: ends of the line; NaN for a dot alone.
        is_filled: a filled dot; else an open one.
    """

    label: str
    value: float
    low: float
    high: float
    is_filled: bool


def interval_svg(
    title: str, axis: str, rows: Sequence[IntervalRow], notes: Sequence[str] = ()
) -> str:
    """Return a chart of values with their intervals around a line at 0.

    Args:
        title: above the chart.
        axis: title of the axis.
        rows: from top to bottom; at least one.
        notes: lines below the chart, such as a key of the labels.

    Raises:
        ValueError: no row, or a value that is not finite.

    >>> chart = interval_svg("A - B", "difference", [IntervalRow("P@5", 0.1, -0.1, 0.3, False)])
    >>> chart.startswith("<svg") and "P@5" in chart
    True
    """
    if not rows or not all(math.isfinite(row.value) for row in rows):
        raise ValueError("a chart needs rows with finite values")
    ends = [0.0, *(end for row in rows for end in (row.value, row.low, row.high))]
    finite = [end for end in ends if math.isfinite(end)]
    step = _step(max(finite) - min(finite))
    first, last = math.floor(min(finite) / step), math.ceil(max(finite) / step)
    last = max(last, first + 1)
    left = min(24 + _CHARACTER * max(len(row.label) for row in rows), WIDTH / 2)
    bottom = TOP + ROW * len(rows)
    height = bottom + BOTTOM + _NOTE * len(notes)

    def x(value: float) -> float:
        share = (value / step - first) / (last - first)
        return round(left + share * (WIDTH - RIGHT - left), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'width="{WIDTH}" height="{height}">',
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text class="title" x="12" y="26">{escape(title)}</text>',
    ]
    for mark in range(first, last + 1):
        at, name = x(mark * step), "axis" if mark == 0 else "grid"
        parts.append(f'<line class="{name}" x1="{at}" x2="{at}" y1="{TOP - 8}" y2="{bottom}"/>')
        label = f"{mark * step:.{_digits(step)}f}"
        parts.append(
            f'<text class="small" x="{at}" y="{bottom + 16}" text-anchor="middle">{label}</text>'
        )
    middle = (left + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="small" x="{middle:.1f}" y="{bottom + 36}" text-anchor="middle">'
        f"{escape(axis)}</text>"
    )
    for number, row in enumerate(rows):
        parts += _row(row, TOP + ROW * number + ROW / 2, left, x)
    for number, note in enumerate(notes, 1):
        y = bottom + BOTTOM + _NOTE * number - 8
        parts.append(f'<text class="small" x="12" y="{y}">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(row: IntervalRow, y: float, left: float, x: Callable[[float], float]) -> Iterator[str]:
    yield f'<text x="{left - 12:.1f}" y="{y + 4}" text-anchor="end">{escape(row.label)}</text>'
    if math.isfinite(row.low) and math.isfinite(row.high):
        yield f'<line class="line" x1="{x(row.low)}" x2="{x(row.high)}" y1="{y}" y2="{y}"/>'
    dot = "dot" if row.is_filled else "dot open"
    words = f"{row.label}: {row.value:.4f} [{row.low:.4f}, {row.high:.4f}]"
    yield f'<circle class="{dot}" cx="{x(row.value)}" cy="{y}" r="4">'
    yield f"<title>{escape(words)}</title></circle>"


def _step(span: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten, for about six marks."""
    rough = max(span, 1e-6) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)


def _digits(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9))

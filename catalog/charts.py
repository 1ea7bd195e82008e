"""Charts as data: what the page draws, what its table shows, what is downloaded as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from django.utils.text import slugify

from lookalike.core.dataclass_json import as_json

Kind = Literal["intervals", "lines", "histogram", "heat", "points", "differences"]
Row = Mapping[str, object]


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes:
        label: what is measured, with its unit.
        domain: its ends; None for those of the data.
        rule: where a line marks a value to compare with.
        whole: whether only whole numbers make sense.
    """

    label: str
    domain: tuple[float, float] | None = None
    rule: float | None = None
    whole: bool = False


@dataclass(frozen=True)
class Chart:
    """One figure of a page.

    Attributes:
        key: unique on the page; its HTML id.
        kind: how it is drawn; see static/js/charts/draw.js for the fields each kind reads.
        title: what it shows, in a few words.
        about: how to read it, in full sentences.
        x, y: the axes.
        columns: (field, title) of each column of its table.
        rows: one mapping per mark; `series` names the series it belongs to.
        square, dots, guide: shape of the frame, marks on lines, a line to compare with.
    """

    key: str
    kind: Kind
    title: str
    about: str
    x: Axis
    y: Axis
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    square: bool = False
    dots: bool = False
    guide: Sequence[Row] = field(default_factory=tuple)

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {
            "kind": self.kind,
            "title": self.title,
            "about": self.about,
            "file": slugify(self.title),
            "x": asdict(self.x),
            "y": asdict(self.y),
            "columns": [list(column) for column in self.columns],
            "rows": as_json(self.rows),
            "square": self.square,
            "dots": self.dots,
            "guide": [dict(row) for row in self.guide] or None,
        }

    @property
    def table(self) -> list[list[object]]:
        """The rows of the data table."""
        return [[_shown(row.get(name)) for name, _ in self.columns] for row in self.rows]

    @property
    def data_id(self) -> str:
        """The HTML id of the data block."""
        return f"{self.key}-data"


def _shown(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else value

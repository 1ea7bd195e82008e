"""Designs of a campaign: what they cost, what they would bring, and which of them is best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.errors import Refused
from lookalike.stats.intervals import LEAST_QUERIES

RANGE = 0.8  # how often a width comes within the range that is foretold


@dataclass(frozen=True, order=True)
class Design:
    """How a campaign would be judged.

    Attributes:
        n_queries: of the campaign.
        depth: k of its pool.
        n_judges: of each pair.
        share: of the pairs that is judged.
    """

    n_queries: int
    depth: int
    n_judges: int
    share: float

    def __post_init__(self) -> None:
        if self.n_queries < LEAST_QUERIES:
            reason = f"{self.n_queries} queries have no interval; at least {LEAST_QUERIES}"
            raise Refused("queries", reason)
        if self.depth < 1 or self.n_judges < 1:
            raise Refused("depth" if self.depth < 1 else "judges", "must be at least 1")
        if not 0.0 < self.share <= 1.0:
            raise Refused("share", f"{self.share:g} is not in (0, 1]")


@dataclass(frozen=True)
class Costs:
    """What judging costs.

    Attributes:
        seconds: of one judge for one pair.
        hourly: money for an hour of a judge.
    """

    seconds: float = 5.0
    hourly: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds < np.inf:
            raise Refused("seconds", f"{self.seconds:g} seconds for a pair")
        if not 0.0 <= self.hourly < np.inf:
            raise Refused("hourly", f"{self.hourly:g} for an hour")


@dataclass(frozen=True)
class Forecast:
    """What a design would bring by one measure.

    Attributes:
        design: of the campaign.
        measure: its name.
        n_pairs: that would be judged.
        hours: of all judges.
        money: for them.
        widths: half of each model's interval; NaN where there is none.
        biases: how far the labels of the design's judges move each model's value from what all
            judges of the pilot say of the same pairs: more queries do not lessen it.
        neighbours: (upper, lower, probability) that the estimates order two neighbours as all
            judges of the pilot would.
        ranges: of each width, where `RANGE` of the widths that come are to lie: a pilot of few
            queries knows their spread badly.
    """

    design: Design
    measure: str
    n_pairs: int
    hours: float
    money: float
    widths: tuple[float, ...]
    biases: tuple[float, ...]
    neighbours: tuple[tuple[str, str, float], ...]
    ranges: tuple[tuple[float, float], ...]

    @property
    def widest(self) -> float:
        """The largest of the widths; NaN if one is unknown."""
        return float(np.max(self.widths))

    @property
    def widest_range(self) -> tuple[float, float]:
        """The range of the largest width; (NaN, NaN) if one is unknown."""
        at = int(np.argmax(self.widths))
        return self.ranges[at] if not np.isnan(self.widest) else (np.nan, np.nan)

    @property
    def off(self) -> float:
        """How far a value may be off: the largest of width and bias together; NaN if unknown."""
        return float(np.max(np.add(self.widths, self.biases)))

    @property
    def order(self) -> float:
        """A lower bound of the probability that the whole order is right; NaN of one model."""
        if not self.neighbours:
            return float("nan")
        return max(0.0, 1.0 - sum(1.0 - p for _, _, p in self.neighbours))


@dataclass(frozen=True)
class Goals:
    """What a campaign should bring; None does not matter.

    Attributes:
        width: how far any value may be off, at most: half of its interval and its bias.
        order: probability that the whole order is right, at least.
    """

    width: float | None = None
    order: float | None = None

    def __post_init__(self) -> None:
        if self.width is not None and not 0.0 < self.width < 1.0:
            raise Refused("width", f"{self.width:g} is not between 0 and 1")
        if self.order is not None and not 0.0 < self.order < 1.0:
            raise Refused("order", f"{self.order:g} is not between 0 and 1")

    def refuse_order_of_one(self, models: Sequence[str]) -> None:
        """Raise Refused where an order is wished of one model."""
        if self.order is not None and len(models) < 2:
            raise Refused("order", "one model alone has no order; set a width instead")

    def is_met(self, forecast: Forecast) -> bool:
        """Whether a forecast has all that is wished."""
        narrow = self.width is None or forecast.off <= self.width
        return narrow and (self.order is None or forecast.order >= self.order)


def cheapest(forecasts: Iterable[Forecast], wish: Goals) -> Forecast | None:
    """Return the forecast of fewest hours that meets a wish, None if no design does."""
    met = [one for one in forecasts if wish.is_met(one)]
    return min(met, key=lambda one: (one.hours, one.design), default=None)


def frontier(forecasts: Iterable[Forecast]) -> list[Forecast]:
    """Return, by rising hours, the designs that no cheaper one matches in how far it is off."""
    best: list[Forecast] = []
    for one in sorted(forecasts, key=lambda f: (f.hours, f.off)):
        if not np.isnan(one.off) and (not best or one.off < best[-1].off):
            best.append(one)
    return best

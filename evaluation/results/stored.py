"""What an evaluation stores of a campaign, typed for those who write it and those who read it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from evaluation.models import Result
from lookalike.agreement.coefficients import Agreement
from lookalike.agreement.human_line import HumanLine
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.report import BiasReport
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.metrics.pairs_scored import ScoredPairs
from lookalike.prevalence.strata import StratifiedPrevalence, WeightedPrevalence
from lookalike.stats.proportion import Interval
from lookalike.stats.significance import MeasureTests, PairedTest
from lookalike.stats.units import PRODUCT, Units, sample_words


@dataclass(frozen=True)
class LabelCounts:
    """The labels that an evaluation rests on.

    Attributes:
        n_pairs: pairs put to the judges, without those drawn below the pool.
        n_judged, n_unjudged: of them, with an answer and without any.
        n_decided: with a label; n_positive, n_negative: which.
        n_tied: with as many answers of one kind as of the other.
        n_queries: with a label.
        prevalence: n_positive / n_decided.
        tie_rule: of the campaign.
        n_units: independent units of the queries, for intervals and tests; None in results made
            before, which took each query for one.
        unit: what a unit is, "product" or the column that names them.
        left_out: answered pairs that are not compared, by reason (`left_out.REASONS`); pairs
            drawn below the pool are among them.
    """

    n_pairs: int
    n_judged: int
    n_unjudged: int
    n_decided: int
    n_positive: int
    n_negative: int
    n_tied: int
    n_queries: int
    prevalence: float
    tie_rule: str
    n_units: int | None = None
    unit: str = PRODUCT
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def sample(self) -> str:
        """How many queries there are, and of how many units where they share some."""
        return sample_words(self.n_queries, self.n_units, self.unit)


@dataclass(frozen=True)
class MeasureValue:
    """One measure of one model; in JSON the details stand beside the value.

    Attributes:
        value: None where it is undefined.
        n_defined: how many queries it is the mean of, None where it is no mean over queries.
        interval: of the mean, None where there is none.
        details: what must be read beside the value, such as the prevalence of a PR area.
        n_units: how many independent units these queries have; None where that is unknown.
    """

    value: float | None
    n_defined: int | None = None
    interval: Interval | None = None
    details: Mapping[str, float | None] = field(default_factory=dict)
    n_units: int | None = None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval, None where undefined."""
        if self.interval is None:
            return None, None
        return defined(self.interval.low), defined(self.interval.high)

    def as_json(self) -> dict[str, Any]:
        """Return it ready to be stored."""
        own = {"value": self.value, "n_defined": self.n_defined, "interval": self.interval}
        own |= {"n_units": self.n_units}
        return {name: as_json(part) for name, part in {**own, **self.details}.items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> MeasureValue:
        """Return what `as_json` wrote."""
        details = dict(stored)
        value, n_defined, ends = (details.pop(k) for k in ("value", "n_defined", "interval"))
        n_units = details.pop("n_units", None)
        return cls(value, n_defined, ends and from_json(Interval, ends), details, n_units)


@dataclass(frozen=True, kw_only=True)
class ModelScores:
    """Every measure of one model.

    Attributes:
        badge: "pooled", "sibling" or "outsider".
        has_list: False for a run that scores labelled pairs alone.
        n_seen_queries: queries whose labels or captions the model was learned from.
        tied: share of the queries at which equal scores, and so names, decide who is cut off.
    """

    name: str
    family: str
    badge: str
    has_list: bool = True
    n_seen_queries: int = 0
    tied: float = 0.0
    coverage: ScoredPairs
    measures: dict[str, MeasureValue]

    def value(self, measure: str) -> float | None:
        """Return the value of a measure, None where it is undefined or not stored."""
        stored = self.measures.get(measure)
        return stored.value if stored else None

    def detail(self, measure: str, name: str) -> float | None:
        """Return what is stored beside the value of a measure."""
        stored = self.measures.get(measure)
        return stored.details.get(name) if stored else None


@dataclass(frozen=True)
class LeftOut:
    """An uploaded run that could not be scored, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Stratum:
    """One stratum of a sample with the share of similar pairs and its exact 95 % interval."""

    name: str
    n_pairs: int
    n_labelled: int
    n_positive: int
    share: float | None
    interval: Interval | None
    n_drawn: int


@dataclass(frozen=True)
class SampleEstimates:
    """What the judged sample says of the pairs below a pool.

    Attributes:
        aim: of the sample, in words.
        seed: of the draw.
        n_drawn, n_labelled: pairs.
        strata: the pool first.
        missing: strata with too few labels for the estimates over all of them.
        stratified, weighted: these estimates; None while there are such strata.
    """

    aim: str
    seed: int
    n_drawn: int
    n_labelled: int
    strata: tuple[Stratum, ...]
    missing: tuple[str, ...]
    stratified: StratifiedPrevalence | None
    weighted: WeightedPrevalence | None

    @property
    def is_recall_known(self) -> bool:
        """Whether the part of the similar pairs that the pool holds is known."""
        return self.stratified is not None and not math.isnan(self.stratified.pool_recall)


@dataclass(frozen=True)
class NegativesSummary:
    """A list of negatives that an evaluation drew.

    Attributes:
        kind: "uniform" or "band".
        source: what it was drawn from.
        seed: of the draw.
        n_pairs: drawn.
        sha256: of the list.
        n_short: queries that got fewer than they have positives.
        contamination: estimated share of positives among them, None where unknown.
    """

    kind: str
    source: str
    seed: int | None
    n_pairs: int
    sha256: str
    n_short: int
    contamination: float | None


@dataclass(frozen=True)
class NeighboursKnown:
    """What is claimed of two models beside each other; see `stopping.Neighbours`."""

    upper: str
    lower: str
    difference: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class RoundsSummary:
    """What is known of a pool that rounds have judged in part.

    Attributes:
        n_rounds: drawn so far, all of them done.
        n_pairs: of the pool.
        judged: share of them that has a label.
        depth: to which the pool holds every model's list.
        not_for: measures of the board without an estimate.
        n_left_out: labels of pairs that no round drew, which no estimate uses.
        n_found: similar pairs found.
        n_similar: estimate of all that the pool holds.
        measure: that the rules to stop look at.
        alpha, n_looks: chance of any wrong claim, over so many looks.
        neighbours: by falling value; none are claimed beyond the looks planned.
        half_width: of the widest interval; NaN where one model has none.
        recall: of the similar pairs of the pool, the share found, at least.
        share_needed: of the pool that will about be judged when the goals are met; NaN where
            judging all of it will hardly do, or no goal can be foretold.
        labels: SHA-256 of those that were looked at.
        n_queries, n_units: the sample of all intervals: the pool's queries, and their products
            where some share one; None in looks made before they were known.
    """

    n_rounds: int
    n_pairs: int
    judged: float
    depth: int
    not_for: tuple[str, ...]
    n_left_out: int
    n_found: int
    n_similar: float
    measure: str
    alpha: float
    n_looks: int
    neighbours: tuple[NeighboursKnown, ...] = ()
    half_width: float = math.nan
    recall: float = math.nan
    share_needed: float = math.nan
    labels: str = ""
    n_queries: int | None = None
    n_units: int | None = None

    @property
    def sample(self) -> str:
        """The sample size in words, "" of a look that does not know it."""
        return "" if self.n_queries is None else sample_words(self.n_queries, self.n_units)

    @property
    def is_planned(self) -> bool:
        """Whether this look is one of those over which the error was shared out."""
        return self.n_rounds <= self.n_looks

    @property
    def order_is_known(self) -> bool:
        """Whether every two neighbours are settled; never of one model."""
        return bool(self.neighbours) and all(two.verdict != "open" for two in self.neighbours)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What the leaderboard shows; what came with later versions has a default.

    Attributes:
        left_out: uploaded runs that could not be scored.
        tests: paired tests of some measures.
        sample: None without a sample below the pool.
        human: the judges against each other; None where no pair has a majority of others.
        rounds: where the pool is judged in part, by rounds: all measures are estimates then.
        negatives: lists that were drawn for areas on drawn negatives.
    """

    labels: LabelCounts
    agreement: Agreement | None = None
    is_simulated: bool = False
    left_out: tuple[LeftOut, ...] = ()
    tests: tuple[MeasureTests, ...] = ()
    models: tuple[ModelScores, ...]
    sample: SampleEstimates | None = None
    human: HumanLine | None = None
    rounds: RoundsSummary | None = None
    negatives: tuple[NegativesSummary, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it ready to be stored; of a sample and of rounds that are none, nothing is."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in ("sample", "rounds"):
            if named[name] is None:
                del named[name]
        return {name: as_json(part) for name, part in named.items()}


@dataclass(frozen=True)
class QueryValues:
    """The values of each measure that has one for every query: by measure, then by model.

    Attributes:
        queries: their names.
        values: by measure and model, in the order of the queries.
        units: number of the independent unit of each query; empty in results made before.
    """

    queries: list[str] = field(default_factory=list)
    values: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    units: list[int] = field(default_factory=list)


class StoredResult:
    """A result as its pages read it."""

    def __init__(self, row: Result) -> None:
        self.row = row

    @cached_property
    def summary(self) -> Summary:
        """Labels, and each model's measures."""
        return from_json(Summary, self.row.summary)

    @cached_property
    def report(self) -> BiasReport | None:
        """The report on the pool's bias, None for a campaign without a pool."""
        return from_json(BiasReport, self.row.bias) if self.row.bias else None

    @cached_property
    def by_query(self) -> QueryValues:
        """The values per query."""
        return from_json(QueryValues, self.row.by_query)

    @cached_property
    def units(self) -> Units | None:
        """The units of the queries; None in results made before, which took each for one."""
        codes = self.by_query.units
        return Units(np.array(codes, np.int64), self.summary.labels.unit) if codes else None

    @property
    def intervals(self) -> str:
        """How the intervals were made, a key of `lookalike.stats.intervals.METHODS`."""
        return str(self.row.settings.get("intervals", "percentile"))

    def model_row(self, name: str) -> ModelRow | None:
        """Return what the report says of a model, None without a pool."""
        rows = self.report.model_rows if self.report else ()
        return next((row for row in rows if row.name == name), None)

    def tests(self, measure: str) -> tuple[PairedTest, ...]:
        """Return the paired tests of a measure, none if it was not tested."""
        stored = [*self.summary.tests, *(self.report.tests if self.report else ())]
        return next((entry.tests for entry in stored if entry.measure == measure), ())


def defined(value: float) -> float | None:
    """Return a number, None where it is undefined."""
    return None if math.isnan(value) else value

"""Score systems against labels: from labels and runs, or from ranks and scores, to outcomes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from lookalike.core.arrays import Bools, Floats
from lookalike.core.each import each
from lookalike.io.errors import InputError
from lookalike.io.tables import IF_DISTANCES, Qrels, Run
from lookalike.metrics.areas import Areas
from lookalike.metrics.match import (
    AlignedRun,
    Missing,
    MissingScoresError,
    Mode,
    has_list,
    match_run,
    pair_scores,
)
from lookalike.metrics.measures import Lists, Measure
from lookalike.metrics.negatives import NegativeList, with_negatives
from lookalike.metrics.retrieval import tie_rate
from lookalike.metrics.vsd import vsd_pair_reciprocal_rank
from lookalike.metrics.whole_lists import rank_lists, why_short
from lookalike.stats.defined_values import mean_defined
from lookalike.stats.intervals import LEAST_QUERIES
from lookalike.stats.roc_auc import auc_and_ap

NO_SCORES = "the run lacks scores of drawn negatives"
NO_RANKS = "it needs ranks, and the run scores the judged pairs alone"
_NEEDS = {"": "scored pairs", "random": "random negatives", "band": "negatives of a rank band"}
REVERSED = 0.35  # a mean ROC-AUC below it is worth a word
MANY_TIES = 0.1  # of the queries: a larger share `tied` is worth a word


@dataclass(frozen=True)
class Coverage:
    """How much of the labels a run speaks about.

    Attributes:
        n_pairs: judged pairs that are compared (self and own product left out).
        n_scored: of them, how many the run scores.
        queries_not_in_run: queries of the labels for which the run lists nothing.
        queries_not_in_labels: queries of the run without any label; ignored.
    """

    n_pairs: int
    n_scored: int
    queries_not_in_run: tuple[str, ...]
    queries_not_in_labels: tuple[str, ...]

    @property
    def share(self) -> float:
        """The scored part of the judged pairs; NaN without any pair."""
        return self.n_scored / self.n_pairs if self.n_pairs else float("nan")


@dataclass(frozen=True)
class Outcome:
    """What a measure says of one system.

    Attributes:
        value: the mean over the compared queries, or one number over all pairs.
        n_defined: how many queries the mean is over; None where it is not a mean over queries.
        by_query: shape (n_queries,), this system's own values, NaN where undefined; None where
            there are none.
        details: what must be read beside the value, such as the prevalence of a PR area.
        reason: why no query of this run has a value, where its ranks or scores are the reason.
    """

    value: float
    n_defined: int | None
    by_query: Floats | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class System:
    """Rankings of one system, whoever made them.

    Attributes:
        has_list: False for scores of the judged pairs alone, as `match.has_list` says: measures
            that need ranks among all candidates are undefined for it.
    """

    name: str
    lists: Lists
    has_list: bool = True

    def why_undefined(self, measure: Measure) -> str:
        """Return why a measure of a ranking has no value here; "" if it has one."""
        if measure.needs_list and not self.has_list:
            return NO_RANKS
        return why_short(measure, self.lists)


@dataclass(frozen=True)
class Scored:
    """One run and what was found.

    Attributes:
        has_list: as of `System`.
        depth: the exact depth of the run that was given, as of `Run`.
        notes: of the run, and of what its values say about it.
        tied: of the deepest cut-off k asked for, k and the share of queries of whose first k + 1
            candidates two neighbours have the same score; None where no rank counts.
    """

    name: str
    coverage: Coverage
    outcomes: dict[str, Outcome]
    has_list: bool = True
    tied: tuple[int, float] | None = None
    depth: int | None = None
    notes: tuple[str, ...] = ()


def evaluate(
    measures: Iterable[Measure],
    systems: Sequence[System],
    areas: Areas | None = None,
    random_areas: Areas | None = None,
    band_areas: Areas | None = None,
) -> list[dict[str, Outcome]]:
    """Return every measure of every system, each mean over the queries defined for all of them.

    A system without a list does not count among "all" where a measure needs one.

    Args:
        measures: from `parse_measure`.
        systems: rankings against the same labels.
        areas: the same systems in the same order on annotated pairs; only for measures that
            are areas.
        random_areas: the same on random negatives.
        band_areas: the same on negatives from a band of ranks.

    Returns:
        For each system {measure name: outcome}, in the order asked for.

    Raises:
        InputError: if a measure needs areas that are not given.
    """
    outcomes_of: list[dict[str, Outcome]] = [{} for _ in systems]
    for measure in measures:
        if measure.is_area:
            drawn = band_areas if measure.is_banded else random_areas
            source = drawn if measure.needs_negatives else areas
            if source is None:
                raise InputError(f"measure {measure.name!r} needs {_NEEDS[_negatives_of(measure)]}")
            outcomes = _area_outcomes(measure, source)
        elif measure.family == "vsd_pair_mrr":
            outcomes = [_pair_mrr(measure, s) for s in systems]
        else:
            outcomes = _ranked_outcomes(measure, systems)
        for of_system, outcome in zip(outcomes_of, outcomes, strict=True):
            of_system[measure.name] = outcome
    return outcomes_of


def score_runs(
    qrels: Qrels,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    *,
    products: Mapping[str, str] | None = None,
    mode: Mode = "image",
    missing: Missing = "error",
    trec: bool = False,
    negatives: NegativeList | None = None,
    band_negatives: NegativeList | None = None,
    missing_negatives: Missing | Literal["undefined"] | None = None,
    matches: Sequence[AlignedRun] | None = None,
    without_list: Collection[str] | None = None,
) -> list[Scored]:
    """Return every measure of every run.

    Args:
        qrels: the labels.
        runs: at least one.
        measures: from `parse_measure`.
        products: as in `match_run`.
        mode: as in `match_run`; vsd_ measures always look at images.
        missing: as in `pair_scores`; only areas need every score.
        trec: order ties, compare scores and average queries as trec_eval does.
        negatives: for the areas on random negatives.
        band_negatives: for the areas on negatives from a band of ranks.
        missing_negatives: what a negative without a score means; `missing` if None. "undefined"
            leaves these areas undefined for a run that lacks one.
        matches: what `match_run` says of the runs, if the caller has it.
        without_list: names of runs that score judged pairs alone: undefined where ranks count.
            None asks `match.has_list` of each, but with `trec`, which has no such rule.

    Raises:
        InputError: no run, an unknown mode or missing, and as `match_run`, `with_negatives` and
            `evaluate`.
        MissingScoresError: naming the run.
    """
    if not runs:
        raise InputError("there is no run to score")
    for option, value, known in (("mode", mode, Mode), ("missing", missing, Missing)):
        if value not in get_args(known):
            allowed = ", ".join(get_args(known))
            raise InputError(f"unknown {option} {value!r}; one of {allowed}")
    if matches is None:
        matches = [match_run(qrels, run, products=products, mode=mode) for run in runs]

    if without_list is None:
        pairs = zip(runs, matches, strict=True)
        without_list = () if trec else [run.name for run, a in pairs if not has_list(a)]
    bare_names = set(without_list)

    def system(run: Run, aligned: AlignedRun) -> System:
        lists = rank_lists(qrels, run, aligned, measures, products=products, mode=mode, trec=trec)
        return System(run.name, lists, has_list=run.name not in bare_names)

    systems = each(lambda pair: system(*pair), list(zip(runs, matches, strict=True)))
    areas = None
    if any(m.is_area and not m.needs_negatives for m in measures):
        areas = _areas(matches, runs, missing, None)
    rule = missing if missing_negatives is None else missing_negatives

    def drawn(listed: NegativeList | None) -> Areas | None:
        if listed is None:
            return None
        against = with_negatives(qrels, listed.pairs)
        aligned = [match_run(against, r, products=products, mode=mode) for r in runs]
        return _areas(aligned, runs, rule, listed.contamination)

    wanted = {_negatives_of(measure) for measure in measures}
    random_areas = drawn(negatives) if "random" in wanted else None
    band_areas = drawn(band_negatives) if "band" in wanted else None
    outcomes = evaluate(measures, systems, areas, random_areas, band_areas)
    return [
        Scored(
            run.name,
            coverage(aligned),
            found,
            has_list=one.has_list,
            tied=_tied(one, measures),
            depth=run.depth,
            notes=(*run.notes, *_reversed_note(one)),
        )
        for run, aligned, found, one in zip(runs, matches, outcomes, systems, strict=True)
    ]


def _negatives_of(measure: Measure) -> str:
    """Return which negatives a measure needs, "" for the annotated ones or none."""
    if not measure.needs_negatives:
        return ""
    return "band" if measure.is_banded else "random"


def _tied(system: System, measures: Sequence[Measure]) -> tuple[int, float] | None:
    cuts = {m.parameter for m in measures if m.needs_list and isinstance(m.parameter, int)}
    known = [k for k in cuts if not system.why_undefined(Measure(f"tie_rate@{k}", "tie_rate", k))]
    listed = system.lists.plain.n_listed > 0
    if not known or not listed.any():
        return None
    k = max(known)
    return k, float(tie_rate(system.lists.plain, k)[listed].mean())


def _reversed_note(system: System) -> Iterator[str]:
    """Say so where positives stand far below negatives, as they do in a list by distance."""
    ranks = system.lists.plain
    listed = ranks.ranks > 0
    order = -ranks.ranks[listed].astype(np.float64)[None]
    found = auc_and_ap(order, ranks.labels[listed], ranks.queries[listed], ranks.n_queries)
    mean, n = mean_defined(found.auc[0, 0])
    if n >= LEAST_QUERIES and mean < REVERSED:
        yield (
            f"WARNING: positives stand below negatives (ROC-AUC {mean:.2f} of their ranks, over "
            f"{n:,} queries): {IF_DISTANCES}"
        )


def coverage(aligned: AlignedRun) -> Coverage:
    """Return how much of the labels an aligned run speaks about."""
    kept = ~aligned.is_excluded
    place = aligned.judged_at[kept]
    is_listed = np.bincount(aligned.run_queries, minlength=aligned.n_queries) > 0
    return Coverage(
        n_pairs=int(kept.sum()),
        n_scored=int((place >= 0).sum()),
        queries_not_in_run=tuple(
            name for name, listed in zip(aligned.query_ids, is_listed, strict=True) if not listed
        ),
        queries_not_in_labels=aligned.unknown_queries,
    )


def _areas(
    matches: Sequence[AlignedRun],
    runs: Sequence[Run],
    missing: Missing | Literal["undefined"],
    contamination: float | None,
) -> Areas:
    rows, unknown = [], []
    for m, (run, aligned) in enumerate(zip(runs, matches, strict=True)):
        try:
            row = pair_scores(aligned, "error" if missing == "error" else "worst")
        except MissingScoresError as error:
            raise MissingScoresError(f"run {run.name!r}: {error}") from error
        if missing == "undefined" and np.isneginf(row).any():
            unknown.append(m)
        rows.append(row)
    first = matches[0]
    kept = ~first.is_excluded
    scores = np.stack(rows)
    return Areas(
        scores, first.labels[kept], first.queries[kept], first.n_queries, contamination,
        frozenset(unknown),
    )  # fmt: skip


def _area_outcomes(measure: Measure, areas: Areas) -> list[Outcome]:
    is_roc = "_roc_" in measure.family
    n_systems = areas.scores.shape[0]
    if measure.family.startswith("micro"):
        return [
            Outcome(np.nan, None, reason=NO_SCORES)
            if m in areas.undefined
            else Outcome(
                areas.micro_value(m, is_roc=is_roc),
                None,
                details=areas.micro_details(m, is_roc=is_roc),
            )
            for m in range(n_systems)
        ]
    outcomes = []
    for m in range(n_systems):  # defined by the labels alone, so for every system alike
        if m in areas.undefined:
            values = np.full(areas.n_queries, np.nan)
            outcomes.append(Outcome(np.nan, 0, values, reason=NO_SCORES))
            continue
        values = areas.macro_values(m, is_roc=is_roc)
        mean = _mean(values, ~np.isnan(values))
        details = areas.macro_details(values, is_roc=is_roc)
        outcomes.append(Outcome(mean.value, mean.n_defined, values, details))
    return outcomes


def _ranked_outcomes(measure: Measure, systems: Sequence[System]) -> list[Outcome]:
    values = [_as_averaged(measure.values(s.lists), s.lists) for s in systems]
    reasons = [s.why_undefined(measure) for s in systems]
    known = [row for row, reason in zip(values, reasons, strict=True) if not reason]
    is_common = np.all(~np.isnan(known), axis=0) if known else np.zeros_like(values[0], np.bool_)
    return [
        Outcome(np.nan, 0, np.full_like(row, np.nan), reason=reason)
        if reason
        else _mean(row, is_common)
        for row, reason in zip(values, reasons, strict=True)
    ]


def _pair_mrr(measure: Measure, system: System) -> Outcome:
    lists, reason = system.lists, system.why_undefined(measure)
    n_positive = float(lists.one_per_product.count(1).sum())
    value = np.nan if reason else vsd_pair_reciprocal_rank(lists.one_per_product)
    return Outcome(value, None, details={"n_positive": n_positive}, reason=reason)


def _as_averaged(values: Floats, lists: Lists) -> Floats:
    """Return values as trec_eval averages them: queries in both, without positives 0."""
    if not lists.as_trec:
        return values
    return np.where(lists.plain.n_listed > 0, np.nan_to_num(values), np.nan)


def _mean(values: Floats, kept: Bools) -> Outcome:
    n = int(kept.sum())
    return Outcome(float(values[kept].mean()) if n else float("nan"), n, values)

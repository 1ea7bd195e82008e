"""What `lookalike score` reports: a JSON object, a table, or text for a person."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.io.documents import Table
from lookalike.io.tables import Qrels
from lookalike.metrics.scoring import MANY_TIES, Scored
from lookalike.stats.proportion import Interval
from lookalike.stats.text_tables import TEXT, table
from lookalike.stats.units import Units

SETTINGS = (
    *("mode", "missing", "trec", "metadata", "negatives", "contamination", "complete", "min_rel"),
    *("lower_is_better", "depth", "unit"),
    *("images", "device", "batch_size"),
)
_SHOWN_IDS = 20
Intervals = Mapping[str, Sequence[Interval]]  # by measure, of each run


def as_json(
    arguments: argparse.Namespace,
    labels: Path,
    files: Sequence[object],
    qrels: Qrels,
    scored: Sequence[Scored],
    *,
    intervals: Intervals | None = None,
) -> dict[str, Any]:
    """Return everything at full precision; an undefined value is NaN.

    Args:
        arguments: what a command was given; its settings are among them.
        labels: where the labels are from.
        files: where the runs are from.
        qrels: the labels.
        scored: of the runs.
        intervals: of means over queries, where they are known.
    """
    known = intervals or {}
    given = {name: getattr(arguments, name) for name in SETTINGS if hasattr(arguments, name)}
    return {
        "labels": {"file": str(labels)} | _label_counts(qrels),
        "settings": {n: str(v) if isinstance(v, Path) else v for n, v in given.items()},
        "runs": [
            {"name": run.name, "file": str(file)}
            | _run_as_json(
                run, qrels, arguments.by_query, {name: ends[at] for name, ends in known.items()}
            )
            for at, (file, run) in enumerate(zip(files, scored, strict=True))
        ],
    }


def as_table(
    qrels: Qrels, scored: Sequence[Scored], *, by_query: bool, intervals: Intervals | None = None
) -> Table:
    """Return a row per measure, and per measure and query if wanted, with a column per run.

    Intervals stand in two columns of each run, after the values.
    """
    header = ["measure", *(["query"] if by_query else []), "queries", *(s.name for s in scored)]
    if intervals is not None:
        header += [f"{one.name} {end}" for one in scored for end in ("low", "high")]
    rows: list[list[str | int | float | None]] = []
    for name, first in scored[0].outcomes.items():
        outcomes = [run.outcomes[name] for run in scored]
        every = [""] if by_query else []
        ends = (intervals or {}).get(name, ())
        rows.append(
            [
                *(name, *every, first.n_defined),
                *(outcome.value for outcome in outcomes),
                *(end for one in ends for end in (one.low, one.high)),
            ]
        )
        for detail in first.details:
            rows.append([f"{name} {detail}", *every, None, *(o.details[detail] for o in outcomes)])
        columns = [outcome.by_query for outcome in outcomes if outcome.by_query is not None]
        if by_query and columns:
            for query, *values in zip(qrels.query_ids, *columns, strict=True):
                rows.append([name, query, None, *(float(value) for value in values)])
    return Table(header, [[*row, *[None] * (len(header) - len(row))] for row in rows])


def as_text(
    labels: object,
    qrels: Qrels,
    scored: Sequence[Scored],
    *,
    by_query: bool,
    intervals: Intervals | None = None,
    units: Units | None = None,
) -> str:
    """Return a table: a line per measure, a column per run, then the number of queries.

    An interval, where one is known, stands to the right of its value.
    """
    counts = _label_counts(qrels)
    lines = [
        f"Labels: {labels}: {counts['n_queries']} queries, {counts['n_pairs']} pairs, "
        f"{counts['n_positive']} positive",
        *(f"Run {run.name}: {_covered(run)}" for run in scored),
        "",
        *table(list(_measure_rows(scored, intervals))),
    ]
    if units is not None:
        lines += ["", f"95 % intervals over {units.words()}; `lookalike compare` tests differences"]
    if by_query:
        for run in scored:
            lines += ["", f"By query, {run.name}", *table(list(_query_rows(run, qrels)))]
    return "\n".join(lines) + "\n"


def list_notes(scored: Sequence[Scored]) -> Iterator[str]:
    """Say of each run what a reader would else mistake."""
    for run in scored:
        yield from (f"run {run.name!r}: {note}" for note in run.notes)
        if not run.has_list:
            yield (
                f"run {run.name!r} lists the judged pairs alone, among which positives stand far "
                "too high: what counts ranks is undefined for it (--complete, if there is no more "
                "to rank)"
            )
        for reason, names in _reasons(run).items():
            yield f"run {run.name!r}: {', '.join(names)} undefined: {reason}"
        if run.tied is not None and run.tied[1] > MANY_TIES:
            k, share = run.tied
            yield (
                f"run {run.name!r}: two neighbours of the first {k + 1} have the same score for "
                f"{share:.0%} of its queries; names decide there who is cut off (tie_rate@{k})"
            )
        strange = run.coverage.queries_not_in_labels
        if strange:
            yield (
                f"run {run.name!r} has {len(strange)} queries without labels, "
                f"which are ignored (first: {strange[0]!r})"
            )


def _reasons(run: Scored) -> dict[str, list[str]]:
    """Return the measures that the run's depth leaves undefined, by reason."""
    found: dict[str, list[str]] = {}
    for name, outcome in run.outcomes.items():
        if outcome.reason and run.has_list:
            found.setdefault(outcome.reason, []).append(name)
    return found


def _label_counts(qrels: Qrels) -> dict[str, int]:
    return {
        "n_queries": len(qrels.query_ids),
        "n_pairs": len(qrels),
        "n_positive": int(qrels.labels.sum()),
    }


def _run_as_json(
    run: Scored, qrels: Qrels, by_query: bool, intervals: Mapping[str, Interval]
) -> dict[str, Any]:
    cover = run.coverage
    found: dict[str, Any] = {
        "has_list": run.has_list,
        "depth": run.depth,
        "notes": list(run.notes),
        "coverage": {
            "judged_pairs": cover.n_pairs,
            "scored": cover.n_scored,
            "share": cover.share,
            "queries_not_in_run": _some(cover.queries_not_in_run),
            "queries_not_in_labels": _some(cover.queries_not_in_labels),
        },
        "measures": {
            name: {"value": outcome.value, "n_defined": outcome.n_defined}
            | (_interval_as_json(intervals[name]) if name in intervals else {})
            | dict(outcome.details)
            | ({"reason": outcome.reason} if outcome.reason else {})
            for name, outcome in run.outcomes.items()
        },
    }
    if by_query:
        found["by_query"] = {
            query: {
                name: float(outcome.by_query[q])
                for name, outcome in run.outcomes.items()
                if outcome.by_query is not None
            }
            for q, query in enumerate(qrels.query_ids)
        }
    return found


def _interval_as_json(ends: Interval) -> dict[str, Any]:
    found = ends.as_json()
    return {{"reason": "no_interval"}.get(key, key): value for key, value in found.items()}


def _some(ids: Sequence[str]) -> dict[str, Any]:
    return {"n": len(ids), "first": list(ids[:_SHOWN_IDS])}


def _covered(run: Scored) -> str:
    cover = run.coverage
    text = f"scores {cover.n_scored} of {cover.n_pairs} judged pairs"
    if cover.n_pairs:
        text += f" ({100 * cover.share:.1f} %)"
    if not run.has_list:
        text += "; has no list beyond them"
    if cover.queries_not_in_run:
        text += f"; lists nothing for {len(cover.queries_not_in_run)} queries"
    if cover.queries_not_in_labels:
        text += f"; {len(cover.queries_not_in_labels)} queries without labels ignored"
    return text


def _measure_rows(scored: Sequence[Scored], intervals: Intervals | None) -> Iterator[list[str]]:
    between = [] if intervals is None else ["95 % interval"]
    yield ["measure", "queries", *(text for run in scored for text in (run.name, *between))]
    for name, first in scored[0].outcomes.items():
        outcomes = [run.outcomes[name] for run in scored]
        n = "all pairs" if first.n_defined is None else str(first.n_defined)
        ends = (intervals or {}).get(name)
        cells = (
            [[TEXT.interval(one)] for one in ends]
            if ends
            else [["" for _ in between]] * len(outcomes)
        )
        values = zip(outcomes, cells, strict=True)
        yield [name, n, *(text for one, more in values for text in (_shown(one.value), *more))]
        for detail in first.details:
            details = (_shown(one.details[detail]) for one in outcomes)
            yield [
                f"  {detail}",
                "",
                *(t for text in details for t in (text, *[""] * len(between))),
            ]


def _query_rows(run: Scored, qrels: Qrels) -> Iterator[list[str]]:
    columns = {name: o.by_query for name, o in run.outcomes.items() if o.by_query is not None}
    yield ["query", *columns]
    for q, query in enumerate(qrels.query_ids):
        yield [query, *(_shown(float(values[q])) for values in columns.values())]


def _shown(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    return str(int(value)) if value.is_integer() and abs(value) > 1 else f"{value:.4f}"

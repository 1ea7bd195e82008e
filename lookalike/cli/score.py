"""`lookalike score`: every measure of every run."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lookalike.cli.output import Report
from lookalike.cli.score_report import as_json, as_table, as_text
from lookalike.io.errors import InputError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.runs import read_run
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import MissingScoresError
from lookalike.metrics.measures import DEFAULT_MEASURES, Measure, known_forms, parse_measure
from lookalike.metrics.scoring import Scored, score_runs

DESCRIPTION = (
    f"Score runs against labels. Measures: {', '.join(known_forms())}. "
    "k is a rank, p a persistence."
)
EXAMPLE = "lookalike score --qrels labels.json --run beit.csv --run clip.parquet --measures P@5,AP'"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--qrels",
        type="input",
        required=True,
        metavar="FILE",
        help="VSD JSON, TREC, CSV or parquet",
    )
    parser.add_argument(
        "--min-rel",
        type=int,
        metavar="GRADE",
        help="of graded labels, the least that is positive; nDCG takes the grades as gains",
    )
    parser.add_argument(
        "--run",
        type="input",
        required=True,
        action="append",
        metavar="FILE",
        help="TREC, CSV or parquet; may be given several times",
    )
    parser.add_argument(
        "--measures", default=",".join(DEFAULT_MEASURES), metavar="A,B", help="default: %(default)s"
    )
    parser.add_argument(
        "--metadata", type="input", metavar="FILE", help="products: VSD JSON or CSV path,product_id"
    )
    parser.add_argument(
        "--mode",
        choices=("image", "product"),
        default="image",
        help="count each image, or each product once (needs --metadata)",
    )
    parser.add_argument(
        "--missing",
        choices=("error", "worst"),
        default="error",
        help="judged pairs without a score: refuse the run, or rank them below all others",
    )
    parser.add_argument(
        "--trec",
        action="store_true",
        help="order ties, compare scores and average queries as trec_eval does",
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="the labels cover all there is to rank: count ranks also in runs that list the "
        "judged pairs alone, which have no list otherwise",
    )
    parser.add_argument(
        "--negatives", type="input", metavar="FILE", help="random negatives: labels that are all 0"
    )
    parser.add_argument(
        "--contamination",
        type=float,
        metavar="SHARE",
        help="estimated share of true positives among the random negatives",
    )
    parser.add_argument("--by-query", action="store_true", help="also the values of each query")


def run(arguments: argparse.Namespace) -> Report:
    """Read the files and score.

    Raises:
        InputError: with file, line and reason, or the unknown measure.
        OSError: if a file cannot be opened.
    """
    measures = _measures(arguments.measures)
    if arguments.contamination is not None and not 0 <= arguments.contamination < 1:
        raise InputError(f"--contamination {arguments.contamination} is not in [0, 1)")
    if arguments.min_rel is not None and arguments.min_rel < 1:
        raise InputError(f"--min-rel {arguments.min_rel} is not 1 or more")
    qrels = read_qrels(arguments.qrels, min_rel=arguments.min_rel)
    runs = _named_apart([(path, read_run(path)) for path in arguments.run])
    try:
        scored = score_runs(
            qrels,
            runs,
            measures,
            products=read_products(arguments.metadata) if arguments.metadata else None,
            mode=arguments.mode,
            missing=arguments.missing,
            trec=arguments.trec,
            negatives=_negatives(arguments.negatives),
            contamination=arguments.contamination,
            without_list=() if arguments.complete else None,
        )
    except MissingScoresError as error:
        hint = "--missing worst ranks them last; --measures can leave the areas out"
        raise MissingScoresError(f"{error}; {hint}") from error
    return Report(
        title=f"{arguments.qrels}: {', '.join(run.name for run in scored)}",
        text=as_text(arguments, qrels, scored),
        data=as_json(arguments, qrels, scored),
        table=as_table(qrels, scored, by_query=arguments.by_query),
        notes=list(_notes(scored)),
    )


def _measures(text: str) -> list[Measure]:
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError("--measures names no measure")
    return [parse_measure(name) for name in names]


def _named_apart(runs: Sequence[tuple[Path, Run]]) -> list[Run]:
    """Return the runs, with their file in the name where two have the same name."""
    counts = Counter(run.name for _, run in runs)
    named = [
        replace(run, name=f"{run.name} ({path})") if counts[run.name] > 1 else run
        for path, run in runs
    ]
    repeated = [name for name, n in Counter(run.name for run in named).items() if n > 1]
    if repeated:
        raise InputError(f"the same run is given twice: {repeated[0]}")
    return named


def _negatives(path: Path | None) -> list[tuple[str, str]] | None:
    if path is None:
        return None
    found: Qrels = read_qrels(path)
    if found.labels.any():
        raise InputError(f"{path}: random negatives are labels that are all 0; one is 1")
    return [(query, candidate) for query, candidate, _ in found]


def _notes(scored: Sequence[Scored]) -> Iterator[str]:
    for run in scored:
        if not run.has_list:
            yield (
                f"run {run.name!r} lists the judged pairs alone, among which positives stand far "
                "too high: what counts ranks is undefined for it (--complete, if there is no more "
                "to rank)"
            )
        strange = run.coverage.queries_not_in_labels
        if strange:
            yield (
                f"run {run.name!r} has {len(strange)} queries without labels, "
                f"which are ignored (first: {strange[0]!r})"
            )

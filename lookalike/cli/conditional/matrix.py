"""`lookalike conditional matrix`: accuracies of embeddings on the conditions of triplets."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_every
from lookalike.conditional.criterion import MIN_QUESTIONS, Criterion, Part, Seen, measure, seen_by
from lookalike.conditional.formats.tables import AccuracyMatrix, matrix_csv
from lookalike.conditional.formats.triplet_files import (
    TripletEntries,
    read_integer_triplets,
    read_names,
    read_triplets,
)
from lookalike.conditional.triplet_scores import Metric
from lookalike.conditional.triplets import TripletTable, vectors_for
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.vectors import VectorTable

DESCRIPTION = (
    "Write which share of each condition's triplets each embedding gets right, in two parts where "
    "every condition has enough questions: one to fit an alignment on, one to score it on."
)
EXAMPLE = "lookalike conditional matrix answers.csv --vectors a.npz --vectors b.npz"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "triplets",
        nargs="+",
        type="input",
        metavar="TRIPLETS",
        help="anchor,closer,farther,condition[,worker] as CSV, or integer files of UT-Zappos",
    )
    add_vectors(parser, is_repeatable=True, old_option="--embeddings")
    parser.add_argument("--names", type="input", metavar="FILE", help="what integers stand for")
    parser.add_argument("--metric", choices=("cosine", "euclidean"), default="cosine")
    parser.add_argument("--seed", type=seed, default=0, help="of the parts")
    parser.add_argument("--validation", type=Path, metavar="MATRIX.csv", help="write it there")
    parser.add_argument("--test", type=Path, metavar="MATRIX.csv", help="write it there")
    parser.add_argument("--skip-bad", action="store_true", help="leave bad rows out, and say so")


def run(arguments: argparse.Namespace) -> Report:
    """Compute both matrices; write them and report the figures, or report the one matrix.

    Raises:
        InputError: with file, row and reason.
        OSError: if a file cannot be opened or written.
    """
    found = _read(arguments.triplets, arguments.names)
    if found.malformed and not arguments.skip_bad:
        first = found.malformed[0]
        raise InputError(
            f"{arguments.triplets[0]}: {len(found.malformed):,} bad rows (the first: row "
            f"{first.index}, {first.reason}). --skip-bad leaves them out"
        )
    given = read_every(arguments)
    try:
        table = TripletTable.of(found.triplets, found.swapped)
        seen = [_seen(table, *one, arguments.metric) for one in given]
        criterion = measure(table, seen, arguments.seed)
    except ValueError as problem:
        raise InputError(str(problem)) from problem
    for path, part in (
        (arguments.validation, criterion.validation),
        (arguments.test, criterion.test),
    ):
        if path is not None:
            path.write_text(matrix_csv(_matrix(criterion, part)), encoding="utf-8")
    whole = _matrix(criterion, criterion.whole)
    is_whole = arguments.validation is None and arguments.test is None
    lines = [f"{line}\n" for line in _lines(criterion, len(found.malformed))]
    return Report(
        title="Accuracies of embeddings on conditions",
        text=matrix_csv(whole) if is_whole else "".join(lines),
        data=criterion.as_json() | {"n_bad_rows": len(found.malformed)},
        table=Table(
            ("condition", *whole.embeddings),
            list(zip(whole.conditions, *whole.values.T.tolist(), strict=True)),
        ),
    )


def _read(paths: list[Path], names: Path | None) -> TripletEntries:
    if len(paths) == 1 and paths[0].suffix.lower() == ".csv":
        return read_triplets(paths[0])
    return read_integer_triplets(paths, read_names(names) if names else None)


def _seen(table: TripletTable, path: Path, given: VectorTable, metric: Metric) -> Seen:
    vectors = vectors_for(table, given)
    try:
        return seen_by(table, path.stem, vectors, metric)
    except ValueError as problem:
        raise InputError(f"{path}: {problem}") from problem


def _matrix(criterion: Criterion, part: Part) -> AccuracyMatrix:
    return AccuracyMatrix(criterion.conditions, criterion.embeddings, part.accuracy)


def _lines(criterion: Criterion, n_bad: int) -> Iterator[str]:
    fitted, scored = criterion.validation, criterion.test
    if criterion.is_split:
        yield f"fitted on {fitted.n.sum():,} triplets, scored on {scored.n.sum():,} others"
    else:
        yield (
            f"fitted and scored on the same {fitted.n.sum():,} triplets: a condition has fewer "
            f"than {MIN_QUESTIONS} questions"
        )
    if n_bad:
        yield f"{n_bad:,} bad rows left out"
    for row, name in enumerate(criterion.conditions):
        best = int(np.argmax(scored.accuracy[row]))
        shown = f"{criterion.embeddings[best]} {scored.accuracy[row, best]:.3f}"
        ties = f"ties {scored.ties[row, best]:.1%}"
        yield f"  {name}: {scored.n[row]:,} triplets, best {shown}, {ties}"
    yield f"OT accuracy {criterion.alignment.ot:.6f}, greedy {criterion.alignment.greedy:.6f}"
    found = criterion.reversed
    yield (
        f"valid {found.valid:.1%}, reversed ones {found.valid_reversed:.1%}; some embedding "
        f"explains {found.explained:.1%}, and both ways {found.explained_both_ways:.1%}"
    )

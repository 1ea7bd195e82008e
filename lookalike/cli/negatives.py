"""`lookalike negatives`: draw random negatives once, by a seed, into a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from lookalike.cli.input_files import InputFiles
from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.cli.vote_options import add_vote_options
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.io.writers import write_csv
from lookalike.metrics.negatives import draw_negatives

DESCRIPTION = "Draw random negatives of each query with a positive into a CSV file."
EXAMPLE = (
    "lookalike negatives --qrels labels.json --reference beit.csv --seed 1 --out negatives.csv"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--qrels", type="input", required=True, metavar="FILE", help="the labels")
    parser.add_argument(
        "--reference",
        type="input",
        required=True,
        action="append",
        metavar="FILE",
        help="a run whose candidates or ranks are drawn from; may be given several times",
    )
    parser.add_argument(
        "--band", metavar="A-B", help="ranks of the references; without it: uniform"
    )
    parser.add_argument("--seed", type=seed, required=True, help="of the draw")
    parser.add_argument(
        "--per-positive", type=int, default=1, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--metadata", type="input", metavar="FILE", help="products")
    parser.add_argument(
        "--out", dest="drawn", type=Path, required=True, metavar="FILE", help="CSV to write"
    )
    add_vote_options(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Draw, write the list and report what it is.

    Raises:
        InputError: with file, line and reason, or an empty band.
        OSError: if a file cannot be opened.
    """
    files = InputFiles(arguments, "the labels")
    qrels = files.labels(arguments.qrels)
    products = files.products(arguments.metadata) if arguments.metadata else None
    references = files.runs(arguments.reference)
    drawn = draw_negatives(
        qrels,
        references,
        band=_band(arguments.band),
        seed=arguments.seed,
        per_positive=arguments.per_positive,
        products=products,
    )
    if not drawn.pairs:
        raise InputError("no candidate is left to draw from")
    with arguments.drawn.open("w", encoding="utf-8", newline="") as out:
        write_csv(out, ((query, candidate, 0) for query, candidate in drawn.pairs))
    summary = {
        "file": str(arguments.drawn),
        "source": drawn.source,
        "seed": drawn.seed,
        "n_pairs": len(drawn.pairs),
        "sha256": drawn.sha256,
        "queries_with_fewer": list(drawn.short),
    }
    return Report(
        title="Random negatives",
        text=json.dumps(summary, indent=1, ensure_ascii=False) + "\n",
        data=summary,
        notes=[*files.notes, *([] if arguments.band else _cut_notes(references))],
    )


def _cut_notes(references: Sequence[Run]) -> Iterator[str]:
    for run in references:
        if run.depth is not None:
            yield (
                f"run {run.name!r} is complete down to rank {run.depth:,} only: images that none "
                "of its lists holds are never drawn"
            )


def _band(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        raise InputError(f"--band {text!r} is not of the form 100-500")
    return int(first), int(last)

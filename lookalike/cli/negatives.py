"""`python -m evaluation negatives`: draw random negatives once, by a seed, into a file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.io.errors import InputError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.runs import read_run
from lookalike.io.writers import write_csv
from lookalike.metrics.negatives import draw_negatives

if TYPE_CHECKING:
    SubCommands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(sub_commands: SubCommands) -> None:
    """Add the sub-command and its options."""
    parser = sub_commands.add_parser(
        "negatives",
        help="draw random negatives into a file",
        description="Draw random negatives of each query with a positive into a CSV file.",
    )
    parser.add_argument("--qrels", type=Path, required=True, metavar="FILE", help="the labels")
    parser.add_argument(
        "--reference",
        type=Path,
        required=True,
        action="append",
        metavar="FILE",
        help="a run whose candidates or ranks are drawn from; may be given several times",
    )
    parser.add_argument(
        "--band", metavar="A-B", help="ranks of the references; without it: uniform"
    )
    parser.add_argument("--seed", type=int, required=True, help="of the draw")
    parser.add_argument(
        "--per-positive", type=int, default=1, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--metadata", type=Path, metavar="FILE", help="products")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="CSV to write")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Draw, write the list and print what it is as JSON.

    Raises:
        InputError: with file, line and reason, or an empty band.
        OSError: if a file cannot be opened.
    """
    drawn = draw_negatives(
        read_qrels(arguments.qrels),
        [read_run(path) for path in arguments.reference],
        band=_band(arguments.band),
        seed=arguments.seed,
        per_positive=arguments.per_positive,
        products=read_products(arguments.metadata) if arguments.metadata else None,
    )
    if not drawn.pairs:
        raise InputError("no candidate is left to draw from")
    with arguments.out.open("w", encoding="utf-8", newline="") as out:
        write_csv(out, ((query, candidate, 0) for query, candidate in drawn.pairs))
    summary = {
        "file": str(arguments.out),
        "source": drawn.source,
        "seed": drawn.seed,
        "n_pairs": len(drawn.pairs),
        "sha256": drawn.sha256,
        "queries_with_fewer": list(drawn.short),
    }
    sys.stdout.write(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    return 0


def _band(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        raise InputError(f"--band {text!r} is not of the form 100-500")
    return int(first), int(last)

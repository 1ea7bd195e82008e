"""`lookalike rounds draw`: which pairs to judge next."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.cli.rounds.inputs import add_files, read_files
from lookalike.io.errors import InputError
from lookalike.planning.label_model import LABEL_MODEL
from lookalike.planning.pool_files import NO_GUESS, write_round
from lookalike.planning.rounds import FLOOR, draw_round

DESCRIPTION = (
    "Draw the pairs of a pool that are judged next. Pairs that are in doubt and on which much "
    "hangs are drawn more often; every open pair may be drawn. The probabilities go into the "
    "round's file: no estimate is valid without them. Rounds of one seed are independent: the "
    "draw starts from the seed and from how many labels and rounds there were before."
)
EXAMPLE = (
    "lookalike rounds draw --proposals pool.csv --run a.csv --run b.csv --qrels so-far.csv "
    "--share 0.1 --seed 2 --to round-2.csv"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_files(parser)
    parser.add_argument(
        "--share", type=float, required=True, metavar="X", help="how much of the pool to draw"
    )
    parser.add_argument(
        "--floor", type=float, metavar="X",
        help=f"least probability of an open pair; default: three quarters of the share, "
        f"at least {FLOOR}",
    )  # fmt: skip
    parser.add_argument(
        "--whole-queries", action="store_true", help="every open pair with the same probability"
    )
    parser.add_argument(
        "--seed", type=seed, required=True, help="of the draw; kept in the round's file"
    )
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="the round, as CSV")


def run(arguments: argparse.Namespace) -> Report:
    """Draw and write.

    Raises:
        InputError, Refused: files or options that cannot be used.
        OSError: a file cannot be opened or written.
    """
    if not 0.0 < arguments.share <= 1.0:
        raise InputError(f"--share {arguments.share:g} is not in (0, 1]")
    if arguments.to.exists():
        raise InputError(f"{arguments.to} exists: a round that was drawn is a fact, and stays")
    files = read_files(arguments)
    pool, labels = files.named.pool, files.labels
    waiting = sum(int((drawn.drawn & np.isnan(labels)).sum()) for drawn in files.rounds)
    if waiting:
        raise InputError(f"{waiting} pairs of earlier rounds have no label yet: judge them first")
    n_known = int((~np.isnan(labels)).sum())
    drawn = draw_round(
        pool,
        labels,
        n_wanted=max(1, round(arguments.share * pool.n_pairs)),
        rng=np.random.default_rng([arguments.seed, n_known, len(files.rounds)]),
        floor=arguments.floor,
        is_uniform=arguments.whole_queries,
    )
    guess = NO_GUESS if arguments.whole_queries else LABEL_MODEL
    write_round(arguments.to, files.named, drawn, seed=arguments.seed, guess=guess)
    n, n_open = int(drawn.drawn.sum()), int(np.isnan(labels).sum())
    least = float(np.nanmin(drawn.probabilities))
    return Report(
        title="A round of judging",
        text=f"{n:,} of {n_open:,} open pairs drawn, the least likely with {least:.3f}; "
        f"{arguments.to}\n",
        data={
            "n_drawn": n,
            "n_open": n_open,
            "n_pairs": pool.n_pairs,
            "least_probability": least,
            "seed": arguments.seed,
            "guess": guess,
            "file": str(arguments.to),
        },
        notes=files.notes,
    )

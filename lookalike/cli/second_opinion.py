"""`lookalike second-opinion`: the judged pairs that another panel would change most by."""

from __future__ import annotations

import argparse

import numpy as np

from lookalike.cli.judged_pool import add_judged_pool, read_judged_pool
from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.planning.measures import checked_measures
from lookalike.planning.second_opinion import second_opinions
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "List the judged pairs that are worth a second opinion: how likely another panel of as many "
    "says otherwise, by how much a model's value would move then, and the product of both."
)
EXAMPLE = (
    "lookalike second-opinion --proposals pool.csv --votes votes.csv --run a.csv --run b.csv "
    "--measure P@5 --top 20"
)
HEADER = ("query", "candidate", "similar", "votes", "chance", "model", "moves", "worth")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_judged_pool(parser)
    parser.add_argument("--measure", default="AP'", help="default: %(default)s")
    parser.add_argument(
        "--top", type=int, default=50, help="pairs that are listed; default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Read, and list the pairs.

    Raises:
        InputError, Refused: files or options that cannot be used.
        OSError: if a file cannot be opened.
    """
    if arguments.top < 1:
        raise InputError(f"--top {arguments.top} is below 1")
    named, votes, notes = read_judged_pool(arguments)
    (measure,) = checked_measures([arguments.measure], named.pool.depth)
    found = second_opinions(named.pool, votes, measure)
    rows = []
    for i in found.order[: arguments.top].tolist():
        m = int(np.abs(found.moves[:, i]).argmax())
        rows.append(
            (*named.pairs[i], int(np.nansum(votes[i])), int((~np.isnan(votes[i])).sum()),
             float(found.chance[i]), named.pool.models[m], float(found.moves[m, i]),
             float(found.worth[i]))
        )  # fmt: skip
    cells = [["query", "candidate", "similar", "chance of another", "moves most", "by"]]
    cells += [
        [q, c, f"{s} of {n}", TEXT.share(chance), model, f"{moves:+.5f}"]
        for q, c, s, n, chance, model, moves, _ in rows
    ]
    return Report(
        title="Worth a second opinion",
        text="\n".join(table(cells)) + "\n",
        data={"measure": measure, "pairs": [dict(zip(HEADER, row, strict=True)) for row in rows]},
        table=Table(HEADER, rows),
        notes=[*notes, "each pair is turned alone; a pair without votes counts as different"],
    )

"""`lookalike label-sensitivity`: what measures and orders owe to the votes behind labels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from lookalike.cli.judged_pool import add_judged_pool, read_judged_pool
from lookalike.cli.options import comma_list, seed
from lookalike.cli.output import Report
from lookalike.cli.unit_option import add_metadata
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.planning.label_sensitivity import Sensitivity, label_sensitivity
from lookalike.planning.measures import checked_measures
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Say how the measures of a judged pool move with the votes behind its labels: on shares of "
    "votes in place of majorities, and on panels drawn anew from the votes, which the intervals "
    "then hold beside the draw of queries."
)
EXAMPLE = (
    "lookalike label-sensitivity --proposals pool.csv --votes votes.csv --run a.csv --run b.csv"
)
HEADER = ("measure", "model", "majority", "shares", "spread", "low", "high")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_judged_pool(parser)
    add_metadata(parser)
    parser.add_argument(
        "--measures", type=comma_list, default="AP',macro_roc_auc,micro_roc_auc", metavar="A,B",
        help="default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--panels", type=int, default=50, help="drawn; default: %(default)s")
    parser.add_argument("--seed", type=seed, default=0, help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Read, draw panels and compare.

    Raises:
        InputError, Refused: files or options that cannot be used.
        OSError: if a file cannot be opened.
    """
    if arguments.panels < 2:
        raise InputError(f"--panels {arguments.panels}: a spread takes two at least")
    named, votes, notes = read_judged_pool(arguments, has_unit=True)
    found = label_sensitivity(
        named.pool,
        votes,
        checked_measures(arguments.measures, named.pool.depth),
        np.random.default_rng(arguments.seed),
        n_draws=arguments.panels,
    )
    rows = [
        (one.measure, model, float(one.values[m]), float(one.soft[m]), float(one.spread[m]),
         one.intervals[m].low, one.intervals[m].high)
        for one in found
        for m, model in enumerate(named.pool.models)
    ]  # fmt: skip
    return Report(
        title="What votes do to measures",
        text="\n".join(_text(rows, found, arguments.panels)) + "\n",
        data={
            "measures": [dict(zip(HEADER, row, strict=True)) for row in rows],
            "orders": [
                {"measure": one.measure, "turned": [list(two) for two in one.turned],
                 "unsure": one.unsure}
                for one in found
            ],
        },
        table=Table(HEADER, rows),
        notes=[
            *notes,
            "pairs on which all voters agree never turn: the spread errs to the small side",
        ],
    )  # fmt: skip


def _text(
    rows: Sequence[tuple[str, str, float, float, float, float, float]],
    found: Sequence[Sensitivity],
    n_panels: int,
) -> Iterator[str]:
    cells = [["", "majority", "shares", "± of panels", "interval"]]
    for measure, model, value, soft, spread, low, high in rows:
        ends = f"[{TEXT.number(low)}, {TEXT.number(high)}]"
        cells.append([f"{measure}  {model}", *map(TEXT.number, (value, soft, spread)), ends])
    yield from table(cells)
    yield ""
    for one in found:
        turned = ", ".join(f"{upper} and {lower}" for upper, lower in one.turned) or "none"
        yield (
            f"{one.measure}: turned on shares of votes: {turned}; in {n_panels} panels drawn anew "
            f"two models stand the other way round in {TEXT.share(one.unsure)} of cases"
        )

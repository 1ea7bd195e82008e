"""`lookalike label-sensitivity`: what measures and orders owe to the votes behind labels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from lookalike.bias.evidence.files import read_proposals, read_votes
from lookalike.cli.learn.options import seed
from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.runs import read_run
from lookalike.planning.label_sensitivity import Sensitivity, label_sensitivity
from lookalike.planning.measures import checked_measures
from lookalike.planning.pool_files import named_pool
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
    parser.add_argument(
        "--proposals", type="input", required=True, metavar="FILE",
        help="CSV or parquet: query,candidate,model,rank",
    )  # fmt: skip
    parser.add_argument(
        "--run", type="input", required=True, action="append", metavar="FILE",
        help="whole lists of models of the pool; once per model",
    )  # fmt: skip
    parser.add_argument(
        "--votes", type="input", required=True, metavar="FILE",
        help="CSV or parquet: query,candidate,annotator,value; or a release's judgements",
    )  # fmt: skip
    parser.add_argument(
        "--measures", default="AP',macro_roc_auc,micro_roc_auc", metavar="A,B",
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
    runs = [read_run(path) for path in arguments.run]
    named = named_pool(read_proposals(arguments.proposals), runs)
    votes = read_votes(arguments.votes)
    asked = [name.strip() for name in arguments.measures.split(",") if name.strip()]
    found = label_sensitivity(
        named.pool,
        named.votes(votes.rows, len(votes.annotators)),
        checked_measures(asked, named.pool.depth),
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
        notes=["pairs on which all voters agree never turn: the spread errs to the small side"],
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

"""`lookalike rounds estimate`: what is known of a pool that is judged in part, and when to stop."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from lookalike.cli.output import Report
from lookalike.cli.rounds.inputs import add_files, read_files
from lookalike.cli.unit_option import unit_json
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.planning.estimates import Estimates, estimate
from lookalike.planning.measures import BOARD, checked_measures
from lookalike.planning.stopping import Looks, StopAdvice, stop_advice
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Estimate the measures of a pool that rounds have judged in part, with intervals that hold "
    "the draw of pairs as well as that of queries, and say whether enough is known. All that is "
    "claimed at any of the planned looks holds together with the confidence asked for."
)
EXAMPLE = (
    "lookalike rounds estimate --proposals pool.csv --run a.csv --run b.csv --qrels so-far.csv "
    "--round round-1.csv --round round-2.csv --measure P@5 --looks 5"
)
WHAT_VARIES = (
    "intervals tell what another draw of queries and of the pairs judged would change, not other "
    "judges, another pool or another catalog"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_files(parser)
    parser.add_argument(
        "--measures", default=",".join(BOARD), metavar="A,B", help="default: %(default)s"
    )
    parser.add_argument(
        "--measure", default="P@5", help="which the rules to stop look at; default: %(default)s"
    )
    parser.add_argument(
        "--looks", type=int, default=5, help="looks planned in all; default: %(default)s"
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, help="chance of any wrong claim; default: %(default)s"
    )
    parser.add_argument(
        "--alike", type=float, default=0.0, metavar="X", help="a difference that does not matter"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Read and estimate.

    Raises:
        InputError, Refused: files or options that cannot be used.
        OSError: if a file cannot be opened.
    """
    if arguments.release is None and arguments.qrels is None:
        raise InputError("--qrels missing: labels of the pairs judged so far")
    files = read_files(arguments)
    asked = [name.strip() for name in arguments.measures.split(",") if name.strip()]
    depth = files.named.pool.depth
    if arguments.measures == ",".join(BOARD):  # what a shallow pool has of them
        asked = [name for name in asked if "@" not in name or int(name.split("@")[1]) <= depth]
    names = checked_measures([*asked, arguments.measure], depth)
    found = estimate(files.named.pool, files.labels, files.rounds, names)
    looks = Looks(arguments.alpha, arguments.looks)
    advice = stop_advice(found, files.labels, arguments.measure, looks, alike=arguments.alike)
    rows = list(_rows(found))
    return Report(
        title="A pool judged in part",
        text="\n".join(_text(found, advice)) + "\n",
        data={
            "judged": found.judged,
            "n_left_out": files.n_left_out,
            "n_queries": found.pool.n_queries,
            **unit_json(found.pool),
            "measures": [
                {"measure": m, "model": model, "value": v, "low": low, "high": high}
                for m, model, v, low, high in rows
            ],
            "stop": {**as_json(advice), "order_is_known": advice.order_is_known},
        },
        table=Table(("measure", "model", "value", "low", "high"), rows),
        notes=[WHAT_VARIES, *files.notes],
    )


def _rows(found: Estimates) -> Iterator[tuple[str, str, float, float, float]]:
    for one in found.measures:
        for model, value, ends in zip(
            found.pool.models, one.shown.tolist(), one.intervals(), strict=True
        ):
            yield one.name, model, value, ends.low, ends.high


def _text(found: Estimates, advice: StopAdvice) -> Iterator[str]:
    pool = found.pool
    yield f"Judged: {found.judged:.0%} of {pool.n_pairs:,} pairs, {pool.sample}"
    yield ""
    cells: list[tuple[str, ...]] = [("", *pool.models)]
    for one in found.measures:
        values = [TEXT.number(value) for value in one.shown.tolist()]
        cells.append((one.name, *values))
        cells.append(("", *(TEXT.interval(ends) for ends in one.intervals())))
    yield from table(cells)
    yield ""
    looks = advice.looks
    yield (
        f"To stop by {advice.measure}, {looks.planned} looks, any wrong claim with at most "
        f"{looks.alpha:g}:"
    )
    says: dict[str, str] = {"above": "is above", "alike": "is about like", "open": "may be above"}
    for pair in advice.neighbours:
        yield f"  {pair.upper} {says[pair.verdict]} {pair.lower} ({pair.difference:+.4f})"
    yield f"  widest interval: ± {TEXT.number(_widest(advice))}"
    yield f"  similar pairs of the pool found: at least {TEXT.share(advice.recall)}"


def _widest(advice: StopAdvice) -> float:
    return float(np.max(advice.widths))  # NaN where one model has no interval

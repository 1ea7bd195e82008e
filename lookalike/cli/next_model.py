"""`lookalike next-model`: which further model would bring most similar pairs for an hour."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from lookalike.cli.input_files import InputFiles
from lookalike.cli.inputs import PROPOSALS, file_option
from lookalike.cli.output import Report
from lookalike.cli.vote_options import add_vote_options
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.planning.designs import Costs
from lookalike.planning.next_model import Newcomer, builders_as_newcomers, next_models
from lookalike.planning.pool_files import named_pool, with_newcomers
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Say how many new similar pairs each model that has not built a pool would bring, and how many "
    "for an hour of judging. A run named like a model of the proposals has built the pool; the "
    "others are newcomers. Where newcomers list some of the queries alone, those are the sample."
)
EXAMPLE = (
    "lookalike next-model --proposals pool.csv --qrels labels.csv --run beit.csv --run clip.csv "
    "--run dino.csv --judges 3"
)
HEADER = ("model", "new_pairs", "expected_similar", "found", "per_hour")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    file_option(parser, "--proposals", PROPOSALS, required=True)
    file_option(
        parser, "--qrels", "labels of the pool: VSD JSON, TREC, CSV or parquet", required=True
    )
    file_option(
        parser, "--run", "whole lists of builders and newcomers; once per model",
        required=True, action="append",
    )  # fmt: skip
    parser.add_argument("--judges", type=int, default=3, help="of each pair; default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=Costs().seconds,
        help="of one judge for one pair; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--missing", choices=("error", "worst"), default="error",
        help="pairs without a score: refuse the run, or rank them below all others",
    )  # fmt: skip
    add_vote_options(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Say what each newcomer would bring.

    Raises:
        InputError, Refused: files or options that cannot be used.
        OSError: if a file cannot be opened.
    """
    if arguments.judges < 1:
        raise InputError(f"--judges {arguments.judges} is below 1")
    costs = Costs(seconds=arguments.seconds)
    files = InputFiles(arguments, "the proposals")
    proposals = files.proposals(arguments.proposals)
    runs = files.runs(arguments.run)
    newcomers = [run for run in runs if run.name not in proposals.generators]
    builders = [run.name for run in runs if run.name in proposals.generators]
    sampled = set(proposals.query_ids).intersection(*(run.query_ids for run in newcomers))
    named = named_pool(
        with_newcomers(proposals, newcomers, sampled), runs, missing=arguments.missing
    )
    labels = named.labels(files.labels(arguments.qrels))
    found = next_models(named.pool, labels, builders)
    checks = builders_as_newcomers(named.pool, labels, builders)
    rows = [
        (one.model, one.n_new, round(one.expected, 2), one.found,
         round(one.per_hour(costs.seconds, arguments.judges), 2))
        for one in (*found, *checks)
    ]  # fmt: skip
    return Report(
        title="The next best model",
        text="\n".join(_text(rows, found, checks)) + "\n",
        data={
            "n_queries": named.pool.n_queries,
            "depth": named.pool.depth,
            "newcomers": [dict(zip(HEADER, row, strict=True)) for row in rows[: len(found)]],
            "builders": [dict(zip(HEADER, row, strict=True)) for row in rows[len(found) :]],
        },
        table=Table(HEADER, rows),
        notes=[
            *files.notes,
            f"{len(sampled)} of {len(proposals.query_ids)} queries, {named.pool.depth} deep",
        ],
    )


def _text(
    rows: Sequence[tuple[str, int, float, float, float]],
    found: Sequence[Newcomer],
    checks: Sequence[Newcomer],
) -> Iterator[str]:
    head = ["", "new pairs", "similar, expected", "for an hour"]
    lines = [[name, f"{n:,}", f"{e:,.1f}", f"{h:,.1f}"] for name, n, e, _, h in rows[: len(found)]]
    yield from table([head, *lines])
    yield ""
    yield "Each builder of the pool, as if it were new, beside what its own pairs turned out to be:"
    head = ["", "own pairs", "similar, expected", "similar, found"]
    lines = [[one.model, f"{one.n_new:,}", f"{one.expected:,.1f}", TEXT.number(one.found)]
             for one in checks]  # fmt: skip
    yield from table([head, *lines])

"""A judged pool that a command reads: proposals, whole lists of its models, votes."""

from __future__ import annotations

import argparse

from lookalike.cli.input_files import InputFiles
from lookalike.cli.inputs import PROPOSALS, VOTES, file_option
from lookalike.cli.unit_option import file_unit
from lookalike.cli.vote_options import add_vote_options
from lookalike.core.arrays import Floats
from lookalike.planning.pool_files import NamedPool, named_pool
from lookalike.stats.units import QUERY


def add_judged_pool(parser: argparse.ArgumentParser) -> None:
    """Add the options that name its files."""
    file_option(parser, "--proposals", PROPOSALS, required=True)
    file_option(
        parser, "--run", "whole lists of models of the pool; once per model",
        required=True, action="append",
    )  # fmt: skip
    file_option(parser, "--votes", VOTES, required=True)
    add_vote_options(parser)


def read_judged_pool(
    arguments: argparse.Namespace, *, has_unit: bool = False
) -> tuple[NamedPool, Floats, list[str]]:
    """Return the pool, each judge's answers about each pair, and notes on the files.

    Answers are as `NamedPool.votes` gives them.

    Args:
        arguments: with the files.
        has_unit: whether --unit and --metadata say the unit of queries; else each query is one.

    Raises:
        InputError, Refused: files that cannot be used.
        OSError: if a file cannot be opened.
    """
    files = InputFiles(arguments, "the proposals")
    proposals = files.proposals(arguments.proposals)
    unit = file_unit(arguments, files.names) if has_unit else None
    runs = files.runs(arguments.run)
    if unit is not None:
        unit.refuse_strangers(proposals.query_ids, arguments.metadata)
    named = named_pool(
        proposals,
        runs,
        unit_of=unit.unit_of if unit else None,
        unit=unit.name if unit else QUERY,
    )
    votes = files.votes(arguments.votes)
    return named, named.votes(votes.rows, len(votes.annotators)), files.notes

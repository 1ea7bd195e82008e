"""A judged pool that a command reads: proposals, whole lists of its models, votes."""

from __future__ import annotations

import argparse

from lookalike.bias.evidence.files import read_proposals, read_votes
from lookalike.cli.inputs import PROPOSALS, VOTES, file_option
from lookalike.cli.unit_option import UnitChoice
from lookalike.core.arrays import Floats
from lookalike.io.runs import read_run
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


def read_judged_pool(
    arguments: argparse.Namespace, unit: UnitChoice | None = None
) -> tuple[NamedPool, Floats]:
    """Return the pool, and what each judge said of each pair, as `NamedPool.votes` does.

    Args:
        arguments: with the files.
        unit: of the queries; None: each query is one.

    Raises:
        InputError, Refused: files that cannot be used.
        OSError: if a file cannot be opened.
    """
    runs = [read_run(path) for path in arguments.run]
    proposals = read_proposals(arguments.proposals)
    if unit is not None:
        unit.refuse_strangers(proposals.query_ids, arguments.metadata)
    named = named_pool(
        proposals,
        runs,
        unit_of=unit.unit_of if unit else None,
        unit=unit.name if unit else QUERY,
    )
    votes = read_votes(arguments.votes)
    return named, named.votes(votes.rows, len(votes.annotators))

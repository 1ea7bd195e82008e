"""A judged pool that a command reads: proposals, whole lists of its models, votes."""

from __future__ import annotations

import argparse

from lookalike.bias.evidence.files import read_proposals, read_votes
from lookalike.cli.inputs import PROPOSALS, VOTES, file_option
from lookalike.core.arrays import Floats
from lookalike.io.runs import read_run
from lookalike.planning.pool_files import NamedPool, named_pool


def add_judged_pool(parser: argparse.ArgumentParser) -> None:
    """Add the options that name its files."""
    file_option(parser, "--proposals", PROPOSALS, required=True)
    file_option(
        parser, "--run", "whole lists of models of the pool; once per model",
        required=True, action="append",
    )  # fmt: skip
    file_option(parser, "--votes", VOTES, required=True)


def read_judged_pool(arguments: argparse.Namespace) -> tuple[NamedPool, Floats]:
    """Return the pool, and what each judge said of each pair, as `NamedPool.votes` does.

    Raises:
        InputError, Refused: files that cannot be used.
        OSError: if a file cannot be opened.
    """
    runs = [read_run(path) for path in arguments.run]
    named = named_pool(read_proposals(arguments.proposals), runs)
    votes = read_votes(arguments.votes)
    return named, named.votes(votes.rows, len(votes.annotators))

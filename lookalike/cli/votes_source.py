"""Votes that a command reads from a file or from a release: one of both."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

from lookalike.agreement.grades import Scale
from lookalike.agreement.votes import Votes, read_votes
from lookalike.cli.vote_options import add_vote_options, vote_options
from lookalike.io.errors import InputError
from lookalike.release.opened import open_release


@dataclass(frozen=True)
class GivenVotes:
    """The votes that a command was given.

    Attributes:
        votes: those that count.
        name: of the file or release, for titles.
        notes: what was left out, a sentence each.
        scale: of its grades; None where pairs are similar or different.
        tie: its rule for ties, "" of a file.
        n_ruled: labels that its rulings decide, whatever the votes.
    """

    votes: Votes
    name: str
    notes: list[str]
    scale: Scale | None = None
    tie: str = ""
    n_ruled: int = 0


def add_votes_source(parser: argparse.ArgumentParser, about_release: str) -> None:
    """Add VOTES, --release and the options of `lookalike.cli.vote_options`.

    Args:
        parser: of the command.
        about_release: help on what is read of a release.
    """
    parser.add_argument(
        "votes",
        type="input",
        nargs="?",
        metavar="VOTES",
        help="CSV or parquet with item,worker,label or query,candidate,annotator,value; a "
        "release's judgements; or JSON of Label Studio or FiftyOne",
    )
    parser.add_argument(
        "--release",
        type="input",
        metavar="RELEASE",
        help=f"folder or zip, in place of VOTES: its votes that count; {about_release}",
    )
    add_vote_options(parser)


def read_given_votes(
    arguments: argparse.Namespace, is_graded: Callable[[Scale | None], bool]
) -> GivenVotes:
    """Return the votes of VOTES or of --release.

    Args:
        arguments: with the options of `add_votes_source`.
        is_graded: whether to take the grades of a release with this scale.

    Raises:
        InputError: neither or both are given, or bad rows, all of them named.
    """
    if (arguments.votes is None) == (arguments.release is None):
        raise InputError("give either VOTES or --release")
    if arguments.release is None:
        options = vote_options(arguments)
        votes = read_votes(arguments.votes, options)
        return GivenVotes(votes, str(arguments.votes), options.notes)
    with open_release(arguments.release) as release:
        votes = release.votes(graded=is_graded(release.scale))
        pairs = [
            (query, image) for query, _, image in (item.partition(" ") for item in votes.items)
        ]
        return GivenVotes(
            replace(votes, pairs=pairs),
            str(arguments.release),
            list(release.caveats),
            scale=release.scale,
            tie=release.tie,
            n_ruled=release.table("rulings").num_rows,
        )

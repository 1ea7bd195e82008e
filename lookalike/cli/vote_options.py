"""Options of commands that read votes."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.io.errors import InputError
from lookalike.io.repeats import Repeats
from lookalike.io.vote_options import VoteOptions


def add_vote_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add --repeats, and --control, --config and --keys of Label Studio's JSON."""
    parser.add_argument(
        "--repeats",
        choices=[one.value for one in Repeats],
        help="where a worker answers one question twice: the answer that counts, or an error",
    )
    parser.add_argument(
        "--control",
        default="",
        metavar="NAME",
        help="of Label Studio's JSON: the control with the answers (default: the one that fits)",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="XML",
        help="of Label Studio: the labelling configuration, which says what the controls show",
    )
    parser.add_argument(
        "--keys",
        default="",
        metavar="ROLE=KEY,…",
        help="of Label Studio: keys of the tasks' data by role, such as query=image1",
    )


def vote_options(arguments: argparse.Namespace) -> VoteOptions:
    """Return how the options say that votes are read.

    Raises:
        InputError: --keys are no pairs.
    """
    pairs = [pair.partition("=") for pair in arguments.keys.split(",") if pair]
    if not all(role and key for role, _, key in pairs):
        raise InputError(f"--keys {arguments.keys}: write ROLE=KEY, such as query=image1")
    return VoteOptions(
        repeats=Repeats(arguments.repeats) if arguments.repeats else None,
        control=arguments.control,
        config=arguments.config,
        keys={role.strip(): key.strip() for role, _, key in pairs},
    )

"""The command line of conditional similarity: no Django, no database, no torch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lookalike.cli.command_line import run
from lookalike.cli.conditional import alignment, matrix, score_triplets, validate

COMMANDS = (validate, score_triplets, matrix, alignment)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return the exit status: 2 for bad input, else the command's."""
    parser = argparse.ArgumentParser(
        prog="python -m conditional", description="Check and score conditional similarity."
    )
    sub_commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(sub_commands)
    return run(parser, argv)

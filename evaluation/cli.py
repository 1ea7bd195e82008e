"""The command line of the pure half: no Django, no database, no torch."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from evaluation.commands import bias, negatives, score
from evaluation.errors import InputError

COMMANDS = (score, negatives, bias)
BAD_INPUT = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return the exit status: 0, or 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation", description="Score runs against labels."
    )
    sub_commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(sub_commands)
    arguments = parser.parse_args(argv)
    try:
        status: int = arguments.command(arguments)
    except (InputError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return BAD_INPUT
    return status

"""The command line of the pure half: no Django, no database, no torch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lookalike.cli import bias, negatives, score
from lookalike.cli.command_line import run

COMMANDS = (score, negatives, bias)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return the exit status: 0, or 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation", description="Score runs against labels."
    )
    sub_commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(sub_commands)
    return run(parser, argv)

"""What the command lines that need no Django share: sub-commands, errors, exit statuses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lookalike.io.errors import InputError

BAD_INPUT = 2


def run(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run the sub-command that was asked for, and return the exit status.

    Args:
        parser: each of its sub-commands has set `command`, from the arguments to a status.
        argv: without the program's name; None takes those of this process.

    Returns:
        What the command returns, or 2 where its input is bad, which stderr explains.
    """
    arguments = parser.parse_args(argv)
    try:
        status: int = arguments.command(arguments)
    except (InputError, OSError) as problem:
        sys.stderr.write(f"error: {problem}\n")
        return BAD_INPUT
    return status

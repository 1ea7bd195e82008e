"""`python -m annotation aggregate VOTES.csv`: labels and agreement from votes, without Django."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from lookalike.agreement.aggregate import RULES, TIES, AggregateError, aggregate
from lookalike.agreement.votes import read_truth, read_votes
from lookalike.io.numbered_rows import TableError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one JSON object on stdout; return 1 with the reason on stderr when it fails."""
    parser = argparse.ArgumentParser(prog="python -m annotation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("aggregate", help="one label per item from several votes")
    command.add_argument("votes", type=Path, help="CSV with the columns item,worker,label")
    command.add_argument("--truth", type=Path, help="CSV with the columns item,truth")
    command.add_argument("--rule", choices=RULES, default="majority")
    command.add_argument(
        "--tie",
        choices=TIES,
        default="negative",
        help="negative: a tie is the negative label; undecided: it has none; split: it has none "
        "and counts, in the accuracy, as a share of a right answer",
    )
    command.add_argument("--json", action="store_true", help="the default; JSON is all there is")
    options = parser.parse_args(arguments)
    try:
        truth = read_truth(options.truth) if options.truth else None
        votes = read_votes(options.votes)
        result = aggregate(votes, rule=options.rule, tie=options.tie, truth=truth)
    except (TableError, AggregateError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m releases`: check and compare releases without Django, database or network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lookalike.cli.command_line import run
from lookalike.release.diff import diff, difference_text
from lookalike.release.verify import Verdict, verify

DIFFERS = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command; return 0, 1 where something differs, or 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m releases", description="Check and compare frozen releases, offline."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("verify", help="recompute every hash and every number")
    one.add_argument("release", type=Path, help="folder or zip")
    one.add_argument("--json", action="store_true", help="print one JSON object")
    one.set_defaults(command=_verify)
    two = commands.add_parser("diff", help="what changed from one release to another")
    two.add_argument("before", type=Path, help="folder or zip")
    two.add_argument("after", type=Path, help="folder or zip")
    two.add_argument("--json", action="store_true", help="print one JSON object")
    two.set_defaults(command=_diff)
    return run(parser, argv)


def _verify(arguments: argparse.Namespace) -> int:
    verdict = verify(arguments.release)
    if arguments.json:
        found = {**asdict(verdict), "is_right": verdict.is_right}
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(verdict_text(verdict))
    return 0 if verdict.is_right else DIFFERS


def _diff(arguments: argparse.Namespace) -> int:
    found = diff(arguments.before, arguments.after)
    if arguments.json:
        sys.stdout.write(json.dumps(found.as_json(), ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(difference_text(found))
    return 0


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict for people."""
    lines = [str(finding) for finding in verdict.findings]
    name = f"{verdict.release} {verdict.version}".strip() or "The release"
    if verdict.is_right:
        lines.append(
            f"{name} is right: {verdict.n_files:,} files, every number computed again "
            f"(seal {verdict.seal[:16]})"
        )
    else:
        n = len(verdict.findings)
        lines.append(f"{name} is not what was frozen: {n:,} file{'' if n == 1 else 's'} differ")
        if not verdict.were_numbers_checked:
            lines.append("The numbers were not computed again, since files are damaged.")
    return "\n".join(lines) + "\n"

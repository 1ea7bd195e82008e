"""`lookalike verify`: check a release without Django, database or network."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lookalike.cli.output import WANTING, Report
from lookalike.io.documents import Table
from lookalike.release.signature import read_public_key
from lookalike.release.verify import Verdict, verify

DESCRIPTION = (
    "Recompute every hash and every number of a release, offline. The exit status is 0 if all is "
    "right, 1 if a file is not what was frozen, 2 if there is no release."
)
EXAMPLE = "lookalike verify shoes-1.0.0.zip --key museum.pub"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("release", type="input", metavar="RELEASE", help="folder or zip")
    parser.add_argument(
        "--key",
        metavar="PUB",
        help="public key (file of minisign, or its line RW…): the release must be signed by it",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Check the release.

    Raises:
        InputError: it is no release.
        OSError: it cannot be read.
    """
    key = read_public_key(arguments.key) if arguments.key else None
    verdict = verify(arguments.release, key=key)
    return Report(
        title=f"Check of {arguments.release}",
        text=verdict_text(verdict),
        data={**asdict(verdict), "is_right": verdict.is_right},
        table=Table(("file", "reason"), [(f.path, f.reason) for f in verdict.findings]),
        status=0 if verdict.is_right else WANTING,
        indent=None,
    )


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict for people."""
    lines = [str(finding) for finding in verdict.findings]
    name = f"{verdict.release} {verdict.version}".strip() or "The release"
    signed = f", signed by {verdict.signed_by}" if verdict.signed_by else ""
    if verdict.is_right:
        lines.append(
            f"{name} is right: {verdict.n_files:,} files, every number computed again "
            f"(seal {verdict.seal[:16]}{signed})"
        )
    elif all(finding.is_extra for finding in verdict.findings):
        n = len(verdict.findings)
        lines.append(
            f"{name} has {n:,} extra {'file' if n == 1 else 'files'}, which the manifest does not "
            f"list. All {verdict.n_files:,} listed files are right, and every number was computed "
            f"again (seal {verdict.seal[:16]}{signed}). Remove what is extra."
        )
    else:
        n = len(verdict.findings)
        lines.append(
            f"{name} is not what was frozen: {n:,} {'file differs' if n == 1 else 'files differ'}"
        )
        if not verdict.were_numbers_checked:
            lines.append("The numbers were not computed again, since files are damaged.")
    if n := len(verdict.left_by_systems):
        first = ", ".join(verdict.left_by_systems[:3])
        lines.append(
            f"Extra files left by a desktop or archive program, not part of the release: {n:,} "
            f"({first}{', …' if n > 3 else ''})."
        )
    return "\n".join(lines) + "\n"

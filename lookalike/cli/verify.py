"""`lookalike verify`: check a release without Django, database or network."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import fill

from lookalike.cli.output import WANTING, Report
from lookalike.io.documents import Table
from lookalike.release.signature import read_public_key
from lookalike.release.verify import NOT_BY_KEY, NOT_CHECKED, SIGNED, Verdict, verify

DESCRIPTION = (
    "Check a release offline: every hash, and every table, number, finding and document made again "
    "from the frozen votes, pairs and runs. The exit status is 0 if all is right, 1 if a file is "
    "not what was frozen, 2 if there is no release."
)
WIDTH = 100
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
    """Return a verdict for people: findings, then what was checked how, and who vouches."""
    summary = (fill(line, WIDTH) for line in _summary(verdict))
    return "\n".join([*map(str, verdict.findings), *summary]) + "\n"


def _summary(verdict: Verdict) -> Iterator[str]:
    name = f"{verdict.release} {verdict.version}".strip() or "The release"
    if verdict.is_right:
        yield f"{name} is right: {verdict.n_files:,} files (seal {verdict.seal[:16]})"
    elif all(finding.is_extra for finding in verdict.findings):
        n = len(verdict.findings)
        yield (
            f"{name} has {n:,} extra {'file' if n == 1 else 'files'}, which the manifest does not "
            f"list. All {verdict.n_files:,} listed files are right (seal {verdict.seal[:16]}). "
            "Remove what is extra."
        )
    else:
        n = len(verdict.findings)
        yield f"{name} is not what was frozen: {n:,} {'finding' if n == 1 else 'findings'}"
    if not verdict.were_numbers_checked:
        yield "Hashed only: nothing was computed again, since files are damaged or missing."
    elif verdict.computed:
        yield (
            f"Computed again and compared: {len(verdict.computed):,} files, from the others: "
            f"{_kinds(verdict.computed)}."
        )
        if not verdict.were_words_compared:
            yield (
                f"Of documents and findings the numbers were compared, not the words: schema "
                f"version {verdict.schema_version} was written by an earlier program."
            )
        yield (
            f"Hashed only, since nothing else gives them: {len(verdict.only_hashed):,} files: "
            f"{_kinds(verdict.only_hashed)}."
        )
    if n := len(verdict.left_by_systems):
        first = ", ".join(verdict.left_by_systems[:3])
        yield (
            f"Extra files left by a desktop or archive program, not part of the release: {n:,} "
            f"({first}{', …' if n > 3 else ''})."
        )
    yield _signature_words(verdict)


def _kinds(paths: Sequence[str]) -> str:
    """Return files in few words: those of one folder together."""
    counts = Counter(f"{path.split('/')[0]}/" if "/" in path else path for path in paths)
    named = [f"{name} ({n:,})" if name.endswith("/") else name for name, n in counts.items()]
    return ", ".join(sorted(named, key=str.lower))


def _signature_words(verdict: Verdict) -> str:
    if verdict.signature == SIGNED:
        return f"SIGNED by {verdict.signed_by}: the signature covers every file."
    if verdict.signature == NOT_CHECKED:
        return (
            "SIGNATURE NOT CHECKED: the release has one; give --key with the public key of the "
            "institution. Until then anybody may have changed and sealed it again."
        )
    if verdict.signature == NOT_BY_KEY:
        return "NOT SIGNED BY THE KEY: do not rely on this release."
    return (
        "UNSIGNED: who changes a file can seal the release again, so this check cannot tell "
        "who froze it. Compare the seal with one that you have from its authors."
    )

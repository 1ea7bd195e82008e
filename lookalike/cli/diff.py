"""`lookalike diff`: what changed from one release to another."""

from __future__ import annotations

import argparse

from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.release.diff import diff, difference_text

DESCRIPTION = "Compare the pairs, labels, judges, sets and scores of two releases, offline."
EXAMPLE = "lookalike diff shoes-1.0.0.zip shoes-1.1.0.zip"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("before", type="input", metavar="BEFORE", help="folder or zip")
    parser.add_argument("after", type="input", metavar="AFTER", help="folder or zip")


def run(arguments: argparse.Namespace) -> Report:
    """Compare the releases.

    Raises:
        InputError: one of them is no release.
        OSError: one of them cannot be read.
    """
    difference = diff(arguments.before, arguments.after)
    rows = [(s.model, s.measure, s.before, s.after, s.change) for s in difference.scores]
    return Report(
        title=f"{difference.before} → {difference.after}",
        text=difference_text(difference),
        data=difference.as_json(),
        table=Table(("model", "measure", "before", "after", "change"), rows),
        indent=None,
    )

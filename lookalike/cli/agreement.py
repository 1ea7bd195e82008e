"""`lookalike agreement VOTES.csv`: how much the workers behind votes agree."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lookalike.agreement.aggregate import grade_counts, measure_agreement
from lookalike.agreement.grades import ordinal_agreement
from lookalike.agreement.votes import read_votes
from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.release.opened import open_release
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Percent agreement, Krippendorff's alpha, Gwet's AC1 and Fleiss' kappa of votes, with the "
    "prevalence of each label, without which they mean little."
)
EXAMPLE = "lookalike agreement votes.csv --json"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "votes",
        type="input",
        nargs="?",
        metavar="VOTES",
        help="CSV or parquet with the columns item,worker,label, or a release's judgements",
    )
    parser.add_argument(
        "--release",
        type="input",
        metavar="RELEASE",
        help="folder or zip, in place of VOTES: its votes that count; with --ordinal its grades",
    )
    parser.add_argument(
        "--ordinal",
        action="store_true",
        help="the labels are grades, 0 to 99: also Krippendorff's ordinal alpha, and how often two "
        "grades differ by one at most; alpha without this is nominal",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Compute every coefficient.

    Raises:
        InputError: bad rows, all of them named.
    """
    if (arguments.votes is None) == (arguments.release is None):
        raise InputError("give either VOTES or --release")
    notes: list[str] = []
    if arguments.release is None:
        votes = read_votes(arguments.votes)
    else:
        with open_release(arguments.release) as release:
            votes, notes = release.votes(graded=arguments.ordinal), release.caveats
    figures = asdict(measure_agreement(votes))
    prevalence = dict(zip(votes.labels, figures.pop("prevalence"), strict=False))
    items = {"n_items": figures.pop("n_questions"), "n_workers": len(votes.workers), **figures}
    if arguments.ordinal:
        ordinal = ordinal_agreement(grade_counts(votes))
        items |= {"ordinal_alpha": ordinal.alpha, "within_one": ordinal.within_one}
    rows = [*items.items(), *((f"prevalence of {name}", p) for name, p in prevalence.items())]
    cells = [[name, f"{v:,}" if isinstance(v, int) else TEXT.number(v)] for name, v in rows]
    return Report(
        title=f"Agreement on {arguments.votes or arguments.release}",
        text="\n".join(table(cells)) + "\n",
        data=items | {"prevalence": prevalence},
        table=Table(("figure", "value"), rows),
        notes=notes,
    )

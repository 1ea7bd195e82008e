"""`lookalike agreement VOTES.csv`: how much the workers behind votes agree."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lookalike.agreement.aggregate import grade_counts, measure_agreement, vote_intervals
from lookalike.agreement.grades import ordinal_agreement
from lookalike.agreement.intervals import (
    LEVEL,
    WHAT_VARIES,
    CoefficientIntervals,
)
from lookalike.cli.output import Report
from lookalike.cli.votes_source import add_votes_source, read_given_votes
from lookalike.io.documents import Table
from lookalike.stats.proportion import Interval
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Percent agreement, Krippendorff's alpha, Gwet's AC1 and Fleiss' kappa of votes, with 95 % "
    "intervals over other items and over other items and judges, and the prevalence of each label, "
    "without which they mean little. In a release's judgements the pairs of one query belong "
    "together."
)
HEADER = (
    "figure", "value", "items_low", "items_high", "items_and_judges_low", "items_and_judges_high",
)  # fmt: skip
TEXT_HEADER = ["", "value", "over items", "over items and judges"]
EXAMPLE = "lookalike agreement votes.csv --json"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_votes_source(parser, "with --ordinal its grades")
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
    given = read_given_votes(arguments, lambda scale: arguments.ordinal)
    votes = given.votes
    figures = asdict(measure_agreement(votes))
    intervals = vote_intervals(votes, is_graded=arguments.ordinal)
    prevalence = dict(zip(votes.labels, figures.pop("prevalence"), strict=False))
    items = {"n_items": figures.pop("n_questions"), "n_workers": len(votes.workers), **figures}
    if arguments.ordinal:
        ordinal = ordinal_agreement(grade_counts(votes))
        items |= {"ordinal_alpha": ordinal.alpha, "within_one": ordinal.within_one}
    shown = {name: of for name, of in intervals.items() if name in items}
    values = [*items.items(), *((f"prevalence of {name}", p) for name, p in prevalence.items())]
    rows = [(name, value, *_ends(shown.get(name))) for name, value in values]
    return Report(
        title=f"Agreement on {given.name}",
        text="\n".join(table([TEXT_HEADER, *map(_cells, rows)])) + "\n",
        data=items | {
            "prevalence": prevalence, "level": LEVEL,
            "intervals": {name: of.as_json() for name, of in shown.items()},
        },
        table=Table(HEADER, rows),
        notes=[*given.notes, WHAT_VARIES, *_reasons(shown)],
    )  # fmt: skip


def _ends(of: CoefficientIntervals | None) -> tuple[float | None, ...]:
    if of is None:
        return (None,) * 4
    return (of.items.low, of.items.high, of.judges.low, of.judges.high)


def _cells(row: tuple[Any, ...]) -> list[str]:
    name, value, *ends = row
    shown = f"{value:,}" if isinstance(value, int) else TEXT.number(value)
    if ends[0] is None:
        return [name, shown, "", ""]
    pairs = (Interval(*ends[:2]), Interval(*ends[2:]))
    return [name, shown, *(TEXT.interval(of) if of.is_defined else "" for of in pairs)]


def _reasons(shown: Mapping[str, CoefficientIntervals]) -> list[str]:
    """Return why intervals are blank, each reason with its coefficients."""
    blank: dict[str, list[str]] = {}
    for name, of in shown.items():
        if of.items.reason:
            blank.setdefault(f"no interval: {of.items.reason}", []).append(name)
        elif of.judges.reason:
            blank.setdefault(f"no interval over judges: {of.judges.reason}", []).append(name)
    return [f"{', '.join(names)}: {reason}" for reason, names in blank.items()]

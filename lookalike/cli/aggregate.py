"""`lookalike aggregate VOTES.csv`: one label per item from several votes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from lookalike.agreement.aggregate import NEGATIVES, RULES, TIES, aggregate
from lookalike.agreement.grades import Scale
from lookalike.agreement.votes import read_truth
from lookalike.cli.output import Report
from lookalike.cli.votes_source import add_votes_source, read_given_votes
from lookalike.io.documents import Table
from lookalike.io.matched_names import MatchedNames

DESCRIPTION = "Give each item one label from its votes, with agreement, and accuracy against truth."
EXAMPLE = "lookalike aggregate votes.csv --rule dawid-skene --truth truth.csv"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_votes_source(parser, "an item is “query image”")
    parser.add_argument(
        "--truth", type="input", metavar="FILE", help="CSV with the columns item,truth"
    )
    parser.add_argument(
        "--rule",
        choices=RULES,
        help="median: of labels that are grades, the lower one of an even number (default: "
        "majority; median of a release whose pairs are graded)",
    )
    parser.add_argument(
        "--tie",
        choices=TIES,
        help="negative: a tie is the negative label; undecided: it has none, and no figure counts "
        "it; split: it has none and is scored as equal shares of its labels, in the accuracy and "
        "in each label's precision, recall and F1 (default: negative, or the release's own rule)",
    )
    parser.add_argument(
        "--negative",
        metavar="LABEL",
        help="the label that ties become, where none of two labels is one of "
        f"{', '.join(NEGATIVES)}",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Aggregate the votes; the text is the JSON, too.

    Raises:
        InputError: bad rows, all of them named, or votes that the rule cannot aggregate.
    """
    truth = read_truth(arguments.truth) if arguments.truth else None

    def rule(scale: Scale | None) -> str:
        return str(arguments.rule or ("median" if scale else "majority"))

    given = read_given_votes(arguments, lambda scale: rule(scale) == "median")
    votes, notes = given.votes, given.notes
    if given.n_ruled:
        notes.append(f"these are votes alone: rulings decide {given.n_ruled} labels of the release")
    if truth is not None:
        names = MatchedNames(votes.items, "the votes")
        truth = names.mapping(truth, str(arguments.truth))
        notes += names.notes
    result = aggregate(
        votes,
        rule=rule(given.scale),
        tie=arguments.tie or given.tie or "negative",
        negative=arguments.negative,
        truth=truth,
        similar_from=given.scale.similar_from if given.scale else None,
    )
    return Report(
        title=f"Labels of {given.name}",
        text=json.dumps(result, ensure_ascii=False, indent=1) + "\n",
        data=result,
        table=_table(result["labels"], votes.pairs, notes),
        notes=notes,
    )


def _table(
    labels: Mapping[str, str | None], pairs: list[tuple[str, str]] | None, notes: list[str]
) -> Table:
    """Return the labels as a table; of pairs it is a file of labels that every command reads."""
    if pairs is None:
        return Table(("item", "label"), list(labels.items()))
    rows = [
        (*pair, label)
        for pair, label in zip(pairs, labels.values(), strict=True)
        if label is not None
    ]
    if len(rows) < len(pairs):
        notes.append(f"{len(pairs) - len(rows):,} pairs have no label and are not in the table")
    return Table(("query", "candidate", "label"), rows)

"""`lookalike aggregate VOTES.csv`: one label per item from several votes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from lookalike.agreement.aggregate import NEGATIVES, RULES, TIES, aggregate
from lookalike.agreement.votes import read_truth, read_votes
from lookalike.cli.output import Report
from lookalike.cli.vote_options import add_vote_options, vote_options
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.matched_names import MatchedNames
from lookalike.release.opened import open_release

DESCRIPTION = "Give each item one label from its votes, with agreement, and accuracy against truth."
EXAMPLE = "lookalike aggregate votes.csv --rule dawid-skene --truth truth.csv"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "votes",
        type="input",
        nargs="?",
        metavar="VOTES",
        help="CSV or parquet with item,worker,label or query,candidate,annotator,value; a "
        "release's judgements; or Label Studio's JSON",
    )
    parser.add_argument(
        "--release",
        type="input",
        metavar="RELEASE",
        help="folder or zip, in place of VOTES: its votes that count; an item is “query image”",
    )
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
    add_vote_options(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Aggregate the votes; the text is the JSON, too.

    Raises:
        InputError: bad rows, all of them named, or votes that the rule cannot aggregate.
    """
    truth = read_truth(arguments.truth) if arguments.truth else None
    if (arguments.votes is None) == (arguments.release is None):
        raise InputError("give either VOTES or --release")
    tie, rule, similar_from = arguments.tie or "negative", arguments.rule or "majority", None
    options = vote_options(arguments)
    notes = options.notes
    if arguments.release is None:
        votes = read_votes(arguments.votes, options)
    else:
        with open_release(arguments.release) as release:
            rule = arguments.rule or ("median" if release.scale else "majority")
            votes, tie = release.votes(graded=rule == "median"), arguments.tie or release.tie
            similar_from = release.scale.similar_from if release.scale else None
            notes += release.caveats
            if n_ruled := release.table("rulings").num_rows:
                notes.append(
                    f"these are votes alone: rulings decide {n_ruled} labels of the release"
                )
    if truth is not None:
        names = MatchedNames(votes.items, "the votes")
        truth = names.mapping(truth, str(arguments.truth))
        notes += names.notes
    pairs = votes.pairs
    if arguments.release is not None:
        pairs = [
            (query, image) for query, _, image in (item.partition(" ") for item in votes.items)
        ]
    result = aggregate(
        votes,
        rule=rule,
        tie=tie,
        negative=arguments.negative,
        truth=truth,
        similar_from=similar_from,
    )
    return Report(
        title=f"Labels of {arguments.votes or arguments.release}",
        text=json.dumps(result, ensure_ascii=False, indent=1) + "\n",
        data=result,
        table=_table(result["labels"], pairs, notes),
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

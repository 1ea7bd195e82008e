"""`lookalike disagreement`: which kinds of pairs divide a panel, and what to write about them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from lookalike.agreement.disagreement import Group, disagreement_groups
from lookalike.bias.evidence.files import read_attribute, read_votes
from lookalike.cli.inputs import VOTES, file_option
from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.cli.vote_options import add_vote_options, vote_options
from lookalike.core.arrays import Bools, Float32s
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.named_images import vectors_by_name
from lookalike.io.vote_options import VoteOptions
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Group the pairs on which judges disagree by attributes of the images and by vectors, keep the "
    "groups that are contested more often than chance would have it, and say what the guidelines "
    "should tell about each."
)
EXAMPLE = "lookalike disagreement --votes votes.csv --attributes images.csv --attribute colour"
HEADER = ("pairs", "n_pairs", "n_contested", "elsewhere", "p_value", "guidelines")
SHOWN = 3
Pair = tuple[str, str]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    file_option(parser, "--votes", VOTES, required=True)
    file_option(parser, "--attributes", "CSV or parquet: path and one column per --attribute")
    parser.add_argument(
        "--attribute", action="append", default=[], metavar="NAME", help="column of --attributes"
    )
    add_vectors(parser)
    add_vote_options(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Group the contested pairs.

    Raises:
        InputError: files or options that cannot be used.
        OSError: if a file cannot be opened.
    """
    if bool(arguments.attributes) != bool(arguments.attribute):
        raise InputError("--attributes and --attribute go together")
    if not arguments.attribute and not arguments.vectors:
        raise InputError("pairs are grouped by --attribute or --vectors: name one")
    options = vote_options(arguments)
    pairs, is_contested = _pairs(arguments, options)
    values: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    for name in arguments.attribute:
        of_image = read_attribute(arguments.attributes, name)
        first, second = ([of_image.get(pair[side], "") for pair in pairs] for side in (0, 1))
        values[name] = (first, second)
    groups = disagreement_groups(is_contested, values, _vectors(arguments, pairs))
    rows = [
        (g.relation.words, g.n_pairs, g.n_contested, g.elsewhere, g.p_value, g.relation.passage)
        for g in groups
    ]
    n = int(is_contested.sum())
    return Report(
        title="Where judges disagree",
        text=f"{n:,} of {len(pairs):,} pairs are contested\n\n" + "\n".join(_text(groups, pairs)),
        data={
            "n_pairs": len(pairs),
            "n_contested": n,
            "groups": [
                {**dict(zip(HEADER, row, strict=True)),
                 "contested": [list(pairs[i]) for i in group.contested.tolist()]}
                for row, group in zip(rows, groups, strict=True)
            ],
        },
        table=Table(HEADER, rows),
        notes=options.notes,
    )  # fmt: skip


def _pairs(arguments: argparse.Namespace, options: VoteOptions) -> tuple[list[Pair], Bools]:
    """Return the pairs of two votes and more, and on which of them votes differ."""
    votes: dict[Pair, list[int]] = {}
    for query, candidate, _, value in read_votes(arguments.votes, options).rows:
        votes.setdefault((query, candidate), []).append(value)
    several = {pair: given for pair, given in votes.items() if len(given) > 1}
    if not several:
        raise InputError(f"{arguments.votes} has no pair of two votes")
    return list(several), np.array([len(set(given)) > 1 for given in several.values()])


def _vectors(
    arguments: argparse.Namespace, pairs: Sequence[Pair]
) -> tuple[Float32s, Float32s] | None:
    if not arguments.vectors:
        return None
    path, held = read_one(arguments)
    names = sorted({name for pair in pairs for name in pair})
    vectors = vectors_by_name(path, held, names)
    at = {name: row for row, name in enumerate(names)}
    first, second = (vectors[[at[pair[side]] for pair in pairs]] for side in (0, 1))
    return first, second


def _text(groups: Sequence[Group], pairs: Sequence[Pair]) -> Iterator[str]:
    if not groups:
        yield "No kind of pairs is contested more often than chance would have it.\n"
        return
    rows = [["", "pairs", "contested", "elsewhere"]]
    for one in groups:
        shares = [TEXT.share(one.share), TEXT.share(one.elsewhere)]
        rows.append([one.relation.words, f"{one.n_pairs:,}", *shares])
    yield from table(rows)
    yield ""
    for one in groups:
        yield f"{one.relation.words}: {one.relation.passage}"
        for i in one.contested[:SHOWN].tolist():
            yield f"  such as {pairs[i][0]} and {pairs[i][1]}"
    yield ""

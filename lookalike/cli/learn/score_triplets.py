"""`lookalike learn score-triplets`: notions as a candidate for the WS-CSL criterion."""

from __future__ import annotations

import argparse

import numpy as np

from lookalike.cli.described_vectors import add_described_vectors, described_vectors
from lookalike.cli.learn.inputs import add_reader, reader
from lookalike.cli.options import captions, comma_list, seed
from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.learning.conditions.notions_on_triplets import score_on_triplets
from lookalike.learning.notions.attribute_notions import DescribedImages, Scoring, attribute_tasks
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Draw triplets from attributes and say how well a notion for each attribute covers them "
    "(WS-CSL criterion, OT and greedy), with no triplet learnt, beside one embedding for all and "
    "heads learnt from triplets. Triplets are of images that the space did not learn from; heads "
    "learn from the others. Needs the extra `models`."
)
EXAMPLE = "lookalike learn score-triplets --vectors stages.npz --metadata metadata.csv --space space/ --columns colour,cut"  # noqa: E501


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_described_vectors(parser)
    add_reader(parser)
    parser.add_argument(
        "--columns", type=comma_list, required=True, metavar="NAMES", help="the conditions"
    )
    parser.add_argument(
        "--caption", type=captions, action="append", default=[], metavar="COLUMN=TEXT",
        help="what prompts of an attribute say, {} for its value; may be repeated",
    )  # fmt: skip
    parser.add_argument("--dim", type=int, default=16, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--triplets", type=int, default=2_000, metavar="N",
        help="asked of each attribute; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--learnt", type=int, default=20_000, metavar="N",
        help="that the heads learn from, of each attribute; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Score the notions on the triplets.

    Raises:
        InputError, Refused: files, columns or numbers that cannot be used.
    """
    if min(arguments.dim, arguments.triplets, arguments.learnt) < 1:
        raise InputError("--dim, --triplets and --learnt are at least 1")
    if arguments.seed < 0:
        raise InputError(f"--seed {arguments.seed} is below 0")
    described, read = described_vectors(arguments), reader(arguments)
    images = DescribedImages(
        described.vectors, described.rows, described.products, read.encoder, read.space
    )
    scoring = Scoring(columns=arguments.columns, captions=dict(arguments.caption))
    tasks, codes, asked = attribute_tasks(images, scoring)
    if asked.all():
        raise InputError("the heads need images to learn from: give --space of a learnt space")
    found = score_on_triplets(
        tasks, codes, np.logical_not(asked), dim=arguments.dim, n_triplets=arguments.triplets,
        n_learnt=arguments.learnt, seed=arguments.seed,
    )  # fmt: skip
    names = found[0].criterion.conditions
    header = ("candidate", "triplets learnt", *names, "OT", "greedy")
    rows = [
        [one.candidate, one.n_triplets, *one.criterion.alignment.by_condition.tolist(),
         one.criterion.alignment.ot, one.criterion.alignment.greedy]
        for one in found
    ]  # fmt: skip
    shown = [[name, f"{n:,}", *(TEXT.number(v, 3) for v in values)] for name, n, *values in rows]
    title = f"Notions on {arguments.triplets:,} triplets of each of {len(names)} attributes"
    return Report(
        title=title,
        text="\n".join([title, *table([header, *shown]), ""]),
        data={"candidates": [
            {"candidate": one.candidate, "n_triplets_learnt": one.n_triplets,
             **one.criterion.as_json()} for one in found
        ]},
        table=Table(header, rows),
    )  # fmt: skip

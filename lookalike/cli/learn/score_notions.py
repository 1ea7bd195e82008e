"""`lookalike learn score-notions`: the table of InDiReCT's paper for a catalog's attributes."""

from __future__ import annotations

import argparse

from lookalike.cli.described_vectors import add_described_vectors, described_vectors
from lookalike.cli.learn.inputs import add_reader, reader
from lookalike.cli.options import captions, comma_list, number_list, seed
from lookalike.cli.output import Report
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table
from lookalike.learning.notions.attribute_notions import (
    HEADER,
    DescribedImages,
    Scoring,
    score_attributes,
)
from lookalike.learning.notions.defaults import PUBLISHED_DIM
from lookalike.learning.notions.scoring import METHODS
from lookalike.stats.text_tables import table

DESCRIPTION = (
    "Fit a notion to the values of each attribute and say how well the nearest pictures share "
    "its value, by InDiReCT and every baseline of its paper: mean and population standard "
    "deviation over repetitions, in percent. With --space only images are asked that the space "
    "did not learn from. Needs the extra `models`."
)
EXAMPLE = "lookalike learn score-notions --vectors stages.npz --metadata metadata.csv --space space/ --columns colour,cut"  # noqa: E501


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_described_vectors(parser)
    add_reader(parser)
    parser.add_argument(
        "--columns", type=comma_list, default=[], metavar="NAMES", help="attributes; default: all"
    )
    parser.add_argument(
        "--caption", type=captions, action="append", default=[], metavar="COLUMN=TEXT",
        help="what prompts of an attribute say, {} for its value; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--methods", type=comma_list, default=[], metavar="NAMES",
        help=f"of {', '.join(METHODS)}; default: all",
    )  # fmt: skip
    parser.add_argument(
        "--dim", type=int, default=PUBLISHED_DIM, metavar="N",
        help="dimensions of a notion; default: the paper's %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--repetitions", type=int, default=5, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--sweep-dims",
        type=number_list,
        default=[],
        metavar="LIST",
        help="InDiReCT at these dims too",
    )
    parser.add_argument(
        "--sweep-prompts", type=number_list, default=[], metavar="LIST",
        help="InDiReCT with so many of the prompts too",
    )  # fmt: skip
    parser.add_argument(
        "--all-images", action="store_true", help="also those that the space has learnt from"
    )
    parser.add_argument(
        "--other-products", action="store_true",
        help="neighbours show other products: another view of the same one does not count",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> Report:
    """Score the notions.

    Raises:
        InputError, Refused: files, columns or numbers that cannot be used.
    """
    described, read = described_vectors(arguments), reader(arguments)
    images = DescribedImages(
        described.vectors, described.rows, described.products, read.encoder, read.space
    )
    scoring = Scoring(
        columns=arguments.columns, captions=dict(arguments.caption), methods=arguments.methods,
        dim=arguments.dim, n_repetitions=arguments.repetitions, seed=arguments.seed,
        dims=arguments.sweep_dims, counts=arguments.sweep_prompts,
        all_images=arguments.all_images, other_products=arguments.other_products,
    )  # fmt: skip
    found = score_attributes(images, scoring)
    title = f"Notions on {found.n_images:,} images"
    return Report(
        title=title,
        text="\n".join([title, *table([HEADER, *found.shown]), ""]),
        data={"n_images": found.n_images, "notions": as_json(found.rows)},
        table=Table(HEADER, found.shown),
    )

"""`lookalike learn combiner`: a network that joins an image and a condition in one query."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from lookalike.cli.learn.inputs import add_reader, reader
from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.io.documents import Table
from lookalike.io.named_images import rows_by_name
from lookalike.learning.captions.files import read_triplets
from lookalike.learning.compose.combiner import Widths
from lookalike.learning.compose.training import (
    CombinerLearner,
    CombinerTraining,
    ComposedTriplets,
    fit_combiner,
)
from lookalike.learning.engine.loop import alone_in
from lookalike.stats.text_tables import table

DESCRIPTION = (
    "Train a Combiner: from the vector of a reference and that of a condition, such as “on "
    "grass”, to what is looked for. Vectors of images and texts stay as they are and have to be "
    "in one space: that of learn text-space, or a CLIP-like model's. Triplets are those of learn "
    "mine-captions, or any with these columns. The same command goes on where it was stopped. "
    "Needs the extra `models`."
)
EXAMPLE = "lookalike learn combiner --vectors v.npz --triplets triplets.csv --space space/ --run run/ --to combiner.safetensors"  # noqa: E501
HEADER = ("images", "triplets", "conditions", "parameters", "steps")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_vectors(parser, had_argument=True)
    parser.add_argument(
        "--triplets", type="input", action="append", required=True, metavar="FILE",
        help="CSV with the columns reference, target and condition; may be repeated, for shards",
    )  # fmt: skip
    add_reader(parser)
    parser.add_argument("--text", default="{}", metavar="TEXT", help="what is read for a condition {}; default: %(default)s")  # noqa: E501  # fmt: skip
    parser.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help="where it is written"
    )
    parser.add_argument("--run", type=Path, metavar="FOLDER", help="for checkpoint and curve, to go on from")  # noqa: E501  # fmt: skip
    default, widths = CombinerTraining(), Widths(1)
    for name, value, what in (
        ("projection", widths.projection, "width of image and text before they meet"),
        ("hidden", widths.hidden, "width after that"),
        ("epochs", default.epochs, "how often each triplet is seen"),
        ("batch", default.batch, "triplets of a step"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"{what}; default: %(default)s")  # noqa: E501  # fmt: skip
    parser.add_argument("--rate", type=float, default=default.rate, metavar="X", help="of learning; default: %(default)s")  # noqa: E501  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Train, or go on.

    Raises:
        InputError, Refused: files, triplets or settings that cannot be used.
        OSError: a file cannot be written.
    """
    path, held = read_one(arguments)
    named = [triplet for file in arguments.triplets for triplet in read_triplets(file)]
    images_named = [image for one in named for image in one[:2]]
    row_of = rows_by_name(path, held, images_named)
    triplets = ComposedTriplets.of(named, row_of)
    reads = reader(arguments)
    images = reads.space.images.apply(held.vectors) if reads.space else held.vectors
    texts = reads.read([arguments.text.replace("{}", one) for one in triplets.conditions])
    widths = Widths(images.shape[1], arguments.projection, arguments.hidden)
    training = CombinerTraining(
        arguments.epochs, arguments.batch, arguments.rate, seed=arguments.seed
    )
    learner = CombinerLearner(images, texts, triplets, widths, training)
    card = {
        "reader": reads.fingerprint,
        "text": arguments.text,
        "n_triplets": len(named),
        "triplets_sha256": hashlib.sha256(repr(named).encode()).hexdigest(),
    }
    with alone_in(arguments.run):
        found = fit_combiner(learner, card, folder=arguments.run)
    found.save(arguments.to)
    n_parameters = sum(one.numel() for one in found.network.parameters())
    row = (len(images), len(named), len(texts), n_parameters, learner.n_steps)
    shown = tuple(f"{n:,}" for n in row)
    title = f"A Combiner of {len(named):,} triplets"
    return Report(
        title=title,
        text="\n".join([title, *table([HEADER, shown]), ""]),
        data={"combiner": str(arguments.to), "card": dict(found.card),
              **dict(zip(HEADER, row, strict=True))},
        table=Table(HEADER, [row]),
    )  # fmt: skip

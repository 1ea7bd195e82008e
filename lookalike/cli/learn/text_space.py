"""`lookalike learn text-space`: a text-image space from a catalog's own attributes."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.cli.described_vectors import add_described_vectors, described_vectors
from lookalike.cli.options import captions, comma_list, seed
from lookalike.cli.output import Report
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table
from lookalike.learning.engine.loop import alone_in
from lookalike.learning.held_out import usual_unit
from lookalike.learning.language.encoders import SENTENCE, load_encoder
from lookalike.learning.lit.captions import read_attributes
from lookalike.learning.lit.training import LitSettings, train_text_space
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Learn to find pictures by words where there is no CLIP: captions are made of a catalog's own "
    "attributes, and two small heads draw vectors of pictures and of captions together (LiT). A "
    "fifth of the products is held out; on them each attribute is guessed from its captions. The "
    "same command goes on where it was stopped. Needs the extra `models`."
)
EXAMPLE = "lookalike learn text-space --vectors stages.npz --metadata metadata.csv --space space/"
HEADER = ("attribute", "values", "held out", "zero-shot", "majority", "captioned")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_described_vectors(parser)
    parser.add_argument(
        "--space", type=Path, required=True, metavar="FOLDER", help="where it is written"
    )
    parser.add_argument(
        "--columns", type=comma_list, default=[], metavar="NAMES",
        help="attributes to make captions of; all with 2 to 200 values if it is not given",
    )  # fmt: skip
    parser.add_argument(
        "--caption", type=captions, action="append", default=[], metavar="COLUMN=TEXT",
        help="what captions of an attribute say, {} for its value; may be repeated",
    )  # fmt: skip
    parser.add_argument("--epochs", type=int, default=40, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Train, and score on what was held out.

    Raises:
        InputError, Refused: files, columns or captions that cannot be used.
        OSError: the space cannot be written.
    """
    described = described_vectors(arguments)
    attributes = read_attributes(described.rows, (), dict(arguments.caption))
    if arguments.columns:
        read_attributes(described.rows, arguments.columns)  # refuses those that are not there
    settings = LitSettings(epochs=arguments.epochs, seed=arguments.seed)
    with alone_in(arguments.space):
        found = train_text_space(
            described.vectors, attributes, described.products, load_encoder(SENTENCE),
            arguments.space, parent=described.sha256, captioned=arguments.columns,
            settings=settings,
        )  # fmt: skip
    rows = [
        (
            s.column,
            s.n_values,
            s.n_images,
            s.accuracy,
            s.majority,
            "yes" if s.was_captioned else "no",
        )
        for s in found.scores
    ]
    shown = [
        (name, str(values), str(n), TEXT.number(a, 3), TEXT.number(m, 3), said)
        for name, values, n, a, m, said in rows
    ]
    title = f"A text space of {found.n_seen:,} images, asked about {found.n_held_out:,} others"
    held_out = usual_unit(described.products)
    return Report(
        title=title,
        text="\n".join([title, f"held out: {held_out}", *table([HEADER, *shown]), ""]),
        data={
            "space": str(arguments.space),
            "fingerprint": found.space.images.fingerprint,
            "n_seen": found.n_seen,
            "n_held_out": found.n_held_out,
            "held_out": held_out,
            "attributes": as_json(found.scores),
        },
        table=Table(HEADER, rows),
    )

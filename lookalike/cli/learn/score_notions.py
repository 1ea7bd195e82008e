"""`lookalike learn score-notions`: the table of InDiReCT's paper for a catalog's attributes."""

from __future__ import annotations

import argparse

import numpy as np

from lookalike.cli.described_vectors import DescribedVectors, add_vectors, described_vectors
from lookalike.cli.learn.inputs import Reader, add_reader, captions, comma_list, reader
from lookalike.cli.output import Report
from lookalike.core.arrays import Bools
from lookalike.core.dataclass_json import as_json
from lookalike.core.progress import SILENT
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.learning.language.encoders import encode_prompts
from lookalike.learning.lit.captions import UNKNOWN, Attributes, read_attributes
from lookalike.learning.lit.training import held_out_groups
from lookalike.learning.notions.scoring import (
    MEASURES,
    METHODS,
    NotionScores,
    Task,
    score_notion,
    sweep_dims,
    sweep_prompts,
)
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Fit a notion to the values of each attribute and say how well the nearest pictures share "
    "its value, by InDiReCT and every baseline of its paper: mean and population standard "
    "deviation over repetitions, in percent. With --space only images are asked that the space "
    "did not learn from. Needs the extra `models`."
)
EXAMPLE = "lookalike learn score-notions stages.npz --metadata metadata.csv --space space/ --columns colour,cut"  # noqa: E501
HEADER = ("notion", "prompts", "method", "dim", *MEASURES)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_vectors(parser)
    add_reader(parser)
    parser.add_argument(
        "--columns", type=comma_list, default=[], metavar="NAMES", help="attributes; default: all"
    )
    parser.add_argument(
        "--caption", type=captions, action="append", default=[], metavar="COLUMN=TEXT",
        help="what prompts of an attribute say, {} for its value; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--methods", type=comma_list, default=list(METHODS), metavar="NAMES",
        help=f"of {', '.join(METHODS)}",
    )  # fmt: skip
    parser.add_argument("--dim", type=int, default=128, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--repetitions", type=int, default=5, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--sweep-dims", type=_numbers, default=[], metavar="LIST", help="InDiReCT at these dims too"
    )
    parser.add_argument(
        "--sweep-prompts", type=_numbers, default=[], metavar="LIST",
        help="InDiReCT with so many of the prompts too",
    )  # fmt: skip
    parser.add_argument(
        "--all-images", action="store_true", help="also those that the space has learnt from"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Score.

    Raises:
        InputError, Refused: files, columns or numbers that cannot be used.
    """
    if min([arguments.dim, *arguments.sweep_dims]) < 1:
        raise InputError("a notion needs at least one direction")
    described, read = described_vectors(arguments), reader(arguments)
    templates = dict(read.space.card["templates"]) if read.space else {}
    known = read_attributes(described.rows, arguments.columns).columns
    templates = {name: text for name, text in templates.items() if name in known}
    attributes = read_attributes(described.rows, known, templates | dict(arguments.caption))
    asked = _asked(described, read, arguments)
    found: list[NotionScores] = []
    for place in range(len(attributes.columns)):
        task = _task(described, attributes, place, read, asked)
        options = {"n_repetitions": arguments.repetitions, "seed": arguments.seed}
        found += score_notion(task, arguments.dim, methods=arguments.methods, progress=SILENT,
                              **options)  # fmt: skip
        found += sweep_dims(task, arguments.sweep_dims, **options)
        found += sweep_prompts(task, arguments.sweep_prompts, arguments.dim, **options)
    title = f"Notions on {int(asked.sum()):,} images"
    shown = [[*_named(row), *(_percent(row, m) for m in MEASURES)] for row in found]
    return Report(
        title=title,
        text="\n".join([title, *table([HEADER, *shown]), ""]),
        data={"n_images": int(asked.sum()), "notions": as_json(found)},
        table=Table(HEADER, shown),
    )


def _asked(described: DescribedVectors, read: Reader, arguments: argparse.Namespace) -> Bools:
    """Return which images are scored."""
    if read.space is None or arguments.all_images:
        return np.ones(len(described.ids), bool)
    return held_out_groups(described.products, int(read.space.card["seed"]))


def _task(
    described: DescribedVectors, attributes: Attributes, place: int, read: Reader, asked: Bools
) -> Task:
    rows = np.flatnonzero(asked & (attributes.codes[:, place] != UNKNOWN))
    images = described.vectors[rows]
    prompts = encode_prompts(read.encoder, attributes.texts(place))
    if read.space is not None:
        images, prompts = read.space.images.apply(images), read.space.texts.apply(prompts)
    return Task(attributes.columns[place], images, attributes.codes[rows, place], prompts)


def _named(row: NotionScores) -> list[str]:
    return [row.notion, str(row.n_prompts), row.method, str(row.dim)]


def _percent(row: NotionScores, measure: str) -> str:
    score = row.scores[measure]
    mean = TEXT.number(100 * score.mean, 1)
    spread = f"{100 * score.std:.1f}"
    return mean if spread == "0.0" else f"{mean} ± {spread}"


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in comma_list(text)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers") from None

"""`lookalike learn draw-conditions`: what each learnt condition looks at, as a picture."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from PIL import Image

from lookalike.cli.described_vectors import (
    DescribedVectors,
    add_described_vectors,
    described_vectors,
)
from lookalike.cli.options import comma_list, seed
from lookalike.cli.output import Report
from lookalike.core.atomic_files import write_atomically
from lookalike.images.decode import PictureError, read_rgb
from lookalike.io.errors import InputError
from lookalike.learning.conditions.pictures import (
    N_QUERIES,
    Panel,
    draw_panels,
    lay_out,
    match_maps,
    nearest_others,
)
from lookalike.learning.conditions.triplets import draw_conditions
from lookalike.learning.engine.determinism import stream
from lookalike.learning.lit.captions import read_attributes
from lookalike.learning.projection import Layers

DESCRIPTION = (
    "Draw what each condition of a run of `learn embedding` looks at: images in the plane (t-SNE), "
    "coloured by the attribute that the condition is matched with, and the nearest images of other "
    "products to some of them. Needs the extra `models`."
)
EXAMPLE = "lookalike learn draw-conditions --vectors stages.npz --metadata metadata.csv --columns colour,category --run own/ --images photos/ --to own.png"  # noqa: E501
PREFIX = "embedding-"
N_TRIPLETS = 1_000  # of each attribute, to match conditions with


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_described_vectors(parser)
    parser.add_argument(
        "--columns", type=comma_list, required=True, metavar="NAMES",
        help="attributes that conditions are matched with",
    )  # fmt: skip
    parser.add_argument(
        "--run", dest="folder", type=Path, required=True, metavar="FOLDER",
        help="of `learn embedding`, by a method with conditions",
    )  # fmt: skip
    parser.add_argument(
        "--images", type=Path, required=True, metavar="FOLDER", help="where the pictures lie"
    )
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="a .png")
    parser.add_argument(
        "--most", type=int, default=1_000, metavar="N",
        help="images in the plane; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Draw.

    Raises:
        InputError, Refused: files, columns or numbers that cannot be used.
        OSError: the picture cannot be written.
    """
    if arguments.to.suffix != ".png" or arguments.most < N_QUERIES:
        raise InputError(f"--to is a .png, --most at least {N_QUERIES}")
    files = sorted(arguments.folder.glob(f"{PREFIX}*.safetensors"))
    if not files:
        raise InputError(f"{arguments.folder} holds no condition that was learnt")
    known = described_vectors(arguments)
    attributes = read_attributes(known.rows, arguments.columns, {})
    names = [unquote(file.stem.removeprefix(PREFIX)) for file in files]
    mapped = [Layers.load(file).apply(known.vectors) for file in files]
    codes = {name: attributes.codes[:, n] for n, name in enumerate(attributes.columns)}
    everything = np.ones(len(known.ids), np.bool_)
    triplets = draw_conditions(codes, everything, N_TRIPLETS, seed=arguments.seed, purpose="drawn")
    matched = match_maps(mapped, triplets)
    shown = stream(arguments.seed, "shown").permutation(len(known.ids))[: arguments.most]
    panels = []
    for name, column, vectors in zip(names, matched, mapped, strict=True):
        place = attributes.columns.index(column)
        panels.append(Panel(
            f"{name}: {column}", lay_out(vectors[shown], arguments.seed),
            attributes.codes[shown, place], attributes.values[place],
            nearest_others(vectors, known.products, shown[:N_QUERIES]),
        ))  # fmt: skip
    sheet = draw_panels(panels, partial(_picture, known, arguments.images))
    write_atomically(arguments.to, partial(sheet.save, format="PNG"))
    lines = [f"{name}: {column}" for name, column in zip(names, matched, strict=True)]
    return Report(
        title="What each condition is drawn by", text="\n".join([*lines, ""]),
        data={"file": str(arguments.to), "conditions": dict(zip(names, matched, strict=True))},
    )  # fmt: skip


def _picture(known: DescribedVectors, folder: Path, row: int) -> Image.Image:
    try:
        return read_rgb((folder / known.ids[row]).read_bytes())
    except (OSError, PictureError) as problem:
        raise InputError(f"{known.ids[row]} cannot be shown: {problem}") from problem

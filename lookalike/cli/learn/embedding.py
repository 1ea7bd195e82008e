"""`lookalike learn embedding`: an embedding from classes or products, guided by words or not."""

from __future__ import annotations

import argparse
from pathlib import Path
from urllib.parse import quote

import numpy as np

from lookalike.cli.described_vectors import add_vectors, described_vectors
from lookalike.cli.learn.inputs import add_words, read_language
from lookalike.cli.options import comma_list, seed
from lookalike.cli.output import Report
from lookalike.core.arrays import Floats
from lookalike.core.atomic_files import write_atomically
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.vectors import read_vectors
from lookalike.learning.embeddings.learn import KnownImages, learn_embedding
from lookalike.learning.embeddings.recipe import METHODS, EmbeddingRecipe
from lookalike.learning.engine.loop import alone_in
from lookalike.learning.language.imagenet import as_probabilities
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Learn an embedding on fixed vectors from what images have in common: attributes, or their "
    "product. Pairs are compared (multisimilarity, margin, triplet, s2sd), guided by the classes' "
    "names or by what a classifier takes the pictures for, heads classify (fine-tuning), each "
    "attribute becomes a condition with a map of its own (CSN), or conditions are guessed from "
    "triplets (mixture, LSN, SCE-Net, DiscoverNet; single is the one embedding that they have to "
    "beat). A fifth of the products is held out. The same command goes on where it was stopped. "
    "Needs the extra `models`."
)
EXAMPLE = "lookalike learn embedding stages.npz --metadata metadata.csv --columns colour,category --words names --run own/"  # noqa: E501
FILE = "embedding.safetensors"
HEADER = ("label", "nearest is right, before", "after")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_vectors(parser)
    parser.add_argument(
        "--columns", type=comma_list, required=True, metavar="NAMES",
        help="attributes, or product: images that agree in all are of one class; fine-tuning "
        "classifies each, conditions draw triplets of each",
    )  # fmt: skip
    parser.add_argument("--method", choices=METHODS, default=METHODS[0])
    add_words(parser)
    parser.add_argument(
        "--classes", type="input", metavar="FILE",
        help="for pseudolabels: the same images' vectors by an @classes model",
    )  # fmt: skip
    for name, default in (("dim", 128), ("hidden", 512), ("epochs", 20)):
        parser.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help="default: %(default)s"
        )
    parser.add_argument(
        "--conditions", dest="n_conditions", type=int, default=0, metavar="N",
        help="maps of what guesses conditions; default: as many as columns",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--run", dest="folder", type=Path, required=True, metavar="FOLDER",
        help=f"for the checkpoint, the curve and {FILE}; a condition has a file of its own",
    )  # fmt: skip
    parser.add_argument("--mapped", type=Path, metavar="FILE", help=".npz for what becomes of them")


def run(arguments: argparse.Namespace) -> Report:
    """Learn, write, and score on what was held out.

    Raises:
        InputError, Refused: files, columns or settings that cannot be used.
        OSError: a file cannot be written.
    """
    recipe = EmbeddingRecipe(
        tuple(arguments.columns), arguments.method, arguments.words, arguments.weight,
        arguments.dim, arguments.hidden, arguments.epochs, arguments.seed, arguments.n_conditions,
    )  # fmt: skip
    known = described_vectors(arguments)
    with alone_in(arguments.folder):
        found = learn_embedding(
            KnownImages(known.vectors, known.rows, known.products, known.sha256), recipe,
            arguments.folder, language=read_language(arguments.language) if recipe.words else None,
            probabilities=_probabilities(arguments.classes, known.ids),
        )  # fmt: skip
        found.projection.save(arguments.folder / FILE)
        for name, head in found.heads.items():
            head.save(arguments.folder / f"embedding-{quote(name, safe='')}.safetensors")
    if arguments.mapped is not None:
        mapped = found.projection.apply(known.vectors)
        write_atomically(
            arguments.mapped, lambda file: np.savez(file, ids=np.array(known.ids), vectors=mapped)
        )
    rows = [(name, *values) for name, values in found.found.items()]
    shown = [
        (name, *("" if value is None else TEXT.number(value, 3) for value in values))
        for name, *values in rows
    ]
    title = f"An embedding of {len(found.seen):,} images, asked about {found.n_held_out:,} others"
    left_out = f"{found.n_small:,} classes of one image were left out"
    return Report(
        title=title,
        text="\n".join([title, *table([HEADER, *shown]), ""]),
        data={
            "file": str(arguments.folder / FILE), "fingerprint": found.projection.fingerprint,
            "dim": found.projection.dim, "card": dict(found.projection.card),
        },
        table=Table(HEADER, rows),
        notes=[left_out] if found.n_small else [],
    )  # fmt: skip


def _probabilities(path: str | None, ids: list[str]) -> Floats | None:
    if path is None:
        return None
    given = read_vectors(path)
    row_of = {name: row for row, name in enumerate(given.ids)}
    if absent := [name for name in ids if name not in row_of]:
        raise InputError(f"{path} has no vector of {absent[0]!r} ({len(absent):,} are missing)")
    return as_probabilities(np.asarray(given.vectors)[[row_of[name] for name in ids]])

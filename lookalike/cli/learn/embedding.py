"""`lookalike learn embedding`: an embedding from classes or products, guided by words or not."""

from __future__ import annotations

import argparse
from pathlib import Path
from urllib.parse import quote

import numpy as np

from lookalike.cli.described_vectors import add_described_vectors, described_vectors
from lookalike.cli.learn.embedding_options import add_recipe, recipe_values
from lookalike.cli.learn.inputs import add_words, read_language
from lookalike.cli.output import Report
from lookalike.core.arrays import Floats
from lookalike.core.atomic_files import write_atomically
from lookalike.io.documents import Table
from lookalike.io.named_images import vectors_by_name
from lookalike.io.vectors import read_vectors
from lookalike.learning.embeddings.learn import KnownImages, learn_embedding
from lookalike.learning.embeddings.recipe import EmbeddingRecipe
from lookalike.learning.engine.loop import alone_in
from lookalike.learning.language.imagenet import as_probabilities
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Learn an embedding on fixed vectors from what images have in common: attributes, or their "
    "product. Pairs are compared (multisimilarity, margin, triplet, s2sd), guided by the classes' "
    "names or by a classifier's labels, heads classify (fine-tuning), each attribute becomes a "
    "condition with a map of its own (CSN), or conditions are inferred from triplets (mixture, "
    "LSN, SCE-Net, DiscoverNet; single is the one embedding that they have to beat). A fifth of "
    "the products is held out, or of the classes or images (--hold-out); the report says how many "
    "of the classes asked about were learned from. The same command resumes a stopped run. Needs "
    "the extra `models`."
)
EXAMPLE = "lookalike learn embedding --vectors stages.npz --metadata metadata.csv --columns colour,category --words names --run own/"  # noqa: E501
FILE = "embedding.safetensors"
HEADER = ("label", "nearest is right, before", "after")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_described_vectors(parser)
    add_recipe(parser)
    add_words(parser)
    parser.add_argument(
        "--classes", type="input", metavar="FILE",
        help="for pseudolabels: the same images' vectors by an @classes model",
    )  # fmt: skip
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
    recipe = EmbeddingRecipe(**recipe_values(vars(arguments)))
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
    title = f"An embedding of {len(found.seen):,} images"
    left_out = f"{found.n_small:,} classes of one image were left out"
    return Report(
        title=title,
        text="\n".join([title, *found.held_out.words, *table([HEADER, *shown]), ""]),
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
    return as_probabilities(vectors_by_name(path, read_vectors(path), ids))

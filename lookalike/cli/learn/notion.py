"""`lookalike learn notion`: prompts as a projection of vectors."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lookalike.cli.described_vectors import described_images
from lookalike.cli.learn.inputs import add_reader, reader
from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.core.atomic_files import write_atomically
from lookalike.io.errors import InputError
from lookalike.learning.language.encoders import encode_notion
from lookalike.learning.lit.captions import default_template
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.notions.closed_forms import prompt_span
from lookalike.learning.notions.indirect import fit_indirect
from lookalike.learning.notions.prompts import (
    Prompts,
    prompts_from_list,
    prompts_from_values,
    prompts_from_words,
)
from lookalike.learning.projection import Layers

DESCRIPTION = (
    "Say in words what shall count as similar: prompts that differ in that alone. InDiReCT fits "
    "a projection that keeps the directions in which they differ; with --vectors it is applied "
    "at once. Needs the extra `models`."
)
TEMPLATE = "a photo of a {}"
EXAMPLE = 'lookalike learn notion --words colours.txt --template "a {} shoe" --space space/ --to n.safetensors'  # noqa: E501


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_reader(parser)
    prompts = parser.add_mutually_exclusive_group(required=True)
    prompts.add_argument("--prompts", type="input", metavar="FILE", help="one prompt a line")
    prompts.add_argument("--words", type="input", metavar="FILE", help="one word a line")
    prompts.add_argument("--column", metavar="NAME", help="an attribute: its values differ")
    parser.add_argument(
        "--metadata", type="input", metavar="FILE",
        help="CSV or JSON of images with the attribute of --column",
    )  # fmt: skip
    parser.add_argument(
        "--template", metavar="TEXT",
        help=f"what a word goes into; default: {TEMPLATE}, or a column's caption",
    )  # fmt: skip
    parser.add_argument(
        "--method", choices=("indirect", "span"), default="indirect",
        help="span: the orthonormal span of the prompts, without a descent",
    )  # fmt: skip
    parser.add_argument("--dim", type=int, default=16, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help=".safetensors to write"
    )
    add_vectors(parser, "vectors of pictures")
    parser.add_argument("--mapped", type=Path, metavar="FILE", help=".npz for what becomes of them")


def run(arguments: argparse.Namespace) -> Report:
    """Fit, and apply.

    Raises:
        InputError, Refused: prompts, vectors or a space that cannot be used.
        OSError: a file cannot be written.
    """
    for one, other in (("vectors", "mapped"), ("column", "metadata")):
        if bool(getattr(arguments, one)) != bool(getattr(arguments, other)):
            raise InputError(f"--{one} and --{other} belong together")
    if arguments.dim < 1:
        raise InputError(f"--dim {arguments.dim} is no number of directions")
    prompts = _prompts(arguments)
    projection, note = _fit(arguments, prompts)
    mapped = None
    if arguments.vectors:
        _, given = read_one(arguments)
        mapped = projection.apply(given.vectors)
    projection.save(arguments.to)
    if mapped is not None:
        write_atomically(
            arguments.mapped, lambda file: np.savez(file, ids=np.array(given.ids), vectors=mapped)
        )
    return Report(
        title=f"A notion of {len(prompts.texts):,} prompts",
        text=f"{arguments.to}: {projection.n_in:,} to {projection.dim:,} numbers from "
        f"{len(prompts.texts):,} prompts ({note})\n"
        + (f"{arguments.mapped}: {len(mapped):,} vectors\n" if mapped is not None else ""),
        data={
            "file": str(arguments.to),
            "fingerprint": projection.fingerprint,
            "dim": projection.dim,
            "card": dict(projection.card),
            "n_mapped": None if mapped is None else len(mapped),
        },
    )


def _prompts(arguments: argparse.Namespace) -> Prompts:
    """Return the sentences of a list, of words, or of an attribute's values."""
    if arguments.column is not None:
        template = arguments.template or _caption(arguments)
        return prompts_from_values(_values(Path(arguments.metadata), arguments.column), template)
    path = Path(arguments.prompts or arguments.words)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise InputError(f"{path} is not UTF-8") from problem
    if arguments.prompts:
        return prompts_from_list(lines)
    return prompts_from_words(lines, TEMPLATE if arguments.template is None else arguments.template)


def _caption(arguments: argparse.Namespace) -> str:
    """Return what a text space has read of an attribute, or would read."""
    card = TextSpace.load(arguments.space).card if arguments.space else {}
    said: Mapping[str, str] = card.get("templates", {})
    return said.get(arguments.column, default_template(arguments.column))


def _values(path: Path, column: str) -> list[str]:
    rows = [row.attributes for row in described_images(path).values()]
    if not any(column in row for row in rows):
        there_is = ", ".join(dict.fromkeys(name for row in rows for name in row)) or "none"
        raise InputError(f"no image of {path.name} has {column!r}; its attributes: {there_is}")
    return [row.get(column, "") for row in rows]


def _fit(arguments: argparse.Namespace, prompts: Prompts) -> tuple[Layers, str]:
    """Return the projection, and how it was reached."""
    read = reader(arguments)
    texts = encode_notion(read.encoder, prompts.texts)
    if read.space is not None:
        texts = read.space.texts.apply(texts)
    if arguments.method == "span":
        fitted, note = prompt_span(texts, arguments.dim), "no descent"
    else:
        fit = fit_indirect(texts, arguments.dim, seed=arguments.seed)
        fitted, note = fit.projection, f"{fit.last:,} iterations, mean angle {fit.loss:.4f}"
    card = {
        **fitted.card, "encoder": read.encoder.fingerprint,
        "prompts": list(prompts.texts), "prompts_sha256": prompts.sha256,
    }  # fmt: skip
    projection = Layers(fitted.n_in, fitted.layers, card, fitted.slope)
    if read.space is not None:
        projection = read.space.images.followed_by(projection)
    return projection, note

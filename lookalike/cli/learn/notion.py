"""`lookalike learn notion`: prompts as a projection of vectors."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from lookalike.cli.learn.inputs import add_reader, reader
from lookalike.cli.output import Report
from lookalike.core.atomic_files import write_atomically
from lookalike.io.errors import InputError
from lookalike.io.vectors import read_vectors
from lookalike.learning.language.encoders import encode_notion
from lookalike.learning.notions.closed_forms import prompt_span
from lookalike.learning.notions.indirect import fit_indirect
from lookalike.learning.notions.prompts import prompts_from_list, prompts_from_words
from lookalike.learning.projection import Layers

DESCRIPTION = (
    "Say in words what shall count as similar: prompts that differ in that alone. InDiReCT fits "
    "a projection that keeps the directions in which they differ; with --vectors it is applied "
    "at once. Needs the extra `models`."
)
EXAMPLE = 'lookalike learn notion --words colours.txt --template "a {} shoe" --space space/ --to n.safetensors'  # noqa: E501


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_reader(parser)
    prompts = parser.add_mutually_exclusive_group(required=True)
    prompts.add_argument("--prompts", type="input", metavar="FILE", help="one prompt a line")
    prompts.add_argument("--words", type="input", metavar="FILE", help="one word a line")
    parser.add_argument(
        "--template", default="a photo of a {}", metavar="TEXT",
        help="what a word goes into; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--method", choices=("indirect", "span"), default="indirect",
        help="span: the orthonormal span of the prompts, without a descent",
    )  # fmt: skip
    parser.add_argument("--dim", type=int, default=16, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help=".safetensors to write"
    )
    parser.add_argument("--vectors", type="input", metavar="FILE", help="vectors of pictures")
    parser.add_argument("--mapped", type=Path, metavar="FILE", help=".npz for what becomes of them")


def run(arguments: argparse.Namespace) -> Report:
    """Fit, and apply.

    Raises:
        InputError, Refused: prompts, vectors or a space that cannot be used.
        OSError: a file cannot be written.
    """
    if (arguments.vectors is None) != (arguments.mapped is None):
        raise InputError("--vectors and --mapped belong together")
    if arguments.dim < 1:
        raise InputError(f"--dim {arguments.dim} is no number of directions")
    path = Path(arguments.prompts or arguments.words)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise InputError(f"{path} is not UTF-8") from problem
    prompts = (
        prompts_from_list(lines)
        if arguments.prompts
        else prompts_from_words(lines, arguments.template)
    )
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
    mapped = None
    if arguments.vectors is not None:
        given = read_vectors(arguments.vectors)
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

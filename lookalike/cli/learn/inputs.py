"""What the sub-commands of `learn` read."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.backbones.errors import BackboneError
from lookalike.core.arrays import Float32s
from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.io.errors import InputError
from lookalike.io.vectors import read_vectors
from lookalike.learning.language.encoders import FORMS, TextEncoder, load_encoder
from lookalike.learning.lit.space import TextSpace


@dataclass(frozen=True)
class DescribedVectors:
    """Vectors of images and what a metadata file says of them.

    Attributes:
        ids: paths of the images.
        vectors: shape (n, d).
        rows: attributes of each.
        products: of each, "" where it is not known.
    """

    ids: list[str]
    vectors: Float32s
    rows: Sequence[Mapping[str, str]]
    products: list[str]

    @property
    def sha256(self) -> str:
        """Of names and numbers."""
        digest = hashlib.sha256("\n".join(self.ids).encode())
        digest.update(self.vectors.tobytes())
        return digest.hexdigest()


def add_vectors(parser: argparse.ArgumentParser) -> None:
    """Add what says which images, and what is known of them."""
    parser.add_argument(
        "vectors", type="input", metavar="VECTORS", help=".npz or .parquet, named by paths"
    )
    parser.add_argument(
        "--metadata", type="input", required=True, metavar="FILE",
        help="CSV with the columns path, product_id and attributes, or JSON",
    )  # fmt: skip


def add_reader(parser: argparse.ArgumentParser) -> None:
    """Add what reads prompts: an encoder, or a text space."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--encoder", metavar="SPEC", help=FORMS)
    group.add_argument("--space", type=Path, metavar="FOLDER", help="of learn text-space")


def described_vectors(arguments: argparse.Namespace) -> DescribedVectors:
    """Return the vectors and what is known of their images.

    Raises:
        InputError: a file cannot be used, or an image is not in the metadata.
    """
    table = read_vectors(arguments.vectors)
    path = Path(arguments.metadata)
    try:
        known = read_metadata(path.read_bytes(), path.name).rows
    except MetadataError as problem:
        raise InputError(str(problem)) from problem
    missing = [name for name in table.ids if name not in known]
    if missing:
        raise InputError(
            f"{path.name} has no row for {missing[0]!r} ({len(missing):,} are missing)"
        )
    rows = [known[name] for name in table.ids]
    return DescribedVectors(
        table.ids, table.vectors, [row.attributes for row in rows], [row.product_id for row in rows]
    )


@dataclass(frozen=True)
class Reader:
    """Turns texts into vectors where pictures are.

    Attributes:
        encoder: of texts.
        space: None where the encoder's pictures are there already.
    """

    encoder: TextEncoder
    space: TextSpace | None


def reader(arguments: argparse.Namespace) -> Reader:
    """Return what reads texts.

    Raises:
        InputError: the encoder cannot be loaded, or is not that of the space.
    """
    space = TextSpace.load(arguments.space) if arguments.space else None
    spec = str(space.card["encoder_spec"]) if space else arguments.encoder
    try:
        encoder = load_encoder(spec)
    except BackboneError as problem:
        raise InputError(str(problem)) from problem
    if space is not None and encoder.fingerprint != space.card["encoder"]:
        raise InputError(f"{arguments.space} was learnt with another {spec} than is installed")
    return Reader(encoder, space)

"""Vectors of images together with what a metadata file says of them."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.core.arrays import Float32s
from lookalike.images.metadata import MetadataError, Row, read_metadata
from lookalike.io.errors import InputError
from lookalike.io.image_names import ImageNames


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


def add_described_vectors(parser: argparse.ArgumentParser) -> None:
    """Add what says which images, and what is known of them."""
    add_vectors(parser, had_argument=True)
    parser.add_argument(
        "--metadata", type="input", required=True, metavar="FILE",
        help="CSV with the column path, a column for each attribute, maybe product_id; or JSON",
    )  # fmt: skip


def described_vectors(arguments: argparse.Namespace) -> DescribedVectors:
    """Return the vectors and what is known of their images.

    Raises:
        InputError: a file cannot be used, or an image is not in the metadata.
    """
    (source, table), path = read_one(arguments), Path(arguments.metadata)
    known = described_images(path)
    names = ImageNames(((name, name) for name in known), title=path.name)
    image_of, reason_of = names.find_all(dict.fromkeys(table.ids))
    for name, reason in reason_of.items():
        n_missing = f"({len(reason_of):,} are missing)"
        raise InputError(f"{path.name} has no row for {name!r} {n_missing}: {source}: {reason}")
    images = [image_of[name] for name in table.ids]
    rows = [known[image] for image in images]
    return DescribedVectors(
        images, table.vectors, [row.attributes for row in rows], [row.product_id for row in rows]
    )


def described_images(path: Path) -> Mapping[str, Row]:
    """Return what a metadata file says of each image, by its path.

    Raises:
        InputError: the file cannot be used.
    """
    try:
        return read_metadata(path.read_bytes(), path.name, with_products=False).rows
    except MetadataError as problem:
        raise InputError(str(problem)) from problem

"""Vectors of images together with what a metadata file says of them."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.core.arrays import Float32s
from lookalike.images.metadata import Metadata, MetadataError, Row, read_metadata
from lookalike.io.errors import InputError
from lookalike.io.image_names import ImageNames
from lookalike.io.values import Finding, ValueKind, refuse_findings


@dataclass(frozen=True)
class DescribedVectors:
    """Vectors of images and what a metadata file says of them.

    Attributes:
        ids: paths of the images.
        vectors: shape (n, d).
        rows: attributes of each.
        products: of each, "" where it is not known.
        findings: values of the metadata that look damaged.
        metadata: the file.
    """

    ids: list[str]
    vectors: Float32s
    rows: Sequence[Mapping[str, str]]
    products: list[str]
    findings: Sequence[Finding]
    metadata: Path

    def checked_notes(self, columns: Collection[str], *, with_products: bool) -> list[str]:
        """Return notes on repaired values of the columns that are used.

        Args:
            columns: names of attributes.
            with_products: products are used, too.

        Raises:
            FormatError: a spreadsheet or data frame merged or split values of these columns.
        """
        used = [
            one
            for one in self.findings
            if one.column in columns or (with_products and one.kind is ValueKind.PRODUCT)
        ]
        refuse_findings(self.metadata, used, unit="row")
        return [f"{self.metadata.name}: {one.message()}" for one in used]

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
    metadata = _metadata(path)
    known = metadata.rows
    names = ImageNames(((name, name) for name in known), title=path.name)
    image_of, reason_of = names.find_all(dict.fromkeys(table.ids))
    for name, reason in reason_of.items():
        n_missing = f"({len(reason_of):,} are missing)"
        raise InputError(f"{path.name} has no row for {name!r} {n_missing}: {source}: {reason}")
    images = [image_of[name] for name in table.ids]
    rows = [known[image] for image in images]
    return DescribedVectors(
        images,
        table.vectors,
        [row.attributes for row in rows],
        [row.product_id for row in rows],
        metadata.findings,
        path,
    )


def described_images(path: Path) -> Mapping[str, Row]:
    """Return what a metadata file says of each image, by its path.

    Raises:
        InputError: the file cannot be used.
    """
    return _metadata(path).rows


def _metadata(path: Path) -> Metadata:
    """Return what a metadata file says.

    Raises:
        InputError: the file cannot be used.
    """
    try:
        return read_metadata(path.read_bytes(), path.name, with_products=False)
    except MetadataError as problem:
        raise InputError(str(problem)) from problem

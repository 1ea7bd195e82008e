"""The layout that MTEB reads: corpus and queries beside the table qrels.

Where the release gives its images away they are in the tables, as `datasets` keeps pictures.
Derived like every other table, only that `verify` compares pictures with their SHA-256.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lookalike.core.products import query_product
from lookalike.io.parquet import n_values
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import MTEB_PATHS
from lookalike.release.format.tables import TableWriter, column_values

FIRST_WITH_MTEB = 4  # schema version
_BLOCK = 256  # pictures in memory at a time
_TEXTS = ("id", "modality", "product_id")


def has_mteb(info: Mapping[str, Any]) -> bool:
    """Whether the release whose release.json is given has these tables."""
    return bool(info.get("schema_version", 1) >= FIRST_WITH_MTEB)


def write_mteb(release: Folder) -> None:
    """Write both tables; without the pictures where the folder does not hold them."""
    for path, ids in mteb_rows(release).items():
        if path == MTEB_PATHS[1]:
            products = [query_product(release.products, query) for query in ids]
        else:
            products = [(release.products or {}).get(image, "") for image in ids]
        _write(release, release.path / path, dict(zip(ids, products, strict=True)))


def mteb_rows(release: Folder) -> dict[str, list[str]]:
    """Return the images of each table in their order.

    The corpus is what models rank; the queries are those with a similar image, or one with a
    grade above 0, since nDCG of the others is not defined.
    """
    candidates = [
        image for image, ranked in release.rows("images", "image_id", "is_candidate") if ranked
    ]
    qrels = release.table("qrels")
    similar = qrels.filter(pc.greater(qrels["score"], 0))
    queries = sorted(set(column_values(similar["query-id"])))
    return dict(zip(MTEB_PATHS, (candidates, queries), strict=True))


def _schema(*, with_images: bool) -> pa.Schema:
    fields = [(name, pa.string()) for name in _TEXTS]
    features: dict[str, Any] = {name: {"dtype": "string", "_type": "Value"} for name in _TEXTS}
    if with_images:
        fields.append(("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])))
        features["image"] = {"_type": "Image"}
    about = json.dumps({"info": {"features": features}})
    return pa.schema(fields, metadata={"huggingface": about})


def _write(release: Folder, path: Path, product_of: dict[str, str]) -> None:
    """Write the images whose products are given, in their order."""
    file_of = dict(release.rows("images", "image_id", "file"))
    ids = list(product_of)
    with_images = holds_images(release) and (release.path / "images").is_dir()
    with TableWriter(path, _schema(with_images=with_images)) as writer:
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            pictures = (
                [
                    {"bytes": (release.path / file_of[image]).read_bytes(), "path": file_of[image]}
                    for image in block
                ]
                if with_images
                else []
            )
            writer.add(
                {
                    "id": block,
                    "modality": ["image"] * len(block),
                    "product_id": [product_of[image] for image in block],
                    "image": pictures,
                }
            )


def holds_images(release: Folder) -> bool:
    """Whether a release gives its images away."""
    return bool(release.info["licence"]["with_images"])


def mteb_differs(release: Folder, path: Path) -> str:
    """Return which picture of a table is not the image that the release names, "" if none."""
    with pq.ParquetFile(path) as file:
        if file.schema_arrow != _schema(with_images=holds_images(release)):
            return "has other columns than the data give"
        if not holds_images(release):
            return ""
        n_values(path, file.metadata, ["image"])
        file_of = dict(release.rows("images", "image_id", "file"))
        hash_of = release.image_sha256
        for image, picture in _pictures(file):
            expected = hash_of.get(file_of.get(image, ""))
            if picture is None or sha256(picture).hexdigest() != expected:
                return f"holds another picture for {image} than the release does"
    return ""


def _pictures(file: pq.ParquetFile) -> Iterator[tuple[str, bytes | None]]:
    for batch in file.iter_batches(batch_size=_BLOCK, columns=["id", "image"]):
        contents = pc.struct_field(batch.column("image"), "bytes").to_pylist()
        yield from zip(batch.column("id").to_pylist(), contents, strict=True)

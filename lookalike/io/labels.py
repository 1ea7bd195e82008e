"""Read labels and product ids, whichever of the known formats they are in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.io.column_table import ColumnTable, column_names
from lookalike.io.csv_text import csv_lines, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import plain_name
from lookalike.io.json_text import read_json
from lookalike.io.label_studio import label_studio_rows
from lookalike.io.label_studio_tasks import is_label_studio
from lookalike.io.line_formats import LABEL_COLUMNS, csv_rows, jsonl_rows, trec_qrels_rows
from lookalike.io.named_images import NameOf
from lookalike.io.parquet import n_values, parquet_rows, values_of
from lookalike.io.runs import sniff
from lookalike.io.tables import Qrels, Row, labels_from
from lookalike.io.vote_options import VoteOptions
from lookalike.io.vsd import annotation_rows, vsd_products

IMAGE_NAMES = ("path", "image_id")


def read_qrels(
    path: str | Path,
    *,
    min_rel: int | None = None,
    options: VoteOptions | None = None,
    name_of: NameOf = plain_name,
) -> Qrels:
    """Return the labels in a file of VSD or Label Studio JSON, TREC qrels, CSV, JSONL or parquet.

    The format is told by the content. A pair that occurs twice with the same label counts once.

    Args:
        path: the file.
        min_rel: for graded labels: from this grade on a pair is positive, below it negative; a
            negative grade marks a pair of the pool that was not judged, as in trec_eval. nDCG
            takes the grades as gains.
        options: how to read the votes of Label Studio; receives notes on what is left out.
        name_of: the name of an image from its address in Label Studio.

    Raises:
        FormatError: a malformed line, a label outside {0, 1}, conflicting labels, no pairs.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    kind = sniff(path)
    rows: Iterator[Row]
    if kind == "parquet":
        return labels_from(path, parquet_rows(path, LABEL_COLUMNS), unit="row", min_rel=min_rel)
    if kind == "json":
        file = read_json(path)
        rows = (
            label_studio_rows(file, options, name_of)
            if is_label_studio(file)
            else annotation_rows(file)
        )
    elif kind == "jsonl":
        rows = jsonl_rows(path, LABEL_COLUMNS)
    elif kind == "csv":
        rows = csv_rows(path, LABEL_COLUMNS)
    else:
        rows = trec_qrels_rows(path)
    return labels_from(path, rows, min_rel=min_rel)


def read_negatives(path: str | Path) -> list[tuple[str, str]]:
    """Return the pairs in a file of random negatives: labels that are all 0, or pairs alone.

    A release has them as pairs, a CSV or parquet file with query_id and image_id.

    Raises:
        FormatError: as `read_qrels`, or a label that is 1.
        OSError: if the file cannot be opened.
    """
    names = column_names(path)
    if "label" not in names and {"query_id", "image_id"} <= set(names):
        return [(q, c) for _, (q, c) in ColumnTable(path, ("query_id", "image_id"))]
    found = read_qrels(path)
    if found.labels.any():
        raise FormatError(path, None, "random negatives are labels that are all 0; one is 1")
    return [(query, candidate) for query, candidate, _ in found]


def read_products(path: str | Path) -> dict[str, str]:
    """Return {image: product id} from VSD metadata JSON, or a CSV or parquet file.

    These name the columns product_id, and path or image_id or both; with both, as in the images
    of a release, an image is known by either. An image without a product has the empty string.

    Raises:
        FormatError: a malformed line, a missing column, an empty name, or an image with two
            products.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    kind = sniff(path)
    if kind == "json":
        return vsd_products(path)
    unit = "row" if kind == "parquet" else "line"
    lines = _parquet_lines(path) if kind == "parquet" else csv_lines(path)
    _, header = next(lines, (1, []))
    names = [name for name in IMAGE_NAMES if header.count(name) == 1]
    if not names or header.count("product_id") != 1:
        reason = f"the columns are {','.join(header)!r}; needed: product_id, and path or image_id"
        raise FormatError(path, 1, reason)
    products: dict[str, str] = {}
    for line, cells in lines:
        if len(cells) != len(header):
            reason = f"{len(cells)} cells where the header names {len(header)}"
            raise FormatError(path, line, reason, unit=unit)
        product = unprotected(cells[header.index("product_id")])
        for name in names:
            image = unprotected(cells[header.index(name)])
            if not image:
                raise FormatError(path, line, f"the {name} is empty", unit=unit)
            if products.setdefault(image, product) != product:
                reason = f"{image!r} has product {product!r} here and {products[image]!r} before"
                raise FormatError(path, line, reason, unit=unit)
    return products


def _parquet_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows, of the columns that name images and products alone."""
    try:
        with pq.ParquetFile(path) as file:
            stated = file.schema_arrow.names
            header = [name for name in (*IMAGE_NAMES, "product_id") if name in stated]
            yield 0, header or stated
            n_values(path, file.metadata, header)
            columns = [values_of(column) for column in file.read(columns=header).columns]
    except pa.ArrowException as error:
        raise FormatError(path, None, f"not readable as parquet: {error}") from error
    for row, cells in enumerate(zip(*columns, strict=True), 1):
        yield row, ["" if cell is None else str(cell) for cell in cells]

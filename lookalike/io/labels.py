"""Read labels and product ids, whichever of the known formats they are in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lookalike.io.csv_text import csv_lines, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.line_formats import LABEL_COLUMNS, csv_rows, trec_qrels_rows
from lookalike.io.parquet import parquet_rows
from lookalike.io.runs import sniff
from lookalike.io.tables import Qrels, Row, labels_from
from lookalike.io.vsd import vsd_products, vsd_rows


def read_qrels(path: str | Path, *, min_rel: int | None = None) -> Qrels:
    """Return the labels in a VSD JSON, TREC qrels, CSV or parquet file, told by its content.

    A pair that occurs twice with the same label counts once.

    Args:
        path: the file.
        min_rel: for graded labels: from this grade on a pair is positive, below it negative; a
            negative grade is no judgement, as in trec_eval. nDCG takes the grades as gains.

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
        rows = vsd_rows(path)
    elif kind == "csv":
        rows = csv_rows(path, LABEL_COLUMNS)
    else:
        rows = trec_qrels_rows(path)
    return labels_from(path, rows, min_rel=min_rel)


def read_products(path: str | Path) -> dict[str, str]:
    """Return {image path: product id} from VSD metadata JSON or a CSV with path and product_id.

    An image without a product has the empty string.

    Raises:
        FormatError: a malformed line, a missing column, an empty path, or a path with two
            products.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    if sniff(path) == "json":
        return vsd_products(path)
    lines = csv_lines(path)
    _, header = next(lines, (1, []))
    if header.count("path") != 1 or header.count("product_id") != 1:
        raise FormatError(path, 1, "the header must name the columns path and product_id")
    image_at, product_at = header.index("path"), header.index("product_id")
    products: dict[str, str] = {}
    for line, cells in lines:
        if len(cells) != len(header):
            reason = f"{len(cells)} cells where the header names {len(header)}"
            raise FormatError(path, line, reason)
        image, product = unprotected(cells[image_at]), unprotected(cells[product_at])
        if not image:
            raise FormatError(path, line, "the path is empty")
        if products.setdefault(image, product) != product:
            reason = f"{image!r} has product {product!r} here and {products[image]!r} before"
            raise FormatError(path, line, reason)
    return products

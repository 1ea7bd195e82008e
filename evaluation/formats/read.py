"""Read labels, runs, pair lists and product ids, whichever of the known formats they are in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from catalog.formats.errors import FormatError
from catalog.formats.text import csv_lines, not_utf8, unprotected
from evaluation.formats.parquet import MAGIC, parquet_rows
from evaluation.formats.tables import Qrels, Row, Run, labels_from, scores_from
from evaluation.formats.text import (
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    csv_rows,
    trec_qrels_rows,
    trec_run_name,
    trec_run_rows,
)
from evaluation.formats.vsd import vsd_products, vsd_rows

Format = Literal["parquet", "json", "csv", "trec"]


def read_qrels(path: str | Path) -> Qrels:
    """Return the labels in a VSD JSON, TREC qrels, CSV or parquet file, told by its content.

    A pair that occurs twice with the same label counts once.

    Raises:
        FormatError: a malformed line, a label outside {0, 1}, conflicting labels, no pairs.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    kind = sniff(path)
    rows: Iterator[Row]
    if kind == "parquet":
        return labels_from(path, parquet_rows(path, LABEL_COLUMNS), unit="row")
    if kind == "json":
        rows = vsd_rows(path)
    elif kind == "csv":
        rows = csv_rows(path, LABEL_COLUMNS)
    else:
        rows = trec_qrels_rows(path)
    return labels_from(path, rows)


def read_run(path: str | Path) -> Run:
    """Return the scores in a TREC run, CSV or parquet file, told by its content.

    The name is the file's stem, or the name that a TREC run carries.

    Raises:
        FormatError: a malformed line, a score that is no finite number, a repeated pair, no
            pairs, or a JSON file.
        OSError: if the file cannot be opened.
    """
    rows, name, unit = run_rows(path)
    return scores_from(path, name, rows, unit=unit)


def run_rows(path: str | Path) -> tuple[Iterator[Row], str, str]:
    """Return the rows of a run as they stand in its file, its name, and what a row is called.

    Raises:
        FormatError: as `read_run`, for the rows only once they are read.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    kind = sniff(path)
    if kind == "parquet":
        return parquet_rows(path, SCORE_COLUMNS), path.stem, "row"
    if kind == "json":
        raise FormatError(path, 1, "a run is a TREC run, CSV or parquet file, not JSON")
    if kind == "csv":
        return csv_rows(path, SCORE_COLUMNS), path.stem, "line"
    return trec_run_rows(path), trec_run_name(path), "line"


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


def sniff(path: Path) -> Format:
    """Tell a file's format by its first bytes and first line.

    Raises:
        FormatError: if the file is empty or its first line is not UTF-8.
        OSError: if the file cannot be opened.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            return "parquet"
        file.seek(0)
        first = next((line for line in file if line.strip(b" \t\r\n\xef\xbb\xbf")), b"")
    try:
        text = first.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    if not text:
        raise FormatError(path, 1, "the file is empty")
    if text[0] in "[{":
        return "json"
    if path.suffix == ".csv" or len(text.split()) == 1 or "," in text.split()[0]:
        return "csv"
    return "trec"

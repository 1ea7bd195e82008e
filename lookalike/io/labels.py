"""Read labels and product ids, whichever of the known formats they are in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.io.answer_files import answers_in
from lookalike.io.column_table import ColumnTable, column_names
from lookalike.io.csv_text import csv_lines, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.json_text import JsonText, read_json
from lookalike.io.line_formats import csv_rows, jsonl_rows, trec_qrels_rows
from lookalike.io.named_images import NameOf
from lookalike.io.pair_answers import label_rows
from lookalike.io.pair_columns import is_header
from lookalike.io.pair_objects import nested_pairs
from lookalike.io.parquet import n_values, parquet_rows, values_of
from lookalike.io.repaired_ids import RepairedIds
from lookalike.io.runs import record_rows, sniff
from lookalike.io.tables import Qrels, Row, labels_from
from lookalike.io.values import Code, ValueColumn, ValueKind, refuse_damage
from lookalike.io.vote_options import VoteOptions
from lookalike.io.vsd import annotation_rows, vsd_values

IMAGE_NAMES = ("path", "image_id")
PRODUCT_COLUMN = "product_id"
VSD_KEYS = frozenset({"key", "gallery"})
QRELS_ENDINGS = frozenset({".tsv", ".csv", ".txt", ".jsonl", ".json", ".parquet"})
QRELS_FOLDERS = frozenset({"qrels", "default"})


def read_qrels(
    path: str | Path,
    *,
    min_rel: int | None = None,
    options: VoteOptions | None = None,
    name_of: NameOf | None = None,
) -> Qrels:
    """Return the labels in a file of VSD, Label Studio or nested JSON, TREC, CSV, JSONL or parquet.

    The format is told by the content. Labels are 0 and 1, true and false, yes and no, similar and
    different. The folder of a data set for retrieval is read by its file of qrels. A pair that
    occurs twice with the same label counts once.

    Ids that differ only in spaces at their ends or in `.0` are one id.

    Args:
        path: the file.
        min_rel: for graded labels: from this grade on a pair is positive, below it negative; a
            negative grade marks a pair of the pool that was not judged, as in trec_eval. nDCG
            takes the grades as gains.
        options: how to read the votes of Label Studio; receives notes on rows left out and on ids
            that look damaged.
        name_of: the name of an image from its path or address in Label Studio or FiftyOne.

    Raises:
        FormatError: a malformed line, a label outside {0, 1}, conflicting labels, no pairs.
        OSError: if the file cannot be opened.
    """
    path, options = _labels_in_folder(Path(path)), options or VoteOptions()
    kind = sniff(path)
    rows: Iterator[Row]
    unit = {"parquet": "row", "json": "line"}.get(kind, "line")
    if kind == "parquet":
        rows = parquet_rows(path, "label")
    elif kind == "json":
        rows, unit = _json_rows(read_json(path), options, name_of)
    elif kind == "jsonl":
        rows = jsonl_rows(path, "label")
    elif kind == "csv":
        rows = csv_rows(path, "label")
    else:
        rows = trec_qrels_rows(path)
    ids = RepairedIds()
    labels = labels_from(path, ids.rows(rows), unit=unit, min_rel=min_rel)
    options.notes.extend(f"{path}: {note}" for note in ids.notes(unit))
    return labels


def _json_rows(
    file: JsonText, options: VoteOptions, name_of: NameOf | None
) -> tuple[Iterator[Row], str]:
    """Return the pairs of a JSON file, and the word for a row: Label Studio, VSD, or others."""
    if (answers := answers_in(file, options, name_of)) is not None:
        return label_rows(answers, options.notes), "line"
    if not isinstance(file.value, list):
        pairs = nested_pairs(file, "label")
        return (Row(place, *pair) for place, pair in enumerate(pairs, 1)), "entry"
    first = file.value[0] if file.value else None
    if isinstance(first, dict) and not VSD_KEYS & first.keys() and is_header(first):
        return record_rows(file, "label"), "line"
    return annotation_rows(file), "line"


def _labels_in_folder(path: Path) -> Path:
    """Return the labels of a data set for retrieval that is a folder, as BEIR and Hugging Face
    lay it out: `qrels/test.tsv`, `qrels/test.jsonl`, `data/qrels-test.parquet`. A file is itself.

    Raises:
        FormatError: there are none, or several splits.
    """
    if not path.is_dir():
        return path
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix in QRELS_ENDINGS
        and ("qrels" in file.name.lower() or file.parent.name.lower() in QRELS_FOLDERS)
    )
    tests = [file for file in files if "test" in file.name.lower()]
    chosen = files if len(files) == 1 else tests
    if len(chosen) != 1:
        listed = ", ".join(str(file.relative_to(path)) for file in files[:5])
        reason = f"name one of its files of labels: {listed}" if files else "it holds no qrels"
        raise FormatError(path, None, reason)
    return chosen[0]


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


def read_products(path: str | Path, notes: list[str] | None = None) -> dict[str, str]:
    """Return {image: product id} from VSD metadata JSON, or a CSV or parquet file.

    These name the columns product_id, and path or image_id or both; with both, as in the images
    of a release, an image is known by either. An image without a product has the empty string.

    Args:
        path: the file.
        notes: receives a sentence for each kind of value that was repaired.

    Raises:
        FormatError: a malformed line, a missing column, an empty name, an image with two
            products, or products that a spreadsheet or data frame merged or split.
        OSError: if the file cannot be opened.
    """
    return read_image_column(path, PRODUCT_COLUMN, notes)


def read_image_column(
    path: str | Path, column: str, notes: list[str] | None = None
) -> dict[str, str]:
    """Return {image: value} of a column of metadata, "" where the value is unknown.

    Args:
        path: VSD metadata JSON, or a CSV or parquet file with path or image_id, or both.
        column: its name; `product_id` is the `id` of the JSON.
        notes: receives a sentence for each kind of value that was repaired.

    Raises:
        FormatError: a malformed line, a missing column, an empty name, an image with two values,
            or values that a spreadsheet or data frame merged or split, such as `nan`.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    kind = sniff(path)
    what = "product" if column == PRODUCT_COLUMN else column
    found = ValueColumn(column, ValueKind.PRODUCT if what == "product" else ValueKind.CLASS)
    images = ValueColumn("image", ValueKind.NAME)
    if kind == "json":
        rows, unit = vsd_values(path, "id" if column == PRODUCT_COLUMN else column), "line"
    else:
        rows = _image_rows(path, column)
        unit = "row" if kind == "parquet" else "line"
    values: dict[str, str] = {}
    for line, name, text in rows:
        image, value = images.add(line, name), found.add(line, text) if text.strip() else ""
        if values.setdefault(image, value) != value:
            reason = f"{image!r} has {what} {value!r} here and {values[image]!r} before"
            raise FormatError(path, line, reason, unit=unit)
    harmless = refuse_damage(path, [found], unit=unit)
    harmless += [one for one in images.findings() if one.code is Code.REPAIRED]
    if notes is not None:
        notes.extend(f"{path}: {one.message(unit)}" for one in harmless)
    return values


def _image_rows(path: Path, column: str) -> Iterator[tuple[int, str, str]]:
    """Yield line or row, name of the image, and value of a column of a CSV or parquet file."""
    kind = sniff(path)
    unit = "row" if kind == "parquet" else "line"
    lines = _parquet_lines(path, column) if kind == "parquet" else csv_lines(path)
    _, header = next(lines, (1, []))
    names = [name for name in IMAGE_NAMES if header.count(name) == 1]
    if not names or header.count(column) != 1:
        reason = f"the columns are {','.join(header)!r}; needed: {column}, and path or image_id"
        raise FormatError(path, 1, reason)
    for line, cells in lines:
        if len(cells) != len(header):
            reason = f"{len(cells)} cells where the header names {len(header)}"
            raise FormatError(path, line, reason, unit=unit)
        value = unprotected(cells[header.index(column)])
        for name in names:
            image = unprotected(cells[header.index(name)])
            if not image:
                raise FormatError(path, line, f"the {name} is empty", unit=unit)
            yield line, image, value


def _parquet_lines(path: Path, column: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows, of the columns that name images and of one more alone."""
    try:
        with pq.ParquetFile(path) as file:
            stated = file.schema_arrow.names
            header = [name for name in (*IMAGE_NAMES, column) if name in stated]
            yield 0, header or stated
            n_values(path, file.metadata, header)
            columns = [values_of(column) for column in file.read(columns=header).columns]
    except pa.ArrowException as error:
        raise FormatError(path, None, f"not readable as parquet: {error}") from error
    for row, cells in enumerate(zip(*columns, strict=True), 1):
        yield row, ["" if cell is None else str(cell) for cell in cells]

"""The lists of a release in the formats that other tools read; all follow from the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa

from catalog.formats.text import protected
from evaluation.formats.write import (
    csv_pieces,
    trec_qrels_pieces,
    trec_run_pieces,
    vsd_pieces,
)
from evaluation.match import match_run
from evaluation.rank import ranked_candidates
from releases.folder import Folder
from releases.layout import RULES, TABLES
from releases.tables import values_of

RUN_DEPTH = 100
Pieces = Callable[[Folder], Iterator[str]]
BLOCK = 16_384


def text_files(folder: Folder) -> dict[str, Pieces]:
    """Return what writes each list of a release, by path."""
    found: dict[str, Pieces] = {
        "csv/labels.csv": _labels_csv,
        "csv/judgements.csv": partial(_table_csv, name="judgements"),
        "csv/images.csv": partial(_table_csv, name="images"),
        "jsonl/labels.jsonl": partial(_jsonl, name="labels"),
        "jsonl/judgements.jsonl": partial(_jsonl, name="judgements"),
        "vsd/annotations.json": _vsd,
        "vsd/metadata.json": _vsd_metadata,
        "trec/qrels.txt": partial(_trec_qrels, rule="label"),
        "trec/qrels.xinfap.txt": _xinfap,
    }
    for rule in RULES:
        found[f"trec/qrels.{rule}.txt"] = partial(_trec_qrels, rule=rule)
    for model in folder.scored:
        found[f"trec/runs/{model['id']}.txt"] = partial(_trec_run, model_id=model["id"])
    return found


def _rows(table: pa.Table) -> Iterator[tuple[object, ...]]:
    for block in table.to_batches(max_chunksize=BLOCK):
        yield from zip(*(values_of(column) for column in block.columns), strict=True)


def _safe_rows(table: pa.Table) -> Iterator[tuple[object, ...]]:
    """Yield rows whose text no spreadsheet runs: each distinct name is looked at once a block."""
    for block in table.to_batches(max_chunksize=BLOCK):
        yield from zip(*(map(_safe, block.columns)), strict=True)


def _safe(column: pa.Array) -> list[object]:
    if not pa.types.is_dictionary(column.type):
        return values_of(column)
    names = [protected(name) for name in column.dictionary.to_pylist()]
    codes = column.indices.to_numpy(zero_copy_only=False).tolist()
    return list(map(names.__getitem__, codes))


def _table_csv(folder: Folder, name: str) -> Iterator[str]:
    rows = _safe_rows(folder.table(name))
    return csv_pieces(rows, TABLES[name].schema.names, is_safe=True)


def _labels_csv(folder: Folder) -> Iterator[str]:
    path = {name: protected(path) for name, path in folder.path_of.items()}
    rows = ((path[row[0]], path[row[1]], *row) for row in _safe_rows(folder.table("labels")))  # type: ignore[index]
    return csv_pieces(
        rows, ("query_path", "image_path", *TABLES["labels"].schema.names), is_safe=True
    )


def _jsonl(folder: Folder, name: str) -> Iterator[str]:
    names = TABLES[name].schema.names
    encode = json.JSONEncoder(ensure_ascii=False).encode
    for row in _rows(folder.table(name)):
        yield encode(dict(zip(names, row, strict=True))) + "\n"


def _decided(folder: Folder, rule: str) -> Iterator[tuple[str, str, int]]:
    yield from _rows(folder.compared(rule))  # type: ignore[misc]


def _vsd(folder: Folder) -> Iterator[str]:
    path = folder.path_of
    return vsd_pieces((path[q], path[c], label) for q, c, label in _decided(folder, "label"))


def _vsd_metadata(folder: Folder) -> Iterator[str]:
    before = '{"images": [\n'
    for name, product, attributes in _rows(
        folder.table("images", ["path", "product_id", "attributes"])
    ):
        given = json.loads(str(attributes))
        entry = {"id": product, "path": name, "phase": "test", **_extra(given)}
        yield before + json.dumps(entry, ensure_ascii=False)
        before = ",\n"
    yield "\n]}\n"


def _extra(attributes: dict[str, str]) -> dict[str, str]:
    return {name: attributes[name] for name in ("category", "color") if name in attributes}


def _trec_qrels(folder: Folder, rule: str) -> Iterator[str]:
    return trec_qrels_pieces(_decided(folder, rule))


def _xinfap(folder: Folder) -> Iterator[str]:
    topics = {
        str(query): int(str(position)) + 1
        for query, position in _rows(folder.table("queries", ["query_id", "position"]))
    }
    public = public_queries(folder)
    labels = folder.table("labels", ["query_id", "image_id", "label"])
    label_of = {(q, c): label for q, c, label in _rows(labels) if label is not None}
    numbers: dict[str, int] = {"pool": 0}
    for row in _rows(folder.table("pairs", ["query_id", "image_id", "stratum"])):
        query, image, stratum = str(row[0]), str(row[1]), str(row[2])
        number = numbers.setdefault(stratum, len(numbers))
        if query in public:
            yield f"{topics[query]} 0 {image} {number} {label_of.get((query, image), -1)}\n"


def public_queries(folder: Folder) -> set[str]:
    """Return the queries whose labels the release shows."""
    table = folder.table("queries", ["query_id", "split"])
    return {str(query) for query, split in _rows(table) if split == "public"}


def _trec_run(folder: Folder, model_id: str) -> Iterator[str]:
    matched = match_run(folder.qrels(), folder.run(model_id), products=folder.products)
    lists = ranked_candidates(matched)
    ids = matched.candidate_ids
    rows = (
        (query, ids[code], rank)
        for query, codes in zip(matched.query_ids, lists, strict=True)
        for rank, code in enumerate(codes[:RUN_DEPTH].tolist(), 1)
    )
    return trec_run_pieces(rows, model_id, RUN_DEPTH)

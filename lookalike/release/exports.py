"""The lists of a release in the formats that other tools read; all follow from the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from lookalike.io.csv_text import protected
from lookalike.metrics.match import match_run
from lookalike.metrics.rank import ranked_candidates
from lookalike.release.format.column_text import (
    Cells,
    csv_cell,
    csv_lines,
    json_lines,
    json_list,
    json_value,
    lines,
)
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import FIRST_WITH_BOARD, RULES
from lookalike.release.format.tables import column_values, named, rows_of
from lookalike.release.labelling import pair_keys
from lookalike.release.rounds import judged_share

RUN_DEPTH = 100
POOL_ALONE = 3  # the schema version from which the list for xinfAP holds the pool alone
NAMES_IN_TSV = 4  # the schema version from which images and queries are named for ir_datasets
Pieces = Callable[[Folder], Iterator[bytes]]


def text_files(folder: Folder) -> dict[str, Pieces]:
    """Return what writes each list of a release, by path, as UTF-8 in pieces."""
    writers: dict[str, Pieces] = {
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
    if judged_share(folder) < 1:  # it takes what is not labelled for a plain sample
        del writers["trec/qrels.xinfap.txt"]
    for rule in RULES:
        writers[f"trec/qrels.{rule}.txt"] = partial(_trec_qrels, rule=rule)
    if folder.info.get("schema_version", 1) >= NAMES_IN_TSV:
        writers["trec/images.tsv"] = partial(_names_tsv, table="images", column="image_id")
        writers["trec/queries.tsv"] = partial(_names_tsv, table="queries", column="query_id")
    if folder.info.get("schema_version", 1) >= FIRST_WITH_BOARD:
        writers["csv/board.csv"] = partial(_table_csv, name="board")
    for model in folder.scored:
        writers[f"trec/runs/{model['id']}.txt"] = partial(_trec_run, model_id=model["id"])
    return writers


def _table_csv(folder: Folder, name: str) -> Iterator[bytes]:
    table = folder.table(name)
    return csv_lines({column: Cells(table[column], csv_cell) for column in table.schema.names})


def _labels_csv(folder: Folder) -> Iterator[bytes]:
    table, path = folder.table("labels"), folder.path_of
    columns = {
        f"{name}_path": Cells(table[f"{name}_id"], lambda image: csv_cell(path[image]))
        for name in ("query", "image")
    }
    columns |= {name: Cells(table[name], csv_cell) for name in table.schema.names}
    return csv_lines(columns)


def _jsonl(folder: Folder, name: str) -> Iterator[bytes]:
    table = folder.table(name)
    return json_lines({column: Cells(table[column], json_value) for column in table.schema.names})


def _vsd(folder: Folder) -> Iterator[bytes]:
    table, path = folder.compared(), folder.path_of
    query, image = (
        Cells(table[name], lambda image: json_value(path[image]))
        for name in ("query_id", "image_id")
    )
    return json_list(
        ['{"key": [', query, ", ", image, '], "value": ', Cells(table["label"], str), "}"]
    )


def _vsd_metadata(folder: Folder) -> Iterator[bytes]:
    table = folder.table("images", ["path", "product_id", "attributes"])
    product, path = (Cells(table[name], json_value) for name in ("product_id", "path"))
    others = Cells(table["attributes"], _extra)
    return json_list(
        ['{"id": ', product, ', "path": ', path, ', "phase": "test"', others, "}"],
        begin='{"images": ', end="}",
    )  # fmt: skip


def _extra(attributes: str) -> str:
    """Return what VSD metadata may say beyond product and path, to stand after them."""
    known = json.loads(attributes)
    kept = {name: known[name] for name in ("category", "color") if name in known}
    return "".join(f", {json_value(name)}: {json_value(value)}" for name, value in kept.items())


def _trec_qrels(folder: Folder, rule: str) -> Iterator[bytes]:
    table = folder.compared(rule)
    query, image = (Cells(table[name], str) for name in ("query_id", "image_id"))
    shown = "grade" if "grade" in table.schema.names else rule
    return lines([query, " 0 ", image, " ", Cells(table[shown], str), "\n"])


def _names_tsv(folder: Folder, table: str, column: str) -> Iterator[bytes]:
    """Yield name and path, which is all that a picture has for a text.

    A path that a spreadsheet would run as a formula is protected, as in CSV.
    """
    path = folder.path_of
    names = folder.table(table, [column])[column]
    texts = Cells(names, lambda image: protected(" ".join(path[image].split())))
    return lines([Cells(names, str), "\t", texts, "\n"])


def _xinfap(folder: Folder) -> Iterator[bytes]:
    """Yield the pool: sample_eval.pl takes what is not listed of a stratum for no member of it.

    So a stratum below the pool, of which nothing but the pairs drawn is known, cannot be told.
    Schema versions 1 and 2 told them nevertheless.
    """
    ids, hidden = folder.image_ids, folder.hidden_queries
    topics = {query: at + 1 for query, at in folder.rows("queries", "query_id", "position")}
    pairs = folder.table("pairs", ["query_id", "image_id", "stratum"])
    numbers: dict[str, int] = {"pool": 0}
    is_old = folder.info.get("schema_version", 1) < POOL_ALONE
    for stratum in dict.fromkeys(column_values(pairs["stratum"])):
        numbers.setdefault(stratum, len(numbers) if is_old else 0)
    labels = folder.table("labels", ["query_id", "image_id", "label"])
    known = pair_keys(ids, labels, "labels")
    asked = pair_keys(ids, pairs, "pairs")
    at = np.minimum(np.searchsorted(known, asked), max(known.size - 1, 0))
    label = labels["label"].fill_null(-1).to_numpy()
    value = np.where(known[at] == asked, label[at], -1) if known.size else np.full(asked.size, -1)
    left_out = set() if is_old else folder.below_pool
    is_shown = [
        pair[0] not in hidden and pair not in left_out
        for pair in rows_of(pairs, "query_id", "image_id")
    ]
    shown = pairs.append_column("value", pa.array(value)).filter(pa.array(is_shown, pa.bool_()))
    return lines(
        [
            Cells(shown["query_id"], lambda query: str(topics[query])),
            " 0 ",
            Cells(shown["image_id"], str),
            " ",
            Cells(shown["stratum"], lambda stratum: str(numbers[stratum])),
            " ",
            Cells(shown["value"], str),
            "\n",
        ]
    )


def _trec_run(folder: Folder, model_id: str) -> Iterator[bytes]:
    """Write the heads of a model's lists so that trec_eval, which breaks ties by name and compares
    scores as float32, orders them by rank.
    """
    matched = match_run(folder.qrels(), folder.run(model_id), products=folder.products)
    depths = np.full(matched.n_queries, RUN_DEPTH)
    if folder.info.get("schema_version", 1) >= FIRST_WITH_BOARD:
        depths = np.minimum(depths, matched.depths)
    lists = zip(ranked_candidates(matched), depths.tolist(), strict=True)
    heads = [codes[:depth] for codes, depth in lists]
    ranks = np.concatenate([np.arange(1, head.size + 1) for head in heads])
    queries = np.repeat(np.arange(len(heads)), [head.size for head in heads])
    return lines(
        [
            Cells(named(matched.query_ids, queries), str),
            " Q0 ",
            Cells(named(matched.candidate_ids, np.concatenate(heads)), str),
            " ",
            Cells(pa.array(ranks), lambda rank: f"{rank} {RUN_DEPTH + 1 - rank}"),
            f" {model_id}\n",
        ]
    )

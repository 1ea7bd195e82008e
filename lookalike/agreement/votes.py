"""Votes as a table of three columns: item, worker, label. Pure; files in, arrays out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.io.column_table import ColumnTable
from lookalike.io.errors import InputError
from lookalike.io.judgements import counted_answers, holds_judgements
from lookalike.io.numbered_rows import TableError, read_rows


@dataclass(frozen=True)
class Votes:
    """Who said what about which item.

    Attributes:
        items: names in the order of their first vote.
        workers: names in the order of their first vote.
        labels: names, sorted.
        item_of: shape (n_votes,), index into `items`.
        worker_of: shape (n_votes,), index into `workers`.
        label_of: shape (n_votes,), index into `labels`.
        units: shape (n_items,), the unit of each item, from 0: pairs of one query, or of one
            product's queries, are not independent. None where each item is its own.
    """

    items: list[str]
    workers: list[str]
    labels: list[str]
    item_of: Ints
    worker_of: Ints
    label_of: Ints
    units: Ints | None = None

    def counts(self) -> Ints:
        """Return shape (n_items, n_labels): how many workers gave that label."""
        shape = (len(self.items), len(self.labels))
        flat = np.bincount(self.item_of * shape[1] + self.label_of, minlength=shape[0] * shape[1])
        return flat.reshape(shape)


def read_votes(path: str | Path) -> Votes:
    """Return the votes of a CSV or parquet file with the columns item, worker, label.

    Others are ignored. The judgements of a release are read, too: those that count, an item being
    the query and the image, a space between.

    Raises:
        TableError: the file cannot be read, is not UTF-8, has no votes, lacks a column or has
            it twice, or has rows that are too short, leave a field empty, or repeat an
            (item, worker) pair. All such rows are named.
        FormatError: the same of parquet and of judgements, the first offence alone.
    """
    problems: list[str] = []
    first_row: dict[tuple[str, str], int] = {}
    triples: list[tuple[str, str, str]] = []
    query_of: dict[str, str] = {}
    for row, (item, worker, label) in _rows(path, problems, query_of):
        known = first_row.setdefault((item, worker), row)
        if known != row:
            problems.append(f"row {row}: {worker!r} has voted on {item!r} in row {known} already")
            continue
        triples.append((item, worker, label))
    if not problems and not triples:
        problems.append("there are no votes")
    if problems:
        raise TableError(str(path), problems)
    return make_votes(triples, query_of)


def _rows(
    path: str | Path, problems: list[str], query_of: dict[str, str]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    columns = ("item", "worker", "label")
    if not Path(path).exists():
        yield from read_rows(path, columns, problems)  # which says so
    elif holds_judgements(path):
        for row, (query, image, judge, answer) in counted_answers(path):
            query_of[f"{query} {image}"] = query
            yield row, (f"{query} {image}", judge, answer)
    elif (table := ColumnTable(path, columns)).is_parquet:
        yield from table
    else:
        yield from read_rows(path, columns, problems)


def read_truth(path: str | Path) -> dict[str, str]:
    """Return the true label of each item of a CSV file with the columns item, truth.

    Raises:
        TableError: as `read_votes`; an item may stand there only once.
    """
    problems: list[str] = []
    truth: dict[str, str] = {}
    for row, (item, label) in read_rows(path, ("item", "truth"), problems):
        if item in truth:
            problems.append(f"row {row}: {item!r} is there twice")
        truth[item] = label
    if problems:
        raise TableError(str(path), problems)
    return truth


def make_votes(
    triples: Iterable[tuple[str, str, str]], unit_of: Mapping[str, str] | None = None
) -> Votes:
    """Return (item, worker, label) triples as arrays.

    Args:
        triples: no two of one item and worker.
        unit_of: the unit of each item, such as its query; empty or None where each is its own.

    Raises:
        InputError: a worker votes twice on an item.
    """
    triples = list(triples)
    given = Counter((item, worker) for item, worker, _ in triples)
    for (item, worker), n_votes in given.items():
        if n_votes > 1:
            raise InputError(f"{worker!r} has voted {n_votes} times on {item!r}; once is allowed")
    items = list(dict.fromkeys(item for item, _, _ in triples))
    workers = list(dict.fromkeys(worker for _, worker, _ in triples))
    labels = sorted({label for _, _, label in triples})
    index_of = [{name: i for i, name in enumerate(names)} for names in (items, workers, labels)]
    item_of, worker_of, label_of = (
        np.array([index[triple[axis]] for triple in triples], dtype=np.int64)
        for axis, index in enumerate(index_of)
    )
    units = None
    if unit_of:
        names = [unit_of[item] for item in items]
        units = np.unique(np.array(names), return_inverse=True)[1].astype(np.int64)
    return Votes(items, workers, labels, item_of, worker_of, label_of, units)

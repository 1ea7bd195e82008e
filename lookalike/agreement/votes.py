"""Votes as a table of three columns: item, worker, label. Pure; files in, arrays out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.io.errors import InputError
from lookalike.io.numbered_rows import TableError, read_rows
from lookalike.io.repeats import Repeats
from lookalike.io.values import ValueColumn, ValueKind, refuse_damage, repaired
from lookalike.io.vote_options import VoteOptions
from lookalike.io.vote_rows import vote_rows


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
        pairs: query and candidate of each item; None where items are no pairs.
    """

    items: list[str]
    workers: list[str]
    labels: list[str]
    item_of: Ints
    worker_of: Ints
    label_of: Ints
    units: Ints | None = None
    pairs: list[tuple[str, str]] | None = None

    def counts(self) -> Ints:
        """Return shape (n_items, n_labels): how many workers gave that label."""
        shape = (len(self.items), len(self.labels))
        flat = np.bincount(self.item_of * shape[1] + self.label_of, minlength=shape[0] * shape[1])
        return flat.reshape(shape)


def read_votes(path: str | Path, options: VoteOptions | None = None) -> Votes:
    """Return the votes of a file, in any schema that `lookalike.io.vote_rows.vote_rows` reads.

    An item of two images is named by the query and the candidate, a space between. Spaces at the
    ends go, and equal numbers are one label (`1` and `1.0`).

    Args:
        path: CSV, parquet, or the JSON of Label Studio.
        options: which of a worker's answers to one item counts (by default a second one is an
            error), and the control of Label Studio; receives notes on what is left out.

    Raises:
        TableError: the file cannot be read, is not UTF-8, has no votes, lacks a column or has
            it twice, or has rows that are too short, leave a field empty, or repeat an
            (item, worker) pair. All such rows are named.
        FormatError: the same of other formats, the first offence alone; or labels that a
            spreadsheet split or merged, such as `Yes` and `yes`, or `nan`.
    """
    options = options or VoteOptions()
    problems: list[str] = []
    label_of: dict[tuple[str, str], str] = {}
    pair_of: dict[str, tuple[str, str]] = {}
    first_row: dict[tuple[str, str], int] = {}
    labels, n_repeated = ValueColumn("label", ValueKind.LABEL), 0
    for vote in vote_rows(path, options, problems):
        item, worker = repaired(vote.name), repaired(vote.worker)
        label = labels.add(vote.row, vote.label)
        if vote.candidate:
            pair_of.setdefault(item, (repaired(vote.item), repaired(vote.candidate)))
        known = first_row.setdefault((item, worker), vote.row)
        if (item, worker) in label_of:
            n_repeated += 1
            if options.repeats in (None, Repeats.ERROR):
                reason = f"{worker!r} has voted on {item!r} in row {known} already"
                problems.append(f"row {vote.row}: {reason}")
            if options.repeats is not Repeats.LAST:
                continue
        label_of[item, worker] = label
    if not problems and not label_of:
        problems.append("there are no votes")
    if problems:
        raise TableError(str(path), problems)
    refuse_damage(path, [labels], unit="row")
    if n_repeated:
        options.notes.append(f"{n_repeated:,} repeated votes: the {options.repeats} one counts")
    triples = ((item, worker, label) for (item, worker), label in label_of.items())
    votes = make_votes(triples, {item: query for item, (query, _) in pair_of.items()})
    return replace(votes, pairs=[pair_of[item] for item in votes.items]) if pair_of else votes


def read_truth(path: str | Path) -> dict[str, str]:
    """Return the true label of each item of a CSV file with the columns item, truth.

    Raises:
        TableError: as `read_votes`; an item may stand there only once.
        FormatError: labels that a spreadsheet split or merged.
    """
    problems: list[str] = []
    truth: dict[str, str] = {}
    labels = ValueColumn("truth", ValueKind.LABEL)
    for row, (name, label) in read_rows(path, ("item", "truth"), problems):
        item = repaired(name)
        if item in truth:
            problems.append(f"row {row}: {item!r} is there twice")
        truth[item] = labels.add(row, label)
    if problems:
        raise TableError(str(path), problems)
    refuse_damage(path, [labels], unit="row")
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

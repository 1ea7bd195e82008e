"""The files only a bias analysis reads: proposals, votes, families, attributes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.io.column_table import ColumnTable
from lookalike.io.errors import FormatError
from lookalike.io.label_words import label_of
from lookalike.io.numbered_rows import TableError
from lookalike.io.repeats import Repeats
from lookalike.io.values import ValueColumn, ValueKind, refuse_damage, repaired
from lookalike.io.vote_options import VoteOptions
from lookalike.io.vote_rows import VoteRow, vote_rows


@dataclass(frozen=True)
class Proposals:
    """Which model put which pair into the pool, and at what rank.

    Attributes:
        query_ids: distinct, in ascending order.
        candidate_ids: distinct, in ascending order.
        generators: the models, in the order in which they first appear.
        queries: shape (n_proposals,), positions in `query_ids`.
        candidates: shape (n_proposals,), positions in `candidate_ids`.
        models: shape (n_proposals,), positions in `generators`.
        ranks: shape (n_proposals,), 1 for a model's best candidate.
    """

    query_ids: tuple[str, ...]
    candidate_ids: tuple[str, ...]
    generators: tuple[str, ...]
    queries: Ints
    candidates: Ints
    models: Ints
    ranks: Ints


@dataclass(frozen=True)
class VoteTable:
    """Single answers: annotator, pair, 0 or 1.

    Attributes:
        annotators: in ascending order.
        rows: (query, candidate, position of the annotator, answer).
    """

    annotators: tuple[str, ...]
    rows: tuple[tuple[str, str, int, int], ...]


def read_proposals(path: str | Path) -> Proposals:
    """Return the proposals in a CSV or parquet file with query, candidate, model, rank.

    Args:
        path: the file; further columns are ignored.

    Returns:
        The proposals.

    Raises:
        FormatError: a missing column, an empty cell, a rank that is no whole number from 1, a
            query proposed for itself, a repeated row, or two candidates of a model at one rank.
        OSError: if the file cannot be opened.
    """
    rows: list[tuple[str, str, str, int]] = []
    pairs: dict[tuple[str, str, str], int] = {}
    places: dict[tuple[str, str, int], int] = {}
    shipped = ("query_id", "image_id", "model_id", "rank")
    table = ColumnTable(path, ("query", "candidate", "model", "rank"), shipped=shipped)
    for line, (query, candidate, model, text) in table:
        rank = _whole(text)
        if rank is None or rank < 1:
            raise table.refused(line, f"rank {text!r} is not a whole number from 1")
        if query == candidate:
            raise table.refused(line, f"{query!r} is proposed as its own candidate")
        first = pairs.setdefault((query, candidate, model), line)
        if first != line:
            raise table.refused(line, f"the same proposal stands in {table.unit} {first}")
        first = places.setdefault((query, model, rank), line)
        if first != line:
            reason = f"{model!r} has another candidate at rank {rank} in {table.unit} {first}"
            raise table.refused(line, reason)
        rows.append((query, candidate, model, rank))
    if not rows:
        raise FormatError(table.path, None, "the file holds no proposals")
    return make_proposals(rows)


def make_proposals(rows: list[tuple[str, str, str, int]]) -> Proposals:
    """Return proposals from (query, candidate, model, rank); see `Proposals`."""
    queries, candidates, models, ranks = zip(*rows, strict=True)
    query_ids, query_codes = np.unique(np.array(queries, dtype=object), return_inverse=True)
    candidate_ids, codes = np.unique(np.array(candidates, dtype=object), return_inverse=True)
    generators = tuple(dict.fromkeys(models))
    code_of = {name: code for code, name in enumerate(generators)}
    return Proposals(
        query_ids=tuple(query_ids.tolist()),
        candidate_ids=tuple(candidate_ids.tolist()),
        generators=generators,
        queries=query_codes.astype(np.int64),
        candidates=codes.astype(np.int64),
        models=np.array([code_of[m] for m in models], dtype=np.int64),
        ranks=np.array(ranks, dtype=np.int64),
    )


def read_votes(path: str | Path, options: VoteOptions | None = None) -> VoteTable:
    """Return the answers about pairs in a file, as `lookalike.io.vote_rows.vote_rows` reads them.

    Args:
        path: the file. An item of the schema item,worker,label must be a query and a candidate, a
            space between.
        options: which of a worker's answers to one pair counts (by default a second one is an
            error), and the control of Label Studio; receives notes on what is left out.

    Returns:
        The answers.

    Raises:
        FormatError: a missing column, an empty cell, a value that is neither 0 nor 1 (nor a word
            for them), an item that is no pair, or two answers of one annotator to one pair.
        TableError: bad rows of CSV, all of them named.
        OSError: if the file cannot be opened.
    """
    options = options or VoteOptions()
    problems: list[str] = []
    answer_of: dict[tuple[str, str, str], tuple[int, int]] = {}
    n_repeated = 0
    for vote in vote_rows(path, options, problems):
        query, candidate = _pair(path, vote)
        key = query, candidate, repaired(vote.worker)
        value = _whole(repaired(vote.label, ValueKind.LABEL))
        value = label_of(vote.label) if value is None else value
        if value is None or value not in (0, 1):
            reason = f"value {vote.label!r} is neither 0 nor 1"
            raise FormatError(path, vote.row, reason, unit="row")
        if key in answer_of:
            n_repeated += 1
            if options.repeats in (None, Repeats.ERROR):
                reason = f"{key[2]!r} answered this pair before, in row {answer_of[key][1]}"
                raise FormatError(path, vote.row, f"{reason} (--repeats)", unit="row")
            if options.repeats is not Repeats.LAST:
                continue
        answer_of[key] = (value, vote.row)
    if problems:
        raise TableError(str(path), problems)
    if not answer_of:
        raise FormatError(path, None, "the file holds no votes")
    if n_repeated:
        options.notes.append(f"{n_repeated:,} repeated votes: the {options.repeats} one counts")
    annotators = tuple(sorted({annotator for *_, annotator in answer_of}))
    code_of = {name: code for code, name in enumerate(annotators)}
    rows = ((q, c, code_of[a], value) for (q, c, a), (value, _) in answer_of.items())
    return VoteTable(annotators, tuple(rows))


def _pair(path: str | Path, vote: VoteRow) -> tuple[str, str]:
    if vote.candidate:
        return repaired(vote.item), repaired(vote.candidate)
    parts = vote.item.split()
    if len(parts) != 2:
        reason = f"the item {vote.item!r} is no query and candidate with one space between"
        raise FormatError(path, vote.row, reason, unit="row")
    return parts[0], parts[1]


def read_families(path: str | Path) -> dict[str, str]:
    """Return {model: family} from a CSV or parquet file with model and family.

    Raises:
        FormatError: a missing column, an empty cell, or a model with two families.
        OSError: if the file cannot be opened.
    """
    column = ValueColumn("family", ValueKind.NAME)
    return _values_by_name(ColumnTable(path, ("model", "family")), column)


def read_attribute(path: str | Path, name: str) -> dict[str, str]:
    """Return {image: value} of one attribute from a CSV or parquet file with path and `name`.

    An empty value is kept as "", which means unknown.

    Raises:
        FormatError: a missing column, an empty path, an image with two values, or values that a
            spreadsheet or data frame merged or split, such as `Red` and `red`.
        OSError: if the file cannot be opened.
    """
    column = ValueColumn(name, ValueKind.CLASS)
    table = ColumnTable(path, ("path", name), may_be_empty=(name,))
    values = _values_by_name(table, column)
    refuse_damage(path, [column], unit=table.unit)
    return values


def _values_by_name(table: ColumnTable, column: ValueColumn) -> dict[str, str]:
    """Return {first cell: second cell}, refusing two values of one name."""
    values: dict[str, str] = {}
    for line, (given, text) in table:
        name, value = repaired(given), column.add(line, text) if text.strip() else ""
        if values.setdefault(name, value) != value:
            reason = f"{name!r} has {table.columns[1]} {value!r} here and {values[name]!r} before"
            raise table.refused(line, reason)
    return values


def _whole(text: str) -> int | None:
    """Return the whole number a cell holds, 3 and 3.0 alike, None for anything else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() and "_" not in text else None

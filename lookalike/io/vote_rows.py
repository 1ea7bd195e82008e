"""Votes of files in any of the known schemas, as rows of one: the reader of every command."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from lookalike.io.answer_files import answers_in
from lookalike.io.column_table import ColumnTable, column_names
from lookalike.io.errors import FormatError
from lookalike.io.json_text import read_json
from lookalike.io.judgements import counted_answers, holds_judgements
from lookalike.io.numbered_rows import read_rows
from lookalike.io.pair_answers import votes_of
from lookalike.io.text_files import encoding_of
from lookalike.io.vote_options import VoteOptions

ITEMS = ("item", "worker", "label")
PAIRS = ("query", "candidate", "annotator", "value")
SCHEMAS = (ITEMS, PAIRS, ("task", "worker", "label"), ("query", "candidate", "worker", "label"))


class VoteRow(NamedTuple):
    """One vote as it stands in its file.

    Attributes:
        row: line or row.
        item: what was asked; of a pair the query.
        candidate: of a pair, else "".
        worker: who answered.
        label: the answer.
    """

    row: int
    item: str
    candidate: str
    worker: str
    label: str

    @property
    def name(self) -> str:
        """The item as one text: of a pair its images, a space between."""
        return f"{self.item} {self.candidate}" if self.candidate else self.item


def vote_rows(path: str | Path, options: VoteOptions, problems: list[str]) -> Iterator[VoteRow]:
    """Yield the votes of a file: item,worker,label or query,candidate,annotator,value as CSV or
    parquet, a release's judgements that count, or JSON of Label Studio or FiftyOne.

    Args:
        path: the file.
        options: of Label Studio.
        problems: receives a sentence for each row of CSV that cannot be used.

    Raises:
        TableError: the file cannot be read, or lacks columns.
        FormatError: the same of other formats, and bad rows of them.
    """
    path = Path(path)
    if not path.exists():
        yield from _rows(read_rows(path, ITEMS, problems))  # which says so
    elif begins_json(path):
        yield from _answers(path, options)
    elif holds_judgements(path):
        for row, (query, image, judge, answer) in counted_answers(path):
            yield VoteRow(row, query, image, judge, answer)
    else:
        names = column_names(path)
        columns = schema_of(names) or ITEMS
        table = ColumnTable(path, columns)
        yield from _rows(iter(table) if table.is_parquet else read_rows(path, columns, problems))


def schema_of(names: Collection[str]) -> tuple[str, ...]:
    """Return the columns of votes among those of a table, those of pairs first."""
    return next((one for one in SCHEMAS if set(one) <= set(names)), ())


def begins_json(path: Path) -> bool:
    """Whether a file begins as JSON does."""
    with path.open("rb") as file:
        head = file.read(4096)
    return head.decode(encoding_of(head), "replace").lstrip()[:1] in ("[", "{")


def _rows(rows: Iterator[tuple[int, tuple[str, ...]]]) -> Iterator[VoteRow]:
    for row, cells in rows:
        item, *candidate, worker, label = cells
        yield VoteRow(row, item, candidate[0] if candidate else "", worker, label)


def _answers(path: Path, options: VoteOptions) -> Iterator[VoteRow]:
    answers = answers_in(read_json(path), options)
    if answers is None:
        known = "JSON of Label Studio or FiftyOne"
        raise FormatError(path, 1, f"no votes: {known}, or a table of {ITEMS}")
    for place, vote in enumerate(votes_of(answers, options.notes), 1):
        judge = vote.judge or f"annotation {place}"
        yield VoteRow(vote.line, vote.query, vote.candidate, judge, vote.answer)

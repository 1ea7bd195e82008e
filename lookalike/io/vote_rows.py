"""Votes of files in any of the known schemas, as rows of one: the reader of every command."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from lookalike.io.answer_files import answers_in
from lookalike.io.column_table import ColumnTable, column_names
from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import normal_path
from lookalike.io.json_text import read_json
from lookalike.io.judgements import counted_answers, holds_judgements
from lookalike.io.numbered_rows import read_rows
from lookalike.io.pair_answers import votes_of
from lookalike.io.text_files import encoding_of
from lookalike.io.values import repaired
from lookalike.io.vote_options import VoteOptions

ITEMS = ("item", "worker", "label")
PAIRS = ("query", "candidate", "annotator", "value")
SCHEMAS = (ITEMS, PAIRS, ("task", "worker", "label"), ("query", "candidate", "worker", "label"))


class VoteRow(NamedTuple):
    """One vote as it stands in its file.

    Attributes:
        row: line or row.
        item: the item, or the query of a pair.
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


class PairNames:
    """Gives each image of the pairs of a file one name: the way in which it is written first.

    Paths that differ in Unicode form, backslashes or `./` alone are one image. Names that may be
    quoted otherwise are only noted, since `a+b.jpg` and `a b.jpg` may be two files.

    >>> names = PairNames()
    >>> [names.first(name) for name in ("a/1.jpg", "./a/1.jpg", "a\\\\1.jpg")]
    ['a/1.jpg', 'a/1.jpg', 'a/1.jpg']
    """

    def __init__(self) -> None:
        self._name_of: dict[str, str] = {}
        self._read: dict[str, str] = {}

    def first(self, name: str) -> str:
        """Return the name that this image had first."""
        if name not in self._read:
            text = repaired(name)
            self._read[name] = self._name_of.setdefault(normal_path(text) or text, text)
        return self._read[name]

    def notes(self) -> list[str]:
        """Return a sentence for names that may be one image, none where there are none."""
        alike: dict[str, list[str]] = {}
        for name in self._name_of.values():
            alike.setdefault(normal_path(unquote(name.replace("+", " "))), []).append(name)
        groups = [names for names in alike.values() if len(names) > 1]
        if not groups:
            return []
        shown = " and ".join(map(repr, groups[0]))
        return [f"{len(groups):,} images may have two names, which count as two (first: {shown})"]


def vote_rows(path: str | Path, options: VoteOptions, problems: list[str]) -> Iterator[VoteRow]:
    """Yield the votes of a file: item,worker,label or query,candidate,annotator,value as CSV or
    parquet, a release's judgements that count, or JSON of Label Studio or FiftyOne.

    Images of pairs have one name each, as `PairNames` gives it.

    Args:
        path: the file.
        options: of Label Studio; receives notes on answers left out.
        problems: receives a sentence for each row of CSV that cannot be used.

    Raises:
        TableError: the file cannot be read, or lacks columns.
        FormatError: the same of other formats, and bad rows of them.
    """
    names = PairNames()
    for vote in _vote_rows(path, options, problems):
        if vote.candidate:
            query, candidate = names.first(vote.item), names.first(vote.candidate)
            yield vote._replace(item=query, candidate=candidate)
        else:
            yield vote
    options.notes.extend(names.notes())


def _vote_rows(path: str | Path, options: VoteOptions, problems: list[str]) -> Iterator[VoteRow]:
    """Yield the votes as they stand in the file."""
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

"""Ids of queries and candidates that one file writes in two ways, as data frames do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lookalike.io.tables import Row
from lookalike.io.values import Code, ValueColumn, ValueKind, without_traces

# Two files may differ in capital letters alone, and single ids stay as they stand.
_QUIET = frozenset({Code.CASE, Code.REPAIRED})


class RepairedIds:
    """Gives ids that are equal without spaces at their ends and `.0` the first spelling.

    An id in one spelling stays as it is, so that every file keeps its names; other files are
    matched by `lookalike.io.matched_names`. What else looks damaged is only noted, since an id
    merges no groups.

    >>> ids = RepairedIds()
    >>> [row[1:3] for row in ids.rows([Row(1, "7", " a.jpg", 1), Row(2, "7.0", "nan", 0)])]
    [('7', ' a.jpg'), ('7', 'nan')]
    >>> len(ids.notes("line"))
    2
    """

    def __init__(self) -> None:
        self._columns = [ValueColumn(name, ValueKind.NAME) for name in ("query", "candidate")]
        self._id_of: tuple[dict[object, str], dict[object, str]] = ({}, {})
        self._first: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self._merged: list[str] = []

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield rows in which each id has one spelling."""
        queries, candidates = self._id_of
        for row in rows:
            query, candidate = queries.get(row.query), candidates.get(row.candidate)
            if query is None:
                query = self._read(0, row.line, row.query)
            if candidate is None:
                candidate = self._read(1, row.line, row.candidate)
            if query == row.query and candidate == row.candidate:
                yield row
            else:
                yield row._replace(query=query, candidate=candidate)

    def notes(self, unit: str) -> list[str]:
        """Return a sentence for each kind of repair or damage, with the first rows of each id.

        Args:
            unit: the word for a row of the file.
        """
        found = [one for column in self._columns for one in column.findings()]
        notes = [one.message(unit) for one in found if one.code not in _QUIET]
        if self._merged:
            notes.append(f"{len(self._merged):,} ids are written in two ways: {self._merged[0]}")
        return notes

    def _read(self, column: int, line: int, text: Any) -> Any:
        if not isinstance(text, str):  # the reader of labels and scores refuses it
            return text
        self._columns[column].add(line, text)
        first = self._first[column].setdefault(without_traces(text) or text, text)
        self._id_of[column][text] = first
        if first != text:
            name = self._columns[column].name
            self._merged.append(f"{name} {text!r} is {first!r} (first in row {line:,})")
        return first

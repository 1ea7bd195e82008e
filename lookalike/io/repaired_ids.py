"""Ids of queries and candidates without the traces of spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lookalike.io.tables import Row
from lookalike.io.values import Code, ValueColumn, ValueKind

_QUIET = frozenset({Code.CASE})  # two files may differ in capital letters alone


class RepairedIds:
    """Repairs ids as rows are read: spaces at the ends go, `121506.0` is `121506`.

    What else looks damaged is only noted, since an id merges no groups.

    >>> ids = RepairedIds()
    >>> [row[1:3] for row in ids.rows([Row(1, "7.0", " a.jpg", 1), Row(2, "007", "nan", 0)])]
    [('7', 'a.jpg'), ('007', 'nan')]
    >>> len(ids.notes("line"))
    4
    """

    def __init__(self) -> None:
        self._columns = [ValueColumn(name, ValueKind.NAME) for name in ("query", "candidate")]
        self._repaired: tuple[dict[object, str], dict[object, str]] = ({}, {})

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield rows with repaired ids."""
        queries, candidates = self._repaired
        for row in rows:
            query, candidate = queries.get(row.query), candidates.get(row.candidate)
            if query is None:
                query = self._first(0, row.line, row.query)
            if candidate is None:
                candidate = self._first(1, row.line, row.candidate)
            if query == row.query and candidate == row.candidate:
                yield row
            else:
                yield row._replace(query=query, candidate=candidate)

    def notes(self, unit: str) -> list[str]:
        """Return a sentence for each kind of repair or damage, with the first rows of each id.

        Args:
            unit: what a row of the file is called.
        """
        found = [one for column in self._columns for one in column.findings()]
        return [one.message(unit) for one in found if one.code not in _QUIET]

    def _first(self, column: int, line: int, text: Any) -> Any:
        if not isinstance(text, str):  # the reader of labels and scores refuses it
            return text
        repaired = self._repaired[column][text] = self._columns[column].add(line, text)
        return repaired

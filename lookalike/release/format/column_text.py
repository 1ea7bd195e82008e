"""Lines of text from the columns of a table: each distinct value is written once, not each row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lookalike.io.csv_text import protected

ROWS = 16_384  # made into text at a time
Write = Callable[[Any], str]
_QUOTED = re.compile('[",\\r\\n]')


@dataclass(frozen=True)
class Cells:
    """A column of a table and how one value of it is written.

    Attributes:
        column: as read; nulls are given to `write` as None.
        write: the text of a value, called once for each distinct value.
    """

    column: pa.ChunkedArray | pa.Array
    write: Write

    @cached_property
    def _coded(self) -> pa.ChunkedArray:
        """The column with one dictionary for all its chunks."""
        whole = self.column
        if isinstance(whole, pa.Array):
            whole = pa.chunked_array([whole])
        if not pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_encode()
        return whole.unify_dictionaries()

    @cached_property
    def _written(self) -> pa.Array:
        values = self._coded.chunk(0).dictionary.to_pylist()
        return pa.array([self.write(value) for value in values], pa.string())

    def text(self, start: int) -> pa.Array:
        """Return the text of a block of rows."""
        chunks = self._coded.slice(start, ROWS).chunks
        codes = pa.chunked_array([chunk.indices for chunk in chunks]).combine_chunks()
        written = self._written.take(codes)
        return written.fill_null(self.write(None)) if written.null_count else written


def lines(parts: Sequence[str | Cells]) -> Iterator[bytes]:
    """Yield UTF-8 text, block by block: for each row the parts in order, with nothing between.

    Args:
        parts: constant text, and columns of the same length; at least one column.
    """
    n_rows = next(len(part.column) for part in parts if isinstance(part, Cells))
    for start in range(0, n_rows, ROWS):
        pieces = [part.text(start) if isinstance(part, Cells) else part for part in parts]
        yield _bytes(pc.binary_join_element_wise(*pieces, ""))


def _bytes(column: pa.StringArray) -> bytes:
    """Return all values of a text column without nulls, one after the other."""
    _, offsets, data = column.buffers()
    if data is None:
        return b""
    places = pa.Array.from_buffers(pa.int32(), len(column) + 1, [None, offsets], 0, column.offset)
    begin, end = places[0].as_py(), places[-1].as_py()
    return bytes(memoryview(data)[begin:end])


def csv_cell(value: object) -> str:
    """Return a cell of a CSV, safe to open in a spreadsheet; nothing for None."""
    if value is None:
        return ""
    cell = protected(value) if isinstance(value, str) else str(value)
    return '"{}"'.format(cell.replace('"', '""')) if _QUOTED.search(cell) else cell


def csv_lines(columns: dict[str, Cells]) -> Iterator[bytes]:
    """Yield a header and the rows below it."""
    yield ",".join(map(csv_cell, columns)).encode() + b"\n"
    parts: list[str | Cells] = []
    for cells in columns.values():
        parts += [cells, ","]
    yield from lines([*parts[:-1], "\n"])


json_value = json.JSONEncoder(ensure_ascii=False).encode


def json_lines(columns: dict[str, Cells]) -> Iterator[bytes]:
    """Yield one JSON object a line, as json.dumps writes it."""
    before = "{"
    parts: list[str | Cells] = []
    for name, cells in columns.items():
        parts += [f"{before}{json_value(name)}: ", cells]
        before = ", "
    yield from lines([*parts, "}\n"])


def json_list(parts: Sequence[str | Cells], *, begin: str = "", end: str = "") -> Iterator[bytes]:
    """Yield a JSON list with one entry a line.

    Args:
        parts: of an entry, as `lines` takes them.
        begin: what stands before the list.
        end: what stands after it.
    """
    opening, closing = f"{begin}[\n".encode(), f"\n]{end}\n".encode()
    is_first = True
    for block in lines([",\n", *parts]):
        yield opening + block[2:] if is_first else block
        is_first = False
    yield f"{begin}[]{end}\n".encode() if is_first else closing

"""Text from columns is what the csv and json modules write, row by row."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from lookalike.io.csv_text import protected
from lookalike.release.format import column_text as module
from lookalike.release.format.column_text import (
    Cells,
    csv_cell,
    csv_lines,
    json_lines,
    json_list,
    json_value,
    lines,
)

KINDS = {"name": pa.string(), "n": pa.int32(), "x": pa.float64(), "is": pa.bool_()}
TEXT = some.text("a=+@-,\"'\n\r é", max_size=4)
ROW = some.tuples(
    some.none() | TEXT,
    some.none() | some.integers(-9, 9),
    some.none() | some.floats(allow_nan=False),
    some.none() | some.booleans(),
)


def table_of(rows: list[tuple[Any, ...]], n_chunks: int = 1) -> pa.Table:
    table = pa.table(
        {name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in
         enumerate(KINDS.items())}
    )  # fmt: skip
    return pa.concat_tables([table] * n_chunks)


def cells(table: pa.Table, write: module.Write) -> dict[str, Cells]:
    return {name: Cells(table[name], write) for name in table.schema.names}


@given(some.lists(ROW, max_size=8), some.integers(1, 3), some.integers(1, 5))
def test_lines_are_those_of_the_csv_and_json_modules(
    rows: list[tuple[Any, ...]], n_chunks: int, block: int
) -> None:
    table = table_of(rows, n_chunks)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")  # both are quoted wherever they occur
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", block)
        as_csv = b"".join(csv_lines(cells(table, csv_cell))).decode()
        as_json = b"".join(json_lines(cells(table, json_value))).decode()
    for row in rows * n_chunks:
        writer.writerow(protected(one) if isinstance(one, str) else one for one in row)
    head, _, body = as_csv.partition("\n")
    assert head == "name,n,x,is"
    read = list(csv.reader(io.StringIO(body, newline="")))
    assert read == list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert as_json == "".join(
        json.dumps(dict(zip(KINDS, row, strict=True)), ensure_ascii=False) + "\n"
        for row in rows * n_chunks
    )


def test_a_value_is_written_once_however_often_it_stands_there() -> None:
    asked: list[str] = []

    def write(value: str) -> str:
        asked.append(value)
        return value.upper()

    column = pa.chunked_array([["a", "b", "a"], ["b", "a"]]).dictionary_encode()
    assert b"".join(lines(["<", Cells(column, write), ">"])) == b"<A><B><A><B><A>"
    assert asked == ["a", "b"]


@pytest.mark.parametrize("rows", [[], [("a", 1, 0.5, True)], [("a", 1, 0.5, True)] * 3])
def test_a_list_of_json_is_json_with_an_entry_a_line(rows: list[tuple[Any, ...]]) -> None:
    table = table_of(rows)
    parts: list[str | Cells] = ['{"name": ', Cells(table["name"], json_value), "}"]
    text = b"".join(json_list(parts, begin='{"all": ', end="}")).decode()
    assert json.loads(text) == {"all": [{"name": "a"}] * len(rows)}
    assert text.count("\n") == len(rows) + 2 if rows else 1

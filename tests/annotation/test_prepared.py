"""Rows as columns: the same cells, of every kind, and no null taken for a number."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

from annotation.queries.prepared import columns_of, numbered, prepared_cursor, rows_of

pytestmark = pytest.mark.django_db
KINDS = {"id": ">i8", "small": ">i2", "number": ">i4", "score": ">f8", "is_odd": "?"}
ROWS = """
select n * 10000000000::bigint, (n - 3)::smallint, -n::int, n / 7.0::double precision, n % 2 = 1
from generate_series(1, %s) n
"""


@pytest.mark.parametrize("n", [0, 1, 5000])
def test_columns_are_the_rows_of_a_statement(n: int) -> None:
    columns = columns_of(ROWS.replace("% 2", "%% 2"), KINDS, n)
    rows = rows_of(ROWS.replace("% 2", "%% 2"), n)
    assert list(columns) == list(KINDS)
    found = zip(*(column.tolist() for column in columns.values()), strict=True)
    assert sorted(found) == sorted(rows)
    assert all(column.dtype.isnative for column in columns.values())
    assert columns["id"].dtype == np.int64


def test_a_null_is_refused_by_its_column() -> None:
    statement = "select n, nullif(n, 3) from generate_series(1, 5) n where n < %s"
    with pytest.raises(ValueError, match="1 of the 4 cells of second are null"):
        columns_of(statement, {"first": ">i4", "second": ">i4"}, 5)


def test_named_parameters_are_numbered_once_each() -> None:
    statement, names = numbered("select %(one)s::int - %(other)s::int + %(one)s::int * 100")
    assert names == ("one", "other")
    assert "%" not in statement
    with prepared_cursor(psycopg.RawCursor) as cursor:
        cursor.execute(statement, [{"one": 7, "other": 2}[name] for name in names])
        assert cursor.fetchall() == [(705,)]

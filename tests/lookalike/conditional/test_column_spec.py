"""Columns as people write them."""

import pytest

from lookalike.conditional.builders.catalog_rows import Column
from lookalike.conditional.column_spec import parse_column, parse_columns, parse_where


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("colour", Column("colour")),
        ("  neck line ", Column("neck line")),
        ("material sep=; text=fabric", Column("material", separator=";", text="fabric")),
        ("category path=/", Column("category", path_separator="/")),
        ("c unknown=bk,gr incomplete", Column("c", None, False, unknown=frozenset({"bk", "gr"}))),
    ],
)
def test_a_line_is_read_as_a_column(text, column):
    assert parse_column(text) == column


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is no column"),
        ("sep=;", "is no column"),
        ("colour sepp=;", "is no column"),
        ("colour sep=; sep=,", "says sep twice"),
    ],
)
def test_what_is_no_column_is_named(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse_column(text)


def test_a_column_is_named_once():
    assert [column.name for column in parse_columns(["a", "", "b sep=;"])] == ["a", "b"]
    with pytest.raises(ValueError, match="'a' is named twice"):
        parse_columns(["a", "a sep=;"])


def test_wanted_values_are_read_by_column():
    texts = ["condition=colour", " ", "worker=a=b", " kind= "]
    assert parse_where(texts) == {"condition": "colour", "worker": "a=b", "kind": ""}
    for text in ("colour", "=red"):
        with pytest.raises(ValueError, match=f"'{text}' is not of the form COLUMN=VALUE"):
            parse_where([text])

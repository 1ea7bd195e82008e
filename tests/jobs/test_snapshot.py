"""Columns by COPY are the rows of the database, whatever text they hold."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pytest

from catalog.models import Catalog
from jobs.work import snapshot as module
from jobs.work.snapshot import snapshot

NAMES = ["plain", "", 'quo"te', "a,b", "two\nlines", "t", "NULL", "\\N", "é"]
STATEMENT = """
select id, description, id %% 2 = 0 as is_even, id / 4.0 as share from catalog_catalog
where slug like %s order by id
"""
KINDS = {
    "id": pa.int64(), "description": pa.dictionary(pa.int32(), pa.string()),
    "is_even": pa.bool_(), "share": pa.float64(),
}  # fmt: skip


@pytest.mark.parametrize("block", [1, 2**22])
def test_columns_are_the_rows_of_the_database(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    made = [
        Catalog.objects.create(slug=f"c{n}", name=f"Catalog {n}", description=name)
        for n, name in enumerate(NAMES)
    ]
    with snapshot() as view:
        found = view.columns(STATEMENT, ["c%"], KINDS)
        none = view.columns(STATEMENT, ["nothing%"], KINDS)
    assert found["description"].to_pylist() == NAMES
    assert found["id"].to_pylist() == [one.pk for one in made]
    assert found["is_even"].to_pylist() == [one.pk % 2 == 0 for one in made]
    assert found["share"].to_pylist() == [one.pk / 4 for one in made]
    assert none.num_rows == 0
    assert none.schema.names == list(KINDS)


class Named(NamedTuple):
    name: str
    slug: str


def test_rows_are_named_and_their_names_are_those_of_the_statement(
    transactional_db: None,
) -> None:
    Catalog.objects.create(slug="c", name="Catalog")
    with snapshot() as view:
        assert view.rows(Named, "select name, slug from catalog_catalog", []) == [
            Named(name="Catalog", slug="c")
        ]
        with pytest.raises(TypeError, match="not of"):
            view.rows(Named, "select slug, name from catalog_catalog", [])

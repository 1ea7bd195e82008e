"""docs/formats.md says what the code says, file by file and column by column."""

from __future__ import annotations

import re

from lookalike.release.format.columns import GRADE
from lookalike.release.format.layout import ALL_TABLES, FILES, RUN_COLUMNS, SCHEMA_VERSION
from tests.paths import ROOT

TEXT = (ROOT / "docs/formats.md").read_text()


def section(title: str) -> str:
    """The part of the document under a heading."""
    return re.split(r"^#{2,3} ", TEXT.split(f"\n### {title}\n")[1], flags=re.MULTILINE)[0]


def test_every_file_is_described_in_the_words_of_the_code() -> None:
    described = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", TEXT.split("## Tables")[0], re.M))
    assert described == FILES


def test_every_column_is_described_in_the_words_of_the_code() -> None:
    tables = {table.path: table.columns for table in ALL_TABLES.values()}
    for path, columns in {**tables, "runs/MODEL.parquet": RUN_COLUMNS}.items():
        rows = re.findall(r"^\| `([^`]+)` \| (\w+) \| (.+) \|$", section(path), re.M)
        assert rows == [(one.name, one.kind, one.about) for one in columns], path


def test_tables_keys_and_the_schema_version_are_named() -> None:
    assert f"schema version is {SCHEMA_VERSION};" in TEXT
    for table in ALL_TABLES.values():
        part = section(table.path)
        assert table.about in part
        assert (GRADE.about in part) == table.may_be_graded
        assert "Key: " + ", ".join(f"`{name}`" for name in table.key) in part
        assert ("Frozen" if table.is_primary else "Derived") in part

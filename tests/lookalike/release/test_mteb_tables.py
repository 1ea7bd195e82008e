"""The tables for MTEB cannot say or show anything else than the release does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.release.verify import verify
from tests.lookalike.release.derived import derive_again, seal

CORPUS = "mteb/corpus.parquet"
Rows = list[dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return derive_again(tmp_path / "small")


def exchanged(rows: Rows) -> None:
    rows[0]["image"], rows[1]["image"] = rows[1]["image"], rows[0]["image"]


def one_byte(rows: Rows) -> None:
    picture = bytearray(rows[3]["image"]["bytes"])
    picture[-1] ^= 1
    rows[3]["image"]["bytes"] = bytes(picture)


def no_picture(rows: Rows) -> None:
    rows[2]["image"] = None


def left_out(rows: Rows) -> None:
    del rows[4]


def other_product(rows: Rows) -> None:
    rows[5]["product_id"] = ""


@pytest.mark.parametrize(
    "forge", [exchanged, one_byte, no_picture, left_out, other_product], ids=lambda f: f.__name__
)
def test_what_is_forged_under_a_fitting_manifest_is_named(
    folder: Path, forge: Callable[[Rows], None]
) -> None:
    table = pq.read_table(folder / CORPUS)
    rows = table.to_pylist()
    forge(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), folder / CORPUS)
    seal(folder)
    assert [finding.path for finding in verify(folder).findings] == [CORPUS]


def test_pictures_that_were_taken_out_of_the_table_are_missed(folder: Path) -> None:
    table = pq.read_table(folder / CORPUS)
    pq.write_table(table.drop_columns(["image"]), folder / CORPUS)
    seal(folder)
    [finding] = verify(folder).findings
    assert (finding.path, finding.reason) == (CORPUS, "has other columns than the data give")

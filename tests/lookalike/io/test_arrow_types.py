"""Ids and scores of every Arrow type are read as what they mean."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.io.column_table import ColumnTable
from lookalike.io.runs import read_run
from lookalike.io.vectors import read_vectors

IDS = {
    "binary": pa.array([b"a", b"b"]),
    "large_binary": pa.array([b"a", b"b"], pa.large_binary()),
    "string_view": pa.array(["a", "b"], pa.string_view()),
    "large_string": pa.array(["a", "b"], pa.large_string()),
    "dictionary": pa.array(["a", "b"]).dictionary_encode(),
    "dictionary of bytes": pa.array([b"a", b"b"]).dictionary_encode(),
}
SCORES = {
    "decimal": pa.array([Decimal("0.5"), Decimal("0.25")]),
    "float16": pa.array([0.5, 0.25], pa.float16()),
    "float32": pa.array([0.5, 0.25], pa.float32()),
    "text": pa.array(["0.5", "0.25"]),
}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("scores", SCORES)
def test_a_run_is_the_same_in_every_type(tmp_path: Path, ids: str, scores: str):
    columns = {"query": IDS[ids], "candidate": ["b", "a"], "score": SCORES[scores]}
    pq.write_table(pa.table(columns), tmp_path / "run.parquet")
    found = read_run(tmp_path / "run.parquet")
    assert found.by_query() == {"a": {"b": 0.5}, "b": {"a": 0.25}}


@pytest.mark.parametrize("ids", IDS)
def test_columns_of_votes_are_text(tmp_path: Path, ids: str):
    pq.write_table(pa.table({"item": IDS[ids], "label": [1, 0]}), tmp_path / "v.parquet")
    rows = [cells for _, cells in ColumnTable(tmp_path / "v.parquet", ("item", "label"))]
    assert rows == [("a", "1"), ("b", "0")]


def test_whole_decimals_are_whole_numbers(tmp_path: Path):
    ids = pa.array([Decimal(7), Decimal(8)], pa.decimal128(10, 0))
    pq.write_table(pa.table({"item": ids, "label": ["x", "y"]}), tmp_path / "v.parquet")
    rows = [cells for _, cells in ColumnTable(tmp_path / "v.parquet", ("item", "label"))]
    assert rows == [("7", "x"), ("8", "y")]


@pytest.mark.parametrize("ids", IDS)
def test_ids_of_vectors_are_text(tmp_path: Path, ids: str):
    vectors = pa.array([[1.0, 0.0], [0.0, 1.0]], pa.list_(pa.float32(), 2))
    pq.write_table(pa.table({"id": IDS[ids], "vector": vectors}), tmp_path / "v.parquet")
    assert list(read_vectors(tmp_path / "v.parquet").ids) == ["a", "b"]


@pytest.mark.parametrize(("case", "scores"), [("dec", [0.5, 0.6]), ("bin", [0.5, 0.1])])
def test_the_runs_of_the_field_are_read(shared_data: Path, case: str, scores: list[float]):
    run = read_run(shared_data / f"field_cases/HAND_parquet_types/{case}.parquet")
    assert run.scores.tolist() == scores
    assert set(run.query_ids) <= {"a", "b"}

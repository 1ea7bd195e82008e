"""Values that spreadsheets and data frames ruined in products, classes, runs, labels and truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as lk
from lookalike.agreement.votes import read_truth
from lookalike.bias.evidence.files import read_attribute
from lookalike.cli.main import main
from lookalike.io.errors import FormatError, InputError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.runs import read_run
from lookalike.io.vote_options import VoteOptions

DAMAGE = {
    "no value": ["nan", "shirts"],
    "Excel's own": ["#N/A", "shirts"],
    "an error": ["#REF!", "shirts"],
    "shortened": ["1E+05", "7"],
    "zeros lost": ["007", "7"],
    "case": ["Shirts", "shirts"],
    "two forms of a number": ["1,5", "1.5"],
}
damaged = pytest.mark.parametrize("values", DAMAGE.values(), ids=DAMAGE)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@damaged
@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("path;product_id", read_products),
        ("path;colour", lambda path: read_attribute(path, "colour")),
        ("item;truth", read_truth),
    ],
    ids=["products", "attributes", "truth"],
)
def test_what_merges_or_splits_groups_is_refused_with_its_row(
    values: list[str], header: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    if header.startswith("item") and values == DAMAGE["shortened"]:
        values = ["1,5", "2"]  # a label of 1E+05 is the number
    rows = [f"{n}.jpg;{value}" for n, value in enumerate(values)]
    path = written(tmp_path / "x.csv", "\n".join([header, *rows]) + "\n")
    with pytest.raises(FormatError) as refused:
        read(path)
    assert refused.value.line == 2
    assert values[0] in refused.value.reason


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_equal_products_are_equal_and_empty_ones_unknown(ending: str, tmp_path: Path) -> None:
    path, notes = tmp_path / f"x.{ending}", list[str]()
    products = ["1", "1.0", " 2 ", "", "2\u00a0"]
    names = ["a.jpg", "b.jpg ", "c.jpg", "d.jpg", "7.0"]
    if ending == "csv":
        rows = zip(names, products, strict=True)
        written(path, "path,product_id\n" + "".join(f"{a},{b}\n" for a, b in rows))
    else:
        pq.write_table(pa.table({"path": names, "product_id": products}), path)
    found = read_products(path, notes)
    assert found == {"a.jpg": "1", "b.jpg": "1", "c.jpg": "2", "d.jpg": "", "7": "2"}
    assert len(notes) == 2


def test_products_of_a_float_column_are_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"path": ["a", "b", "c"], "product_id": [1.0, 2.0, None]}), path)
    assert read_products(path) == {"a": "1", "b": "2", "c": ""}


@pytest.mark.parametrize("read", [read_run, read_qrels])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_ids_that_differ_in_spaces_or_decimal_places_are_one(
    read: Callable[[Path], Any], kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"x.{kind}"
    queries, candidates, values = ["7.0", "7", " 7"], ["12.0", "13", "14 "], [1, 0, 1]
    name = "score" if read is read_run else "label"
    if kind == "parquet":
        pq.write_table(pa.table({"query": queries, "candidate": candidates, name: values}), path)
    elif kind == "csv":
        rows = zip(queries, candidates, values, strict=True)
        written(path, f"query,candidate,{name}\n" + "".join(f"{q},{c},{v}\n" for q, c, v in rows))
    else:
        rows = zip(queries, candidates, values, strict=True)
        lines = [json.dumps({"query": q, "candidate": c, name: v}) for q, c, v in rows]
        written(path, "\n".join(lines) + "\n")
    found = read(path)
    assert (found.query_ids, found.candidate_ids) == (("7.0",), ("12.0", "13", "14 "))
    assert found.labels.size == 3 if read is read_qrels else found.scores.size == 3


def test_ids_of_a_data_frame_are_those_of_the_labels(tmp_path: Path) -> None:
    qrels = read_qrels(written(tmp_path / "q.csv", "query,candidate,label\n7,12,1\n7,13,0\n"))
    path = tmp_path / "r.parquet"
    columns = {"query": [7.0, 7.0], "candidate": [12.0, 13.0], "score": [2, 1]}
    pq.write_table(pa.table(columns), path)
    [scored] = lk.score(qrels, read_run(path), complete=True)
    assert scored.coverage.n_scored == 2
    assert scored.outcomes["macro_roc_auc"].value == 1


def test_one_pair_in_two_forms_is_a_repeated_pair(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "query,candidate,score\nq,7,1\nq,7.0,2\n")
    with pytest.raises(FormatError, match="line 3"):
        read_run(path)


def test_ids_that_look_damaged_are_named_with_their_lines(tmp_path: Path) -> None:
    rows = ["007,nan", "7,a.jpg", "q,1E+05", "q,A.jpg"]
    text = "query,candidate,score\n" + "".join(f"{row},1\n" for row in rows)
    notes = read_run(written(tmp_path / "x.csv", text)).notes
    assert len(notes) == 3
    assert all(any(part in note for note in notes) for part in ("'007', '7'", "nan", "1E+05"))
    options = VoteOptions()
    read_qrels(written(tmp_path / "y.csv", text.replace("score", "label")), options=options)
    assert len(options.notes) == 3


def test_scores_with_decimal_commas_are_refused_with_line_and_advice(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "query;candidate;score\nq;a;0,5\nq;b;0,25\n")
    with pytest.raises(FormatError) as refused:
        read_run(path)
    assert refused.value.line == 2


@damaged
def test_classes_refuses_damage_in_the_columns_it_scores_alone(
    values: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = np.array([f"{n}.jpg" for n in range(8)])
    np.savez(tmp_path / "v.npz", ids=ids, vectors=np.eye(8, dtype=np.float32))
    rows = [f"{name};{'red' if n % 2 else 'blue'};{values[n % 2]}" for n, name in enumerate(ids)]
    metadata = written(tmp_path / "m.csv", "path;colour;kind\n" + "\n".join(rows) + "\n")
    command = ["classes", str(tmp_path / "v.npz"), "--metadata", str(metadata), "--starts", "0"]
    assert main([*command, "--label", "colour"]) == 0
    capsys.readouterr()
    if values == ["1,5", "1.5"]:
        return  # a column of numbers with decimal commas is read, with a note
    assert main([*command, "--label", "kind"]) == 2
    message = capsys.readouterr().err
    assert "m.csv" in message
    assert "row" in message


def test_identity_takes_products_and_vectors_of_a_data_frame(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = np.array(["1", "2", "3", "4"])
    vectors = np.eye(4, dtype=np.float32)
    np.savez(tmp_path / "v.npz", ids=ids, vectors=vectors)
    rows = "1.0,10.0\n2.0,10\n3.0, 11\n4.0,11.0 \n"
    metadata = written(tmp_path / "m.csv", "path,product_id\n" + rows)
    assert main(["identity", str(tmp_path / "v.npz"), "--metadata", str(metadata), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert {of["n_defined"] for of in row["measures"].values()} == {4}
    metadata.write_text("path,product_id\n1,A\n2,a\n")
    assert main(["identity", str(tmp_path / "v.npz"), "--metadata", str(metadata)]) == 2


def test_an_error_is_an_input_error() -> None:
    assert issubclass(FormatError, InputError)

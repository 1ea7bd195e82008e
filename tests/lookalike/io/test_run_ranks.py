"""Distances, ranks and exact depths in the files of runs."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as lk
from lookalike.cli.main import main

ROWS = [(f"q{q}", f"c{c:02}", c + 1, 0.25 + c / 8) for q in range(12) for c in range(10)]
LABELS = [(q, c, int(rank < 4)) for q, c, rank, _ in ROWS if rank < 8]


def write(path, rows, kind):
    """Write a run: scores that rise from rank to rank are distances."""
    if kind == "trec":
        lines = [f"{q} Q0 {c} {rank} {score} run" for q, c, rank, score in rows]
        path.write_text("\n".join(lines) + "\n")
    elif kind == "csv":
        lines = [f"{q},{c},{'' if rank is None else rank},{score}" for q, c, rank, score in rows]
        path.write_text("query,candidate,rank,score\n" + "\n".join(lines) + "\n")
    elif kind == "jsonl":
        keys = ("query", "candidate", "rank", "score")
        path.write_text(
            "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows)
        )
    else:
        keys = ("query", "candidate", "rank", "score")
        pq.write_table(pa.table(dict(zip(keys, zip(*rows, strict=True), strict=True))), path)
    return path


KINDS = ("trec", "csv", "jsonl", "parquet")


@pytest.mark.parametrize("kind", KINDS)
def test_scores_that_contradict_the_ranks_are_warned_of(tmp_path, kind):
    run = lk.read_run(write(tmp_path / f"run.{kind}", ROWS, kind))
    assert any("WARNING" in note for note in run.notes)
    turned = [(q, c, rank, -score) for q, c, rank, score in ROWS]
    assert not lk.read_run(write(tmp_path / f"turned.{kind}", turned, kind)).notes


@pytest.mark.parametrize("kind", KINDS)
def test_where_lower_is_better_distances_are_ranked_as_the_file_ranks_them(tmp_path, kind):
    path = write(tmp_path / f"run.{kind}", ROWS, kind)
    run = lk.read_run(path, lower_is_better=True)
    assert not run.notes
    [scored] = lk.score(lk.Qrels.of(LABELS), run, ["macro_roc_auc", "P@3"])
    assert scored.outcomes["macro_roc_auc"].value == 1.0
    assert scored.outcomes["P@3"].value == 1.0


def test_ranks_that_are_all_alike_say_nothing(tmp_path):
    same = [(q, c, 0, score) for q, c, _, score in ROWS]
    assert not lk.read_run(write(tmp_path / "run.txt", same, "trec")).notes


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_pair_without_a_rank_stands_below_the_exact_depth(tmp_path, kind):
    rows = [(q, c, rank if rank <= 5 else None, -score) for q, c, rank, score in ROWS]
    run = lk.read_run(write(tmp_path / f"run.{kind}", rows, kind))
    assert run.depth == 5
    [scored] = lk.score(lk.Qrels.of(LABELS), run, ["P@5", "P@6", "macro_roc_auc"])
    assert scored.outcomes["P@5"].value == pytest.approx(0.6)
    assert math.isnan(scored.outcomes["P@6"].value)
    assert scored.outcomes["macro_roc_auc"].value == 1.0


def test_a_parquet_file_states_its_depth_in_its_metadata(tmp_path):
    table = pa.table({"query": ["q", "q"], "candidate": ["a", "b"], "score": [1.5, 0.5]})
    for depth, expected in ((b"1", 1), (None, None)):
        metadata = None if depth is None else {b"exact_depth": depth}
        pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "run.parquet")
        assert lk.read_run(tmp_path / "run.parquet").depth == expected
    pq.write_table(table.replace_schema_metadata({b"exact_depth": b"-3"}), tmp_path / "bad.parquet")
    with pytest.raises(lk.InputError, match="exact depth"):
        lk.read_run(tmp_path / "bad.parquet")


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "run.csv", ROWS, "csv")
    text = "".join(f"{q},{c},{label}\n" for q, c, label in LABELS)
    (tmp_path / "labels.csv").write_text("query,candidate,label\n" + text)
    return ["--qrels", str(tmp_path / "labels.csv"), "--run", str(tmp_path / "run.csv")]


def test_the_command_warns_of_distances_and_takes_them_when_told(files, capsys):
    assert main(["score", *files, "--measures", "P@3"]) == 0
    assert "WARNING" in capsys.readouterr().err
    assert main(["score", *files, "--measures", "P@3", "--lower-is-better", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "WARNING" not in err
    assert json.loads(out)["runs"][0]["measures"]["P@3"]["value"] == 1.0


def test_the_command_takes_the_exact_depth(files, capsys):
    options = ["--measures", "P@3,P@5", "--lower-is-better", "--depth", "4", "--json"]
    assert main(["score", *files, *options]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert run["depth"] == 4
    assert run["measures"]["P@3"]["value"] == 1.0
    assert run["measures"]["P@5"]["value"] is None
    assert run["measures"]["P@5"]["reason"]


def test_positives_below_negatives_are_warned_of_without_a_column_of_ranks():
    run = lk.Run.of("distances", [(q, c, score) for q, c, _, score in ROWS])
    [scored] = lk.score(lk.Qrels.of(LABELS), run, ["P@3"])
    assert any("ROC-AUC" in note for note in scored.notes)
    rng = np.random.default_rng(0)
    chance = lk.Run.of("chance", [(q, c, rng.random()) for q, c, _, _ in ROWS])
    [scored] = lk.score(lk.Qrels.of(LABELS), chance, ["P@3"])
    assert not scored.notes

"""`lookalike classes` and `identity`: measures from vectors and a table of labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.metrics.classes import class_retrieval

N = 24


@pytest.fixture
def vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Photos of eight products by two models, with metadata and labels of similarity."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    found = rng.normal(size=(N, 6)).astype(np.float32) + 2 * np.repeat(np.eye(8, 6), 3, axis=0)
    found = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    names = [f"{row}.jpg" for row in range(N)]
    np.savez("m.npz", ids=np.array(names), vectors=found)
    np.savez("noise.npz", ids=np.array(names), vectors=rng.normal(size=(N, 6)).astype(np.float32))
    lines = [f"{name},p{row // 3},{'abc'[row % 3]},same" for row, name in enumerate(names)]
    Path("m.csv").write_text("\n".join(["path,product_id,kind,all", *lines]))
    Path("plain.csv").write_text(
        "\n".join(["path,kind", *(f"{n},{i % 2}" for i, n in enumerate(names))])
    )
    labels = [
        f"{q}.jpg 0 {c}.jpg {int((q + c) % 2)}" for q in range(0, N, 3) for c in range(N) if q != c
    ]
    Path("labels.txt").write_text("\n".join(labels) + "\n")
    return found


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_column_that_divides_is_scored_and_products_too(vectors, capsys):
    found = printed(capsys, "classes", "m.npz", "--metadata", "m.csv")
    assert [one["column"] for one in found["columns"]] == ["kind", "product_id"]
    products = np.arange(N) // 3
    means = class_retrieval(vectors, products).means()
    for name, (value, n) in means.items():
        told = found["columns"][1]["measures"][name]
        assert (told["value"], told["n_defined"]) == (pytest.approx(value, abs=1e-6), n)
    [one] = printed(capsys, "classes", "m.npz", "--metadata", "plain.csv", "--label", "kind",
                    "--starts", "0")["columns"]  # fmt: skip
    assert one["clusters"] == {}
    assert one["n_classes"] == 2


def test_identity_is_what_sklearn_like_loops_say_and_similarity_what_score_says(vectors, capsys):
    rows = printed(capsys, "identity", "m.npz", "noise.npz", "--metadata", "m.csv",
                   "--qrels", "labels.txt")["rows"]  # fmt: skip
    assert [(row["model"], row["task"]) for row in rows] == [
        (model, task) for model in ("m", "noise") for task in ("identity", "similarity")
    ]
    cosines = vectors @ vectors.T
    hits, reciprocal = [], []
    found: dict[int, list[bool]] = {1: [], 5: [], 9: []}
    for query in range(N):
        order = [c for c in np.argsort(-cosines[query], kind="stable") if c != query]
        same = [c // 3 == query // 3 for c in order]
        hits.append(sum(same[:5]) / 5)
        reciprocal.append(sum(hit / rank for rank, hit in enumerate(same[:9], 1)))
        for k, queries in found.items():
            queries.append(any(same[:k]))
    harmonic = sum(1 / rank for rank in range(1, 10))
    told = rows[0]["measures"]
    assert told["vsd_hr@5"]["value"] == pytest.approx(np.mean(hits), abs=1e-9)
    assert told["vsd_mrr@9"]["value"] == pytest.approx(np.mean(reciprocal) / harmonic, abs=1e-9)
    for k, queries in found.items():
        assert told[f"Success@{k}"]["value"] == pytest.approx(np.mean(queries), abs=1e-9)
    assert told["vsd_hr@5"]["n_defined"] == N
    interval = told["vsd_hr@5"]["interval"]  # of eight products
    assert (interval["low"], interval["high"]) == (None, None)
    assert rows[0]["measures"]["vsd_hr@5"]["value"] > rows[2]["measures"]["vsd_hr@5"]["value"]
    scored = printed(capsys, "score", "--qrels", "labels.txt", "--run", "m.npz", "--metadata",
                     "m.csv", "--measures", "vsd_hr@5,vsd_mrr@9", "--complete")  # fmt: skip
    for name, value in scored["runs"][0]["measures"].items():
        assert rows[1]["measures"][name]["value"] == pytest.approx(value["value"], abs=1e-12)


def test_a_model_that_knows_each_product_has_success_of_one_and_fewer_hits_by_places(
    tmp_path, capsys
):
    products = np.repeat(np.arange(40), 3)
    noise = np.random.default_rng(0).normal(0, 0.01, (120, 40))
    ids = np.array([f"{n}.jpg" for n in range(120)])
    np.savez(tmp_path / "id.npz", ids=ids, vectors=(np.eye(40)[products] + noise).astype("f4"))
    rows = "".join(f"{n}.jpg,p{product}\n" for n, product in enumerate(products))
    (tmp_path / "m.csv").write_text(f"path,product_id\n{rows}")
    report = printed(
        capsys, "identity", str(tmp_path / "id.npz"), "--metadata", str(tmp_path / "m.csv")
    )
    measures = {name: one["value"] for name, one in report["rows"][0]["measures"].items()}
    assert measures["Success@5"] == measures["Success@9"] == 1
    assert measures["vsd_hr@5"] == pytest.approx(2 / 5)
    assert measures["vsd_hr@9"] == pytest.approx(2 / 9)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("classes m.npz --metadata m.csv --label kinds", "no image has 'kinds'"),
        ("classes m.npz --metadata m.csv --label all", "fewer than two values"),
        ("classes m.npz --metadata m.csv --starts -1", "--starts"),
        ("classes m.npz --metadata m.csv --clusters 99", "--clusters 99 of 24 images"),
        ("classes m.npz --metadata short.csv", "no row for '1.jpg' (23 are missing)"),
        ("classes m.npz --metadata none.csv", "none.csv"),
        ("classes m.csv --metadata m.csv", "not a .npy, .npz or parquet file"),
        ("classes twice.npz --metadata m.csv", "names an image twice"),
        ("identity m.npz --metadata lone.csv", "no product has two photos"),
        ("identity m.npz --metadata other.csv", "knows the product of none of the images"),
        ("identity twice.npz --metadata m.csv", "names an image twice"),
        ("identity m.npz --metadata m.csv --qrels strange.txt", "none of their queries"),
    ],
)
def test_bad_input_is_one_line_that_says_why(words, reason, vectors, capsys):
    np.savez("twice.npz", ids=np.array(["0.jpg", "0.jpg"]), vectors=vectors[:2])
    Path("short.csv").write_text("path,kind\n0.jpg,a\n")
    Path("lone.csv").write_text("path,product_id\n0.jpg,a\n1.jpg,b\n")
    Path("other.csv").write_text("path,product_id\nx.jpg,a\ny.jpg,a\n")
    Path("strange.txt").write_text("u 0 v 1\nu 0 w 0\n")
    assert main(words.split()) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert told.count("\n") == 1
    assert reason in told

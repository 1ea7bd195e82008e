"""What cannot be scored on a release is refused in one line: file, place, reason, what is right."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as lk
from lookalike.cli.main import main
from tests.paths import GOLDEN_RELEASES

SOURCE = GOLDEN_RELEASES / "small-1.0.0.zip"
MODEL = "descriptor-hog-shape"
RELEASE = lk.open_release(SOURCE)
SCORES = (RELEASE.path / f"runs/{MODEL}.parquet").read_bytes()
A, B, C = RELEASE.image_ids[:3]
HEAD = "query,candidate,score\n"
ROWS = np.eye(3, 4, dtype=np.float32)
TWO = sorted(RELEASE.run(MODEL).by_query().items())[:2]


def npz(ids: Sequence[str], vectors: np.ndarray, name: str = "vectors") -> bytes:
    file = io.BytesIO()
    arrays: dict[str, Any] = {"ids": np.array(ids), name: vectors}
    np.savez(file, **arrays)
    return file.getvalue()


def csv(*rows: object) -> bytes:
    return (HEAD + "".join(f"{row}\n" for row in rows)).encode()


BAD = [
    ("head.csv", b"a,b\n1,2\n", ", line 1: the columns are 'a,b'; needed: query,candidate,score"),
    ("nan.csv", csv(f"{A},{B},nan"), ", line 2: score 'nan' is not finite"),
    ("word.csv", csv(f"{A},{B},1", f"{A},{C},high"), ", line 3: score 'high' is not a number"),
    (
        "who.csv",
        csv(f"{A},{B},1", f"{A},x,1"),
        ", line 3: 'x' is no image of small 1.0.0",
    ),
    (
        "twice.csv",
        csv(f"{A},{B},1", f"{A},{B},2"),
        f", line 3: the pair '{A}', '{B}' was scored before, in line 2",
    ),
    ("cut.csv", csv(f"{A},{B},1", f"{A},{B}"), ", line 3: 2 cells where the header names 3"),
    ("empty.csv", b"", ", line 1: the file is empty"),
    ("head-alone.csv", csv(), ": the file holds no pairs"),
    ("binary.csv", bytes(range(256)), ", line 2: byte 0x80 is not UTF-8"),
    ("words.json", b"{}", ", line 1: the file is not a JSON array of entries"),
    ("cut.parquet", SCORES[:-100], ": not readable as parquet"),
    ("packed.csv", gzip.compress(csv()), ": it is packed by gzip; unpack it"),
    ("no.csv.gz", csv(), " is not readable as gzip"),
    ("cut.csv.gz", gzip.compress(csv(f"{A},{B},1"))[:-9], " is not readable as gzip"),
    ("who.npz", npz([A, "x", B], ROWS), ", row 2: 'x' is no image of small 1.0.0"),
    ("nan.npz", npz([A, B, C], ROWS * [1, np.nan, 1, 1]), ", row 1: the vector holds NaN"),
    ("twice.npz", npz([A, B, A], ROWS), f", row 3: '{A}' has another vector in row 1"),
    ("other.npz", npz([A], ROWS, "arr"), "it holds ids, arr; needed: the arrays ids and vectors"),
    ("number.npz", npz([A, B], ROWS), ": 2 ids for 3 vectors"),
    ("long.npz", npz([A, B, C], ROWS * 1e25), ", row 1: the vector is too long or too short for"),
    ("short.npz", npz([A, B, C], ROWS * 1e-25), ", row 1: the vector is too long or too short for"),
    ("cut.npz", npz([A, B, C], ROWS)[:-50], ": not readable"),
    ("bare.npy", b"\x93NUMPY", ": A .npy holds no names of images. Give a .npz"),
    (
        "two.csv",
        csv(*(f"{query},{c},{s!r}" for query, of in TWO for c, s in of.items())),
        "no score for 45 of 61 pairs put to the judges (first: query ",
    ),
]


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([str(word) for word in words]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize(("name", "content", "expected"), BAD, ids=[name for name, *_ in BAD])
def test_a_run_that_cannot_be_scored_is_refused(
    name: str,
    content: bytes,
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    said = refused(capsys, "score", "--release", SOURCE, "--run", path)
    assert said.startswith(f"error: {path}")
    assert expected in said
    if path.suffix != ".gz":
        with pytest.raises(lk.InputError) as problem:
            RELEASE.score(path)
        assert str(problem.value) in said


def test_queries_that_a_run_leaves_out_count_as_the_worst_never_as_absent() -> None:
    scores = [(query, c, s) for query, of in TWO for c, s in of.items()]
    run = lk.Run.of("two", scores)
    [two] = RELEASE.score(run, ["P@5", "macro_roc_auc"], missing="worst")
    [whole] = RELEASE.score(RELEASE.run(MODEL), ["P@5", "macro_roc_auc"])
    for name, outcome in two.outcomes.items():
        assert outcome.n_defined == whole.outcomes[name].n_defined
    assert two.outcomes["P@5"].value < whole.outcomes["P@5"].value


def test_a_run_of_other_queries_than_the_labels_is_refused_whatever_missing_scores_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything would be zero, or chance."""
    run, labels = tmp_path / "run.csv", tmp_path / "labels.csv"
    run.write_bytes(csv("a,b,1"))
    labels.write_text("query,candidate,label\nq,b,1\n")
    said = refused(capsys, "score", "--qrels", labels, "--run", run, "--missing", "worst")
    wanted = "run 'run' scores none of the queries of the labels (these have 'q', the run 'a')"
    assert wanted in said
    with pytest.raises(lk.InputError) as problem:
        lk.score(lk.read_qrels(labels), lk.read_run(run), missing="worst")
    assert str(problem.value) == wanted


@pytest.mark.parametrize("option", ["--trec", "--mode=product", "--min-rel=2"])
def test_what_contradicts_a_release_is_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "score", "--release", SOURCE, "--run", tmp_path / "absent", option)
    assert f"{option.partition('=')[0]} does not go with --release" in said

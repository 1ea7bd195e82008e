"""One reader of vectors: every format gives the same ids and numbers, bad files name their row."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

import lookalike as lk
from lookalike.io.errors import FormatError
from lookalike.io.runs import read_run
from lookalike.io.vectors import holds_vectors, read_vectors

IDS = ["a/1.jpg", "b.jpg", "c.jpg"]
ROWS = np.array([[1, 2], [3, 4.5], [-5, 0.25]], np.float32)
Writer = Callable[[Path], None]


def table(**columns: Any) -> Writer:
    return lambda path: pq.write_table(pa.table(columns), path)


def lines(*objects: object) -> Writer:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in objects]
    return packed(lambda content: content.write("\n".join([*texts, ""]).encode()))


def packed(save: Callable[[BytesIO], object]) -> Writer:
    def write(path: Path) -> None:
        content = BytesIO()
        save(content)
        path.write_bytes(content.getvalue())

    return write


def npz(**arrays: Any) -> Writer:
    return packed(lambda content: np.savez(content, **arrays))


def tensors(**arrays: NDArray[np.generic]) -> Writer:
    return lambda path: save_file(arrays, path)


FORMATS: dict[str, Writer] = {
    "npz": npz(ids=np.array(IDS), vectors=ROWS),
    "npz with other names": npz(Paths=np.array(IDS), Embeddings=ROWS),
    "npz keyed by id": npz(**dict(zip(IDS, ROWS, strict=True))),
    "parquet": table(id=IDS, vector=ROWS.tolist()),
    "parquet path, embedding": table(path=IDS, embedding=ROWS.tolist(), n=[1, 2, 3]),
    "parquet image_id, vector": table(image_id=IDS, vector=ROWS.astype(np.float64).tolist()),
    "JSON lines": lines(*({"id": i, "vector": v.tolist()} for i, v in zip(IDS, ROWS, strict=True))),
    "JSON lines of paths": lines(
        *({"path": i, "embedding": v.tolist()} for i, v in zip(IDS, ROWS, strict=True))
    ),
    "safetensors": tensors(**dict(zip(IDS, ROWS, strict=True))),
}


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS.keys())
def test_every_format_gives_the_same_ids_and_vectors(write: Writer, tmp_path: Path) -> None:
    write(tmp_path / "v.bin")
    assert holds_vectors(tmp_path / "v.bin")
    found = read_vectors(tmp_path / "v.bin")
    order = [found.ids.index(name) for name in IDS]
    assert len(found.ids) == 3
    np.testing.assert_array_equal(found.vectors[order], ROWS)
    assert found.vectors.dtype == np.float32


@pytest.mark.parametrize("write", [
    packed(lambda content: np.save(content, ROWS)), npz(vectors=ROWS), tensors(embeddings=ROWS),
])  # fmt: skip
def test_vectors_without_ids_take_them_from_a_file(write: Writer, tmp_path: Path) -> None:
    write(tmp_path / "v")
    (tmp_path / "ids.txt").write_text("\n".join(IDS) + "\n", encoding="utf-8")
    assert holds_vectors(tmp_path / "v")
    assert read_vectors(tmp_path / "v", tmp_path / "ids.txt").ids == IDS
    with pytest.raises(FormatError, match="--ids"):
        read_vectors(tmp_path / "v")


A, B = {"id": "a", "vector": [1.0, 2.0]}, {"id": "b", "vector": [3.0, 4.0]}
HALF = np.array([1, 2], np.float32)


@pytest.mark.parametrize(("write", "line", "reason"), [
    (lines(A, {"id": "b", "vector": [1.0]}), 2, "1 numbers where the first vector has 2"),
    (lines(A, {"id": "b", "vector": ["x", 1]}), 2, "'x', no number"),
    (lines(A, {"id": "b", "vector": [True, 1]}), 2, "no number"),
    (lines(A, {"id": "b", "vector": []}), 2, "no list of numbers"),
    (lines(A, {"id": "", "vector": [1, 2]}), 2, "the id is ''"),
    (lines(A, {"vector": [1, 2]}), 2, "needed: id,vector"),
    (lines(A, [1]), 2, "no JSON object"),
    (lines(A, "{"), 2, "not JSON"),
    (lines(A, {"id": "b", "vector": [float("nan"), 1]}), 2, "NaN"),
    (lines(A, B, {"id": "c", "vector": [0, 0]}), 3, "length 0"),
    (npz(a=HALF, b=np.zeros(3, np.float32)), None, "'b' has 3 numbers where 'a' has 2"),
    (npz(a=HALF, b=np.array(["x"])), None, "'b' is <U1"),
    (npz(a=HALF, b=np.zeros(2, np.float32)), 2, "so no cosine: 'b'"),
    (tensors(a=HALF, b=np.zeros(3, np.float32)), None, "'b' has 3 numbers"),
    (tensors(a=HALF, b=np.array([np.inf, 1], np.float32)), 2, "infinity: 'b'"),
    (tensors(ids=np.arange(2), vectors=ROWS), None, "2 ids for 3 vectors"),
    (table(path=["a", "b"], embedding=[[1.0, 2.0], [3.0]]), 2, "1 numbers where row 1 has 2"),
    (table(path=["a", None], embedding=[[1.0, 2.0], [3.0, 1.0]]), 2, "the id is empty"),
])  # fmt: skip
def test_a_bad_file_names_row_and_reason(
    write: Writer, line: int | None, reason: str, tmp_path: Path
) -> None:
    write(tmp_path / "v")
    with pytest.raises(FormatError) as problem:
        read_vectors(tmp_path / "v")
    assert (problem.value.line, problem.value.file) == (line, str(tmp_path / "v"))
    assert reason in problem.value.reason


def test_a_damaged_safetensors_file_is_refused(tmp_path: Path) -> None:
    tensors(a=HALF, b=HALF)(tmp_path / "v")
    (tmp_path / "v").write_bytes((tmp_path / "v").read_bytes()[:-4])
    with pytest.raises(FormatError, match="not readable as safetensors"):
        read_vectors(tmp_path / "v")


SCORES = np.array([[0.9, 0.5, 0.1], [0.7, 0.2, 0.6]])
INDICES = np.array([[2, 0, 1], [0, 1, 2]])


def test_ranked_lists_of_faiss_are_a_run_that_knows_its_depth(tmp_path: Path) -> None:
    candidates, queries = np.array(["a", "b", "c"]), np.array(["x", "y"])
    npz(I=INDICES, D=SCORES, query_ids=queries, candidate_ids=candidates)(tmp_path / "i.npz")
    run = read_run(tmp_path / "i.npz")
    assert not holds_vectors(tmp_path / "i.npz")
    assert run.by_query() == {
        "x": {"c": 0.9, "a": 0.5, "b": 0.1},
        "y": {"a": 0.7, "b": 0.2, "c": 0.6},
    }
    assert run.depth is None
    npz(I=INDICES[:, :2], D=SCORES[:, :2], query_ids=queries, candidate_ids=candidates)(
        tmp_path / "cut.npz"
    )
    assert read_run(tmp_path / "cut.npz").depth == 2
    some = np.array([[2, 0, -1], [0, 1, 2]])
    npz(I=some, D=SCORES, query_ids=queries, candidate_ids=candidates)(tmp_path / "some.npz")
    found = read_run(tmp_path / "some.npz")
    assert (found.depth, len(found)) == (2, 5)


def test_a_catalog_that_is_asked_for_itself_needs_one_list_of_ids(tmp_path: Path) -> None:
    ids = np.array(["a", "b", "c"])
    matrix = np.array([[np.nan, 0.5, 0.1], [0.5, -np.inf, 0.6], [0.1, 0.6, 1.0]])
    npz(scores=matrix, ids=ids)(tmp_path / "s.npz")
    run = read_run(tmp_path / "s.npz")
    assert run.by_query()["b"] == {"a": 0.5, "c": 0.6}
    assert (len(run), run.depth) == (6, None)
    order = np.argsort(-np.nan_to_num(matrix, nan=2, neginf=2))
    lists = {"I": order, "D": np.take_along_axis(matrix, order, axis=1), "ids": ids}
    lists["I"], lists["D"] = lists["I"][:, 1:], lists["D"][:, 1:]
    npz(**lists)(tmp_path / "i.npz")
    assert (read_run(tmp_path / "i.npz").by_query(), read_run(tmp_path / "i.npz").depth) == (
        run.by_query(),
        None,
    )


@pytest.mark.parametrize(("arrays", "line", "reason"), [
    ({"I": [[9]], "D": [[1.0]]}, 1, "position 9 is none of 3 candidates"),
    ({"I": [[0], [-2]], "D": [[1.0], [1.0]], "query_ids": ["x", "y"]}, 2, "position -2"),
    ({"I": [[0, 0]], "D": [[1.0, 0.5]]}, 1, "was scored before"),
    ({"I": [[0, 1]], "D": [[1.0, np.nan]]}, 1, "score nan is not finite"),
    ({"I": [[0.5]], "D": [[1.0]]}, None, "I must be whole numbers"),
    ({"I": [[0, 1]], "D": [[1.0]]}, None, "of the shape of D"),
    ({"scores": [[1.0, 2.0]]}, None, "3 ids of candidates for 2 columns"),
    ({"scores": [[1, 2, np.inf]]}, 1, "not finite"),
    ({"scores": [[1, 2, 3], [4, 5, 6]]}, None, "1 ids of queries for 2 rows"),
    ({"scores": [1.0, 2.0]}, None, "shape (queries, k)"),
])  # fmt: skip
def test_a_bad_run_of_arrays_names_row_and_reason(
    arrays: dict[str, object], line: int | None, reason: str, tmp_path: Path
) -> None:
    given = {"query_ids": ["x"], "candidate_ids": ["a", "b", "c"], **arrays}
    npz(**{name: np.array(of) for name, of in given.items()})(tmp_path / "r.npz")
    with pytest.raises(FormatError) as problem:
        read_run(tmp_path / "r.npz")
    assert problem.value.line == line
    assert reason in problem.value.reason


def test_distances_of_faiss_are_told_by_their_ranks(tmp_path: Path) -> None:
    ids, queries = np.array(["a", "b", "c"]), np.array(["x", "y"])
    npz(I=INDICES, D=1 - np.sort(SCORES)[:, ::-1], query_ids=queries, candidate_ids=ids)(
        tmp_path / "d.npz"
    )
    assert any("contradict the ranks" in note for note in read_run(tmp_path / "d.npz").notes)
    assert isinstance(read_run(tmp_path / "d.npz", lower_is_better=True), lk.Run)

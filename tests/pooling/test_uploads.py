"""Uploads are checked on arrival: file, row and reason; nothing of a bad one is kept."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.core.errors import Refused
from pooling.sources import upload_files
from pooling.sources.ranking_task import RankingTask
from pooling.sources.upload_files import Arriving, upload_path
from pooling.sources.upload_services import keep_embeddings, keep_ranking
from tests.pooling.cases import npz, upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(pool_of):
    return RankingTask.of(pool_of())


@pytest.fixture
def names(task):
    return list(task.catalog.images.order_by("pk").values_list("sha256", flat=True))


def vectors(n=12):
    return np.random.default_rng(1).normal(size=(n, 4)).astype(np.float32)


def kept_files(data_dir):
    return [path for path in (data_dir / "sources").rglob("*") if path.is_file()]


def changed(row, value):
    array = vectors()
    array[row] = value
    return array


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], object), allow_pickle=True)
    return file.getvalue()


EMBEDDINGS = {
    "nan": (lambda names: npz(names, changed(3, np.nan)), r"v\.npz, row 4: the vector holds NaN"),
    "infinite": (lambda names: npz(names, changed(5, np.inf)), r"v\.npz, row 6: .*an infinity"),
    "zero": (lambda names: npz(names, changed(0, 0)), r"v\.npz, row 1: the vector has length 0"),
    "flat": (lambda names: npz(names, vectors().ravel()), r"v\.npz: vectors must be floats of"),
    "integers": (lambda names: npz(names, np.ones((12, 4), int)), r"must be floats of .*int64"),
    "short": (lambda names: npz(names, vectors(11)), r"v\.npz: 12 ids for 11 vectors"),
    "unknown": (
        lambda names: npz([*names[:-1], "x.jpg"], vectors()),
        r"v\.npz, row 12: 'x\.jpg' is no image of “Shoes”",
    ),
    "twice": (
        lambda names: npz([*names, "photos/002.jpg"], vectors(13)),
        r"v\.npz, row 13: 'photos/002\.jpg' has a vector in row 3 already",
    ),
    "partial": (lambda names: npz(names[2:], vectors(10)), r"v\.npz: 2 images have no vector"),
    "pickled": (lambda names: pickled(), r"v\.npz: a \.npy file has no ids"),
    "empty": (lambda names: b"", r"v\.npz: not a \.npy, \.npz or parquet file"),
    "truncated": (lambda names: npz(names, vectors())[:-30], r"v\.npz: not readable"),
}


@pytest.mark.parametrize("case", EMBEDDINGS)
def test_bad_embeddings_are_refused_with_file_row_and_reason(task, names, data_dir, case):
    content, error = EMBEDDINGS[case]
    with pytest.raises(Refused, match=error) as caught:
        keep_embeddings(name="v", file=upload("v.npz", content(names)), ids=None, task=task)
    assert caught.value.field == "embeddings"
    assert str(data_dir) not in str(caught.value)
    assert kept_files(data_dir) == []


def test_pickled_objects_in_a_npy_and_a_bad_line_of_ids_are_refused(task, names, data_dir):
    ids = "\n".join(names)
    with pytest.raises(Refused, match=r"v\.npy: it holds Python objects"):
        keep_embeddings(
            name="v", file=upload("v.npy", pickled()), ids=upload("i.txt", ids), task=task
        )
    file = io.BytesIO()
    np.save(file, vectors())
    with pytest.raises(Refused, match=r"i\.txt, line 2: the id is empty"):
        keep_embeddings(
            name="v",
            file=upload("v.npy", file.getvalue()),
            ids=upload("i.txt", ids.replace("\n", "\n\n", 1)),
            task=task,
        )
    assert kept_files(data_dir) == []


def test_npy_with_ids_npz_and_parquet_are_kept_by_their_content(task, names):
    plain = io.BytesIO()
    np.save(plain, vectors())
    table = io.BytesIO()
    pq.write_table(pa.table({"id": names, "vector": list(vectors())}), table)
    ids = upload("i.txt", "\n".join(names))
    for name, content, with_ids in (
        ("a.npy", plain.getvalue(), ids), ("b.npz", npz(names, vectors()), None),
        ("c.parquet", table.getvalue(), None),
    ):  # fmt: skip
        kept = keep_embeddings(name="v", file=upload(name, content), ids=with_ids, task=task)
        assert upload_path(kept.sha256).read_bytes() == content
        assert kept.file_name == name
        assert bool(kept.ids_sha256) is (with_ids is not None)


def lines(task, names, change=lambda rows: rows):
    queries = [names[pk] if isinstance(pk, int) and pk < 0 else pk for pk in task.query_ids]
    shas = dict(task.catalog.images.values_list("pk", "sha256"))
    rows = [f"{shas[pk]} Q0 {name} 1 {place / 7} run" for pk in queries
            for place, name in enumerate(names)]  # fmt: skip
    return "\n".join(change(rows)) + "\n"


RANKINGS = {
    "unknown": (lambda rows: [*rows[:4], "x Q0 y 1 1 run"], r"r\.run, line 5: 'x' is no image"),
    "twice": (lambda rows: [*rows, rows[0]], r"r\.run, line 37: .* scored before, in line 1"),
    "not finite": (lambda rows: [rows[0].replace("0.0", "nan")], r"line 1: .*not finite"),
    "not a number": (lambda rows: [rows[0].replace("0.0", "high")], r"line 1: .*not a number"),
    "fields": (lambda rows: [rows[0], "a b"], r"r\.run, line 2: 2 fields where there must be 6"),
    "query missing": (lambda rows: rows[:12], r"r\.run: 2 queries of the pool have no candidate"),
    "empty": (lambda rows: [], r"r\.run, line 1: the file is empty"),
}


@pytest.mark.parametrize("case", RANKINGS)
def test_bad_rankings_are_refused_with_file_line_and_reason(task, names, data_dir, case):
    change, error = RANKINGS[case]
    with pytest.raises(Refused, match=error) as caught:
        keep_ranking(name="r", file=upload("r.run", lines(task, names, change)), task=task)
    assert caught.value.field == "ranking"
    assert kept_files(data_dir) == []


def test_csv_rankings_are_read_too(task, names):
    text = lines(task, names).replace(" Q0", "").replace(" run", "")
    table = "\n".join(",".join([a, b, d]) for a, b, _, d in map(str.split, text.splitlines()))
    content = "query,candidate,score\n" + table
    kept = keep_ranking(name="r", file=upload("r.csv", content), task=task)
    assert kept.spec == "ranking:r"


def test_a_file_that_is_too_large_or_breaks_off_leaves_nothing(task, data_dir, monkeypatch):
    monkeypatch.setattr(upload_files, "MAX_BYTES", 10)
    with pytest.raises(Refused, match=r"v\.npz: larger than"):
        keep_embeddings(name="v", file=upload("v.npz", b"x" * 11), ids=None, task=task)

    def broken():
        yield b"x"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        keep_embeddings(name="v", file=Arriving("v.npz", broken()), ids=None, task=task)
    assert kept_files(data_dir) == []


def test_a_name_with_a_path_in_it_is_no_name(task, names):
    with pytest.raises(Refused, match="no name for an upload"):
        keep_ranking(name="../x", file=upload("r", lines(task, names)), task=task)
    with pytest.raises(ValueError, match="No such upload"):
        upload_path("../../etc/passwd")

"""Data sets of Hugging Face on disk, as its own library writes them, are catalogs."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.images.layouts.hugging_face import HuggingFaceSource, open_hugging_face
from lookalike.images.layouts.read import read_layout
from lookalike.images.sources import SourceError
from tests.pictures import jpeg, png

PICTURES = [jpeg(1), png(2), jpeg(3)]


def written(folder: Path, *, as_arrow: bool) -> Path:
    """Write two splits by the `datasets` library itself."""
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["hat", "dress"]),
            "product_id": datasets.Value("string"),
            "price": datasets.Value("float32"),
            "sizes": datasets.List(datasets.Value("int32")),
        }
    )

    def table(rows: list[int]) -> datasets.Dataset:
        columns = {
            "image": [{"bytes": PICTURES[row], "path": f"{row}.png"} for row in rows],
            "label": [row % 2 for row in rows],
            "product_id": ["P1" if row < 2 else None for row in rows],
            "price": [row / 2 for row in rows],
            "sizes": [[1, 2] for _ in rows],
        }
        return datasets.Dataset.from_dict(columns, features=features)

    splits = datasets.DatasetDict({"train": table([0, 1]), "validation": table([2])})
    if as_arrow:
        splits.save_to_disk(str(folder))
    else:
        for name, split in splits.items():
            (folder / "data").mkdir(parents=True, exist_ok=True)
            split.to_parquet(folder / "data" / f"{name}-00000-of-00001.parquet", batch_size=1)
    return folder


@pytest.mark.parametrize("as_arrow", [False, True])
def test_pictures_and_columns_come_as_the_library_wrote_them(
    tmp_path: Path, as_arrow: bool
) -> None:
    folder = written(tmp_path / "set", as_arrow=as_arrow)
    images = list(read_layout("hugging-face", folder).images.values())
    assert [(image.product_id, dict(image.attributes)) for image in images] == [
        ("P1", {"label": "hat", "price": "0.0", "sizes": "1|2", "split": "train", "file": "0.png"}),
        (
            "P1",
            {"label": "dress", "price": "0.5", "sizes": "1|2", "split": "train", "file": "1.png"},
        ),
        ("", {"label": "hat", "price": "1.0", "sizes": "1|2", "split": "val", "file": "2.png"}),
    ]
    with open_hugging_face(folder) as source:
        assert [source.read(path) for path in source.paths] == PICTURES
        assert source.problems == []
        assert [Path(path).suffix for path in source.paths] == [".jpg", ".png", ".jpg"]


def test_what_holds_no_picture_is_refused_by_name_and_row(tmp_path: Path) -> None:
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    cells = [{"bytes": jpeg(1), "path": None}, None, {"bytes": None, "path": "far/away.jpg"}]
    pq.write_table(pa.table({"image": pa.array(cells, image)}), tmp_path / "train.parquet")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "words.parquet")
    (tmp_path / "out.parquet").symlink_to("/etc/hostname")
    with open_hugging_face(tmp_path) as source:
        assert [(problem.file, problem.reason[:27]) for problem in sorted(source.problems)] == [
            ("out.parquet", "It is a link that leads out"),
            ("train.parquet row 2", "It holds no bytes in “image"),
            ("train.parquet row 3", "It holds no bytes in “image"),
            ("words.parquet", "It has no column of picture"),
        ]
        assert len(source.paths) == 1


IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
WIDE = pa.array([[0.5] * 600, [0.1] * 600], pa.list_(pa.float32()))
COLUMNS = {
    "string_view": (pa.array(["a", None], pa.string_view()), ["a", ""]),
    "large_string": (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
    "dictionary": (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    "timestamp": (pa.array([0, 86_400_000], pa.timestamp("ms")), ["1970-01-01", "1970-01-02"]),
    "nanoseconds": (
        pa.array([1_000_000_001, None], pa.timestamp("ns")),
        ["1970-01-01 00:00:01", ""],
    ),
    "date": (pa.array([0, 1], pa.date32()), ["1970-01-01", "1970-01-02"]),
    "decimal": (pa.array([Decimal("1.50"), Decimal("2.25")]), ["1.50", "2.25"]),
    "binary": (pa.array([b"P1", b"P2"]), ["P1", "P2"]),
    "digests": (pa.array([b"\x00\xff", b"\x01\x02"]), ["00ff", "0102"]),
    "fixed": (pa.array([b"ab", b"cd"], pa.binary(2)), ["ab", "cd"]),
    "list": (pa.array([["x", "y"], []]), ["x|y", ""]),
    "large_list": (pa.array([[1, 2], [3]], pa.large_list(pa.int32())), ["1|2", "3"]),
    "struct": (pa.array([{"a": 1, "b": "x"}, None]), ['{"a":1,"b":"x"}', ""]),
    "half": (pa.array(np.array([0.5, 1.5], np.float16)), ["0.5", "1.5"]),
    "nan": (pa.array([float("nan"), 1.5]), ["", "1.5"]),
    "null": (pa.nulls(2), ["", ""]),
    "boolean": (pa.array([True, False]), ["true", "false"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_of_a_column_is_read_as_what_it_means(tmp_path: Path, name: str) -> None:
    column, expected = COLUMNS[name]
    cells = [{"bytes": jpeg(1), "path": None}, {"bytes": jpeg(2), "path": None}]
    table = pa.table({"image": pa.array(cells, IMAGE), name: column})
    pq.write_table(table, tmp_path / "data.parquet")
    with open_hugging_face(tmp_path) as source:
        assert isinstance(source, HuggingFaceSource)
        images = [source.images[path] for path in source.paths]
        assert [image.attributes.get(name, "") for image in images] == expected
        assert source.notes == []


def test_columns_that_hold_no_text_are_named(tmp_path: Path) -> None:
    cells = [{"bytes": jpeg(1), "path": None}, {"bytes": jpeg(2), "path": None}]
    sound = pa.array([{"bytes": b"RIFF", "path": "a.wav"}] * 2, IMAGE)
    table = pa.table({
        "image": pa.array(cells, IMAGE),
        "embedding": pa.array([[0.1] * 64] * 2, pa.list_(pa.float32(), 64)),
        "vector": WIDE,
        "raw": pa.array([bytes(range(256))] * 2),
        "name": ["a", "b"],
    })  # fmt: skip
    pq.write_table(table.append_column("mask", sound), tmp_path / "data.parquet")
    with open_hugging_face(tmp_path) as source:
        said = " ".join(note.reason for note in source.notes)
        for name in ("embedding", "vector", "raw"):
            assert name in said
        assert "name" not in said.replace("named", "")
        assert len(source.paths) + len(source.problems) == 4


def test_pictures_next_to_their_table_are_read_by_their_paths(tmp_path: Path) -> None:
    (tmp_path / "img").mkdir()
    (tmp_path / "img/a.jpg").write_bytes(jpeg(1))
    cells = [
        {"bytes": None, "path": "img/a.jpg"},
        {"bytes": None, "path": "img/b.jpg"},
        {"bytes": None, "path": "../../etc/passwd"},
    ]
    table = pa.table({"image": pa.array(cells, IMAGE), "product_id": ["P1", "P2", "P3"]})
    (tmp_path / "data").mkdir()
    pq.write_table(table, tmp_path / "data/train.parquet")
    with open_hugging_face(tmp_path) as source:
        assert isinstance(source, HuggingFaceSource)
        (path,) = source.paths
        assert source.read(path) == jpeg(1)
        assert source.images[path].product_id == "P1"
        assert [problem.file for problem in source.problems] == [
            "data/train.parquet row 2",
            "data/train.parquet row 3",
        ]
        assert "img/b.jpg" in source.problems[0].reason


def test_bytes_alone_are_pictures_where_they_begin_so(tmp_path: Path) -> None:
    table = pa.table({"photo": [jpeg(1), png(2)], "id": [b"a", b"b"]})
    pq.write_table(table, tmp_path / "data.parquet")
    with open_hugging_face(tmp_path) as source:
        assert [source.read(path) for path in source.paths] == [jpeg(1), png(2)]


@pytest.mark.parametrize(
    ("case", "n_pictures", "n_problems"), [("lists", 2, 0), ("view", 2, 0), ("pathonly", 0, 1)]
)
def test_the_tables_of_the_field_are_read_whole(
    shared_data: Path, case: str, n_pictures: int, n_problems: int
) -> None:
    folder = shared_data / "field_cases/HAND_parquet_types" / case
    if n_pictures == 0:
        with pytest.raises(SourceError, match=r"img/a.jpg"):
            open_hugging_face(folder)
        return
    with open_hugging_face(folder) as source:
        assert isinstance(source, HuggingFaceSource)
        assert (len(source.paths), len(source.problems)) == (n_pictures, n_problems)
        known = source.images[source.paths[0]]
        if case == "lists":
            wanted = {"tags": "x|y", "when": "1970-01-01 00:00:01", "price": "1.5"}
            assert (known.product_id, wanted.items() <= known.attributes.items()) == ("a", True)
        else:
            assert known.attributes["name"] == "a"


def test_tables_that_swell_are_broken_or_hold_no_picture_are_refused(tmp_path: Path) -> None:
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    cells = [{"bytes": bytes(2**20), "path": None}] * 40
    for name, table, reason in (
        ("swells", pa.table({"image": pa.array(cells, image)}), "it would unpack to"),
        ("bare", pa.table({"text": ["a"]}), "no parquet or Arrow file with a column of pictures"),
        ("broken", None, "not readable as parquet or Arrow"),
        ("empty", "", "no parquet or Arrow file"),
    ):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "x.parquet"
        if isinstance(table, pa.Table):
            pq.write_table(table, path, use_dictionary=False, compression="zstd")
        elif table is None:
            path.write_bytes(b"PAR1 and no more PAR1")
        with pytest.raises(SourceError, match=reason):
            open_hugging_face(tmp_path / name)
    with pytest.raises(SourceError, match="from a folder, not from a zip"):
        open_hugging_face(tmp_path / "bare" / "x.parquet")

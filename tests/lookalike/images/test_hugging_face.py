"""Data sets of Hugging Face on disk, as its own library writes them, are catalogs."""

from __future__ import annotations

from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.images.layouts.hugging_face import open_hugging_face
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
        ("P1", {"label": "hat", "price": "0.0", "split": "train", "file": "0.png"}),
        ("P1", {"label": "dress", "price": "0.5", "split": "train", "file": "1.png"}),
        ("", {"label": "hat", "price": "1.0", "split": "val", "file": "2.png"}),
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

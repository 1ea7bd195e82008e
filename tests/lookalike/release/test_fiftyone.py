"""FiftyOne's own reader of a CSVDataset on what we write, where FiftyOne is installed.

It brings 60 packages and a database server, so CI does without it; the reader needs no server.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.io.labels import read_qrels
from tests.lookalike.release.derived import derive_again

fiftyone = pytest.importorskip(
    "fiftyone.utils.csv", reason="FiftyOne is not installed: pip install fiftyone==1.22.1"
)


def test_fiftyone_reads_the_pictures_of_a_release_with_their_columns(tmp_path: Path) -> None:
    folder = derive_again(tmp_path / "small")
    labels = str(folder / "csv/images.csv")
    importer = fiftyone.CSVDatasetImporter(
        data_path=str(folder), labels_path=labels, media_field="file"
    )
    with importer:
        samples = list(importer)
    assert {Path(one.filepath).stem for one in samples} == {one["sha256"] for one in samples}
    assert all(Path(one.filepath).is_file() for one in samples)
    assert {one["product_id"] for one in samples} == {f"p{n}" for n in range(10)}


def test_fiftyone_reads_exported_pairs_with_query_and_label(tmp_path: Path) -> None:
    for name in ("b.png", "c.png"):
        (tmp_path / name).touch()  # it reads rows of pictures that are there
    path = tmp_path / "pairs.csv"
    path.write_text("filepath,query,label\nb.png,a.png,1\nc.png,a.png,0\n")
    importer = fiftyone.CSVDatasetImporter(data_path=str(tmp_path), labels_path=str(path))
    with importer:
        found = [(one["query"], Path(one.filepath).name, int(one["label"])) for one in importer]
    assert found == list(read_qrels(path)) == [("a.png", "b.png", 1), ("a.png", "c.png", 0)]

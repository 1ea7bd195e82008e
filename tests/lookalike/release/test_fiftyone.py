"""FiftyOne's own readers on what we write, where FiftyOne is installed.

It brings 60 packages and a database server, so CI does without it; the reader needs no server.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.io.fiftyone import fiftyone_pieces
from lookalike.io.pair_answers import PairAnswer, PairAnswers
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


def test_fiftyone_reads_every_vote_of_exported_pairs(tmp_path: Path) -> None:
    importers = pytest.importorskip("fiftyone.utils.data.importers")
    said = [
        PairAnswer("q%5C.png", "H&M/a#?.png", "a01", "similar", visible_ms=100),
        PairAnswer("q%5C.png", "H&M/a#?.png", "a02", "skip", is_counted=False, comments=("é",)),
    ]
    (tmp_path / "samples.json").write_text("".join(fiftyone_pieces(PairAnswers(said))))
    importer = importers.LegacyFiftyOneDatasetImporter(str(tmp_path), rel_dir="/photos")
    with importer:
        [sample] = list(importer)
    assert (sample.filepath, sample["query"]) == ("/photos/H&M/a#?.png", "q%5C.png")
    votes = [
        (one["judge"], one.label, one["visible_ms"] if one.has_field("visible_ms") else 0)
        for one in sample["votes"].classifications
    ]
    assert votes == [("a01", "similar", 100), ("a02", "skip", 0)]

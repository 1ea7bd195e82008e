"""`lookalike embed` takes what an import takes, and names what it cannot read by its path."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lookalike.cli.main import main
from tests.pictures import encoded, heic, jpeg, picture, write_folder

FILES = {
    "a.png": jpeg(1),
    "b.tif": encoded(picture(2), "TIFF"),
    "c.heic": heic(picture(3)),
    "d.jpg": encoded(picture(4, mode="CMYK"), "JPEG"),
    "@eaDir/a.jpg/SYNOPHOTO_THUMB_M.jpg": jpeg(9),
    "metadata.csv": b"path,product_id\n",
}


def test_every_format_of_an_import_is_embedded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path / "photos", {**FILES, "cut.tif": FILES["b.tif"][:500]})
    out = tmp_path / "v.npz"
    command = ["embed", str(folder), "--model", "descriptor:colour-histogram", "-o", str(out)]
    assert main([*command, "--json"]) == 1
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert [one["image"] for one in report["not_read"]] == ["cut.tif"]
    assert report["left_out"] == 1
    assert "functools" not in printed.out + printed.err
    assert np.load(out)["ids"].tolist() == ["a.png", "b.tif", "c.heic", "d.jpg"]


def test_names_of_a_zip_are_read_in_the_stated_encoding(tmp_path: Path) -> None:
    place = tmp_path / "photos.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("0000.jpg", jpeg(1))
    place.write_bytes(place.read_bytes().replace(b"0000.jpg", "写真".encode("cp932") + b".jpg"))
    out = tmp_path / "v.npz"
    command = ["embed", str(place), "--model", "descriptor:colour-histogram", "-o", str(out)]
    assert main([*command, "--names-encoding", "shift_jis"]) == 0
    assert np.load(out)["ids"].tolist() == ["写真.jpg"]

"""What desktops and network disks leave is left out and counted; what people put there is not."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from lookalike.client.desktop_junk import is_junk
from lookalike.images.sources import open_source
from tests.pictures import jpeg, write_folder

JUNK = [
    "@eaDir/a.jpg/SYNOPHOTO_THUMB_M.jpg",
    "#recycle/y.jpg",
    "$RECYCLE.BIN/S-1-5/x.jpg",
    "RECYCLER/x.jpg",
    "Thumbs.db",
    "sub/ehthumbs.db",
    ".DS_Store",
    "__MACOSX/._a.jpg",
    "._a.jpg",
    "desktop.ini",
    "lost+found/f.jpg",
    ".Trash-1000/files/old.jpg",
    "~$metadata.xlsx",
    "Icon\r",
    "Picasa.ini",
    ".@__thumb/a.jpg",
    "@Recycle/a.jpg",
    "a.jpg@SynoEAStream",
    "a.jpg:Zone.Identifier",
    "System Volume Information/x.jpg",
]
OF_PEOPLE = ["a - Copy.jpg", "a(1).jpg", "thumbs/a.jpg", "recycle/a.jpg", "~a.jpg", "icon.jpg"]


@pytest.mark.parametrize("path", JUNK)
def test_junk_is_known(path: str):
    assert is_junk(path)
    assert is_junk(f"deep/inside/{path}")
    assert is_junk(path.replace("/", "\\"))


@pytest.mark.parametrize("path", OF_PEOPLE)
def test_what_people_name_so_is_theirs(path: str):
    assert not is_junk(path)
    assert not is_junk(f"./{path}")


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_junk_is_left_out_and_every_file_of_it_counted(kind: str, tmp_path: Path):
    files = dict.fromkeys([*JUNK, *OF_PEOPLE], jpeg())
    place = tmp_path / "photos"
    if kind == "folder":
        write_folder(place, files)
    else:
        place = tmp_path / "photos.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    with open_source(place) as source:
        assert source.paths == sorted(OF_PEOPLE)
        assert source.n_junk == len(JUNK)
        assert source.problems == []
        assert source.others == []


def test_the_zip_of_the_field_gives_its_three_pictures(shared_data: Path):
    with open_source(shared_data / "field_cases/HAND_nas_junk/excel.zip") as source:
        assert source.paths == ["pics/a - Copy.jpg", "pics/a(1).jpg", "pics/a.jpg"]
        assert source.others == ["pics/metadata.xlsx"]
        assert source.problems == []
        assert source.n_junk == 10

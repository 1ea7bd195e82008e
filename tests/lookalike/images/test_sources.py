"""Folders and zips are not trusted: nothing outside is read, nothing is unpacked by name."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path

import pytest

from lookalike.images import folder_source, sources, zip_source
from lookalike.images.sources import SourceError, UnreadableFileError, ZipSource, open_source
from tests.pictures import jpeg, png, write_folder


def zip_of(path: Path, files: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def reasons(source: sources.Source) -> dict[str, str]:
    return {problem.file: problem.reason for problem in source.problems}


FILES = {
    "b.jpg": jpeg(1),
    "sub/deep/a.png": png(2),
    "metadata.csv": b"path,product_id\n",
    "SOURCE.txt": b"from here",
    ".DS_Store": b"x",
    "__MACOSX/._b.jpg": b"x",
    "Thumbs.db": b"x",
    "sub/.hidden/c.jpg": jpeg(3),
}


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_pictures_others_and_junk_are_told_apart(kind: str, tmp_path: Path):
    if kind == "folder":
        place = write_folder(tmp_path / "photos", FILES)
    else:
        place = zip_of(tmp_path / "photos.zip", FILES)
    with open_source(place) as source:
        assert source.name == place.name
        assert source.paths == ["b.jpg", "sub/deep/a.png"]
        assert source.others == ["SOURCE.txt", "metadata.csv"]
        assert source.n_junk == 4
        assert source.problems == []
        assert source.read("sub/deep/a.png") == png(2)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_picture_without_a_pictures_name_is_not_passed_over(kind: str, tmp_path: Path):
    files = {"photo": jpeg(), "photo.dat": png(), "page.html": b"<svg/>", "x.gif": b"GIF89a"}
    place = (
        write_folder(tmp_path / "f", files)
        if kind == "folder"
        else zip_of(tmp_path / "f.zip", files)
    )
    with open_source(place) as source:
        assert source.paths == ["photo", "photo.dat", "x.gif"]
        assert source.others == ["page.html"]


def test_names_are_compared_in_composed_form(tmp_path: Path):
    decomposed = "gru\u0308n.jpg"
    with open_source(zip_of(tmp_path / "a.zip", {decomposed: jpeg()})) as source:
        assert source.paths == ["gr\u00fcn.jpg"]
        assert source.read("gr\u00fcn.jpg") == jpeg()


def test_a_zip_that_does_not_say_that_its_names_are_utf_8_is_understood(tmp_path: Path):
    path = zip_of(tmp_path / "a.zip", {"gr\u00fcn.jpg": jpeg(1), "plain.jpg": jpeg(2)})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        content[content.index(signature) + offset] &= ~0x08
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "gr├╝n.jpg"  # what the old code page makes of it
    with open_source(path) as source:
        assert source.paths == ["gr\u00fcn.jpg", "plain.jpg"]
        assert source.read("gr\u00fcn.jpg") == jpeg(1)


# ---- folders ----
def test_links_that_lead_out_of_the_folder_are_refused(tmp_path: Path):
    outside = write_folder(tmp_path / "outside", {"secret.jpg": jpeg()})
    folder = write_folder(tmp_path / "photos", {"a.jpg": jpeg()})
    (folder / "inside.jpg").symlink_to("a.jpg")
    (folder / "out.jpg").symlink_to(outside / "secret.jpg")
    (folder / "out").symlink_to(outside)
    (folder / "gone.jpg").symlink_to("nowhere.jpg")
    with open_source(folder) as source:
        assert source.paths == ["a.jpg", "inside.jpg"]
        found = reasons(source)
    assert found.keys() == {"out.jpg", "out", "gone.jpg"}
    assert "leads out" in found["out.jpg"]
    assert "link to a folder" in found["out"]
    assert "cannot be read" in found["gone.jpg"]


def test_a_file_swapped_for_a_link_after_the_listing_is_not_read(tmp_path: Path):
    outside = write_folder(tmp_path / "outside", {"secret.jpg": jpeg(7)})
    folder = write_folder(tmp_path / "photos", {"a.jpg": jpeg(), "b.jpg": jpeg()})
    with open_source(folder) as source:
        (folder / "a.jpg").unlink()
        (folder / "a.jpg").symlink_to(outside / "secret.jpg")
        (folder / "b.jpg").unlink()
        with pytest.raises(UnreadableFileError, match="leads out"):
            source.read("a.jpg")
        with pytest.raises(UnreadableFileError, match="No such file"):
            source.read("b.jpg")


def test_pipes_and_names_that_are_no_text_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path / "photos", {"a.jpg": jpeg()})
    os.mkfifo(folder / "pipe.jpg")
    (Path(os.fsdecode(os.fsencode(folder) + b"/b\xff.jpg"))).write_bytes(jpeg())
    (folder / "new\nline.jpg").write_bytes(jpeg())
    with open_source(folder) as source:
        assert source.paths == ["a.jpg"]
        found = reasons(source)
    assert "not a file" in found["pipe.jpg"]
    assert "broken characters" in found["b\\udcff.jpg"]
    assert len(found) == 3


def test_what_is_neither_folder_nor_zip_is_refused(tmp_path: Path):
    with pytest.raises(SourceError, match="no folder or zip"):
        open_source(tmp_path / "nothing")
    text = tmp_path / "a.zip"
    text.write_text("not a zip")
    with pytest.raises(SourceError, match=r"a\.zip is not a readable zip"):
        open_source(text)


def test_a_folder_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(folder_source, "MAX_FILES", 2)
    monkeypatch.setattr(zip_source, "MAX_FILES", 2)
    files = {f"{i}.jpg": jpeg() for i in range(3)}
    with pytest.raises(SourceError, match="more than 2 files"):
        open_source(write_folder(tmp_path / "photos", files))
    with pytest.raises(SourceError, match="more than 2 files"):
        open_source(zip_of(tmp_path / "photos.zip", files))


# ---- zips ----
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../evil.jpg", "leads out"),
        ("a/../../evil.jpg", "leads out"),
        ("..\\evil.jpg", "leads out"),
        ("/etc/evil.jpg", "absolute"),
        ("C:\\evil.jpg", "absolute"),
        ("\\\\server\\evil.jpg", "absolute"),
        ("new\nline.jpg", "control"),
    ],
)
def test_a_member_with_an_unsafe_name_is_refused_and_the_others_go_in(
    name: str, words: str, tmp_path: Path
):
    with open_source(zip_of(tmp_path / "a.zip", {name: jpeg(), "good.jpg": jpeg()})) as source:
        assert source.paths == ["good.jpg"]
        assert words in reasons(source)[name]
    assert [p.name for p in tmp_path.iterdir()] == ["a.zip"]


def test_a_nul_in_a_members_name_is_refused(tmp_path: Path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("evilX.jpg", jpeg())
    path = tmp_path / "a.zip"
    path.write_bytes(content.getvalue().replace(b"evilX", b"evil\0"))
    with open_source(path) as source:
        assert source.paths == []
        assert "control" in reasons(source)["evil\\x00.jpg"]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (stat.S_IFLNK, "Refused: it is a link."),
        (stat.S_IFIFO, "Refused: it is not a file"),
        (stat.S_IFCHR, "Refused: it is not a file"),
    ],
)
def test_links_and_devices_in_a_zip_are_refused(mode: int, words: str, tmp_path: Path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("link.jpg")
        link.external_attr = (mode | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with open_source(path) as source:
        assert source.paths == []
        assert words in reasons(source)["link.jpg"]


def test_a_member_with_a_huge_ratio_is_refused(tmp_path: Path):
    files = {"bomb.png": bytes(20 * 2**20), "good.jpg": jpeg()}
    path = zip_of(tmp_path / "a.zip", files, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    with open_source(path) as source:
        assert source.paths == ["good.jpg"]
        assert "100 times" in reasons(source)["bomb.png"]


def test_a_zip_that_would_unpack_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(zip_source, "MAX_UNPACKED", 1000)
    with pytest.raises(SourceError, match="would unpack to"):
        open_source(zip_of(tmp_path / "a.zip", {"a.jpg": jpeg(size=(200, 200))}))


def test_a_member_that_lies_about_its_size_is_damaged(tmp_path: Path):
    path = zip_of(tmp_path / "a.zip", {"a.jpg": bytes(5000)}, compression=zipfile.ZIP_DEFLATED)
    real = (5000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(real, (50).to_bytes(4, "little")))
    with open_source(path) as source, pytest.raises(UnreadableFileError, match="Damaged"):
        source.read("a.jpg")


def test_damage_inside_a_zip_names_the_member(tmp_path: Path):
    path = zip_of(tmp_path / "a.zip", {"a.jpg": jpeg(1, (300, 300)), "b.jpg": jpeg(2)})
    content = bytearray(path.read_bytes())
    content[500] ^= 0xFF
    path.write_bytes(content)
    with open_source(path) as source:
        with pytest.raises(UnreadableFileError, match="Damaged"):
            source.read("a.jpg")
        assert source.read("b.jpg") == jpeg(2)


def test_a_damaged_lzma_member_is_named_and_the_others_go_in(tmp_path: Path):
    path = tmp_path / "a.zip"
    files = {"a.jpg": jpeg(1, (300, 300)), "notes": bytes(range(256)) * 40, "b.jpg": jpeg(2)}
    zip_of(path, files, compression=zipfile.ZIP_LZMA)
    with zipfile.ZipFile(path) as archive:
        starts = [archive.getinfo(name).header_offset + 60 for name in ("a.jpg", "notes")]
    content = bytearray(path.read_bytes())
    for start in starts:
        content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    with open_source(path) as source:
        assert source.paths == ["a.jpg", "b.jpg"]
        with pytest.raises(UnreadableFileError, match="Damaged in the zip"):
            source.read("a.jpg")
        assert source.read("b.jpg") == jpeg(2)


def test_an_encrypted_member_is_refused(tmp_path: Path):
    path = zip_of(tmp_path / "a.zip", {"a.jpg": jpeg()})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    path.write_bytes(content)
    with open_source(path) as source:
        assert source.paths == []
        assert "encrypted" in reasons(source)["a.jpg"]


def test_of_two_members_with_one_name_the_first_is_used(tmp_path: Path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.jpg", jpeg(1))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.jpg", jpeg(2))
    with open_source(path) as source:
        assert source.read("a.jpg") == jpeg(1)
        assert "another file of this name" in reasons(source)["a.jpg"]


def test_overlapping_members_as_in_a_quine_bomb_are_refused(tmp_path: Path):
    path = zip_of(tmp_path / "a.zip", {"a.jpg": jpeg(1), "b.jpg": jpeg(2)})
    content = bytearray(path.read_bytes())
    second = content.rindex(b"PK\x01\x02")
    content[second + 42 : second + 46] = bytes(4)  # both entries now point at the first
    path.write_bytes(content)
    source = ZipSource(path, "a.zip")
    with pytest.raises(UnreadableFileError):
        source.read("b.jpg")
    source.close()

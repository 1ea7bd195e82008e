"""Names in archives: as the zip states them, else as guessed, which is said and can be set."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from lookalike.images.sources import SourceError, open_source
from tests.pictures import jpeg


def zip_of_raw_names(path: Path, names: list[bytes], extra: bytes = b"") -> Path:
    """A zip whose names are these bytes and say nothing of their encoding."""
    stand_ins = [f"{number:0{len(name)}d}" for number, name in enumerate(names)]
    with zipfile.ZipFile(path, "w") as archive:
        for stand_in in stand_ins:
            info = zipfile.ZipInfo(stand_in)
            info.extra = extra
            archive.writestr(info, jpeg())
    content = path.read_bytes()
    for stand_in, name in zip(stand_ins, names, strict=True):
        assert content.count(stand_in.encode()) == 2
        content = content.replace(stand_in.encode(), name)
    path.write_bytes(content)
    return path


NAMES = {
    "cp932": ["商品写真/赤いドレス.jpg", "商品写真/バッグ１.jpg"],
    "gb18030": ["商品图片/红色连衣裙.jpg", "商品图片/鞋子.jpg"],
    "big5": ["商品圖片/紅色洋裝.jpg"],
    "cp949": ["상품사진/빨간 드레스.jpg"],
    "cp866": ["фотографии/красное платье.jpg", "фотографии/туфли.jpg"],
    "cp1251": ["фотографии/красное платье.jpg"],
    "cp850": ["Möbel/grüner Stuhl.jpg", "Möbel/Straße.jpg"],
    "cp1252": ["Möbel/grüner Stuhl.jpg", "Möbel/Straße.jpg"],
}


@pytest.mark.parametrize("encoding", NAMES)
def test_names_without_a_stated_encoding_are_guessed_and_said(encoding: str, tmp_path: Path):
    raw = [name.encode(encoding) for name in NAMES[encoding]]
    place = zip_of_raw_names(tmp_path / "a.zip", raw)
    with open_source(place) as source:
        assert source.paths == sorted(NAMES[encoding])
        (note,) = source.notes
        assert note.file == "a.zip"
        assert NAMES[encoding][0] in note.reason
        assert "--names-encoding" in note.reason
    with open_source(place, None, encoding) as source:
        assert source.paths == sorted(NAMES[encoding])
        assert source.notes == []


def test_a_guess_can_be_set_right(tmp_path: Path):
    place = zip_of_raw_names(tmp_path / "a.zip", ["żółty.jpg".encode("cp852")])
    with open_source(place, None, "cp852") as source:
        assert source.paths == ["żółty.jpg"]


def test_utf_8_needs_no_guess(tmp_path: Path):
    place = zip_of_raw_names(tmp_path / "a.zip", ["grün.jpg".encode()])
    with open_source(place) as source:
        assert source.paths == ["grün.jpg"]
        assert source.notes == []


def test_the_archives_own_field_decides(tmp_path: Path):
    raw, name = "写真.jpg".encode("cp932"), "写真.jpg"
    body = b"\1" + struct.pack("<I", zlib.crc32(raw)) + name.encode()
    field = struct.pack("<HH", 0x7075, len(body)) + body
    with open_source(zip_of_raw_names(tmp_path / "a.zip", [raw], field)) as source:
        assert source.paths == [name]
        assert source.notes == []
    with open_source(zip_of_raw_names(tmp_path / "a.zip", [raw], field), None, "cp437") as source:
        assert source.paths == [name]


def test_a_field_of_another_name_is_not_believed(tmp_path: Path):
    raw = "写真.jpg".encode("cp932")
    body = b"\1" + struct.pack("<I", 1) + b"evil.jpg"
    field = struct.pack("<HH", 0x7075, len(body)) + body
    with open_source(zip_of_raw_names(tmp_path / "a.zip", [raw], field)) as source:
        assert source.paths == ["写真.jpg"]


@pytest.mark.parametrize(
    ("encoding", "words"), [("rot13", "no encoding"), ("ascii", "is not ascii")]
)
def test_an_encoding_that_does_not_fit_is_refused(encoding: str, words: str, tmp_path: Path):
    place = zip_of_raw_names(tmp_path / "a.zip", ["grün.jpg".encode("cp1252")])
    with pytest.raises(SourceError, match=words):
        open_source(place, None, encoding)
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match="zip"):
        open_source(tmp_path / "folder", None, "cp437")


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"Rar!\x1a\7\0", "a RAR archive"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (jpeg(), "a single JPEG picture"),
        (bytes(257) + b"ustar" + bytes(250), "a tar archive"),
        (b"PK\x03\x04 cut", "damaged or cut short"),
    ],
)
def test_what_is_no_zip_is_named(head: bytes, words: str, tmp_path: Path):
    (tmp_path / "a.zip").write_bytes(head)
    with pytest.raises(SourceError, match=words):
        open_source(tmp_path / "a.zip")

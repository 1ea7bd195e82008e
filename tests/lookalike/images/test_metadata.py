"""Metadata: good rows go in, wrong ones are named with file, row and reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lookalike.images.metadata import MetadataError, Row, read_metadata
from lookalike.images.problems import Problem

HEADER = b"path,product_id,color\n"


def csv_of(body: bytes, header: bytes = HEADER) -> bytes:
    return header + body


def test_further_columns_are_attributes_and_empty_cells_are_absent():
    found = read_metadata(
        csv_of(b'a.jpg,P1,red\nb/c.jpg,,\n"d,e.jpg", P2 , "dark ""blue"""\n'), "m"
    )
    assert found.problems == []
    assert list(found.rows.values()) == [
        Row("a.jpg", "P1", {"color": "red"}, 2),
        Row("b/c.jpg", "", {}, 3),
        Row("d,e.jpg", "P2", {"color": 'dark "blue"'}, 4),
    ]


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_spreadsheets_marks_and_line_ends_do_no_harm(start: bytes, end: bytes):
    content = start + csv_of("grün.jpg,P1,rot\n\n,,\nb.jpg,P2,blau".encode()).replace(b"\n", end)
    found = read_metadata(content, "m.csv")
    assert [row.path for row in found.rows.values()] == ["grün.jpg", "b.jpg"]
    assert found.problems == []


def test_columns_may_stand_in_any_order():
    found = read_metadata(b"color,product_id,path\nred,P1,a.jpg\n", "m.csv")
    assert found.rows["a.jpg"] == Row("a.jpg", "P1", {"color": "red"}, 2)


def test_a_line_break_inside_quotes_belongs_to_the_cell():
    wrong = "c.jpg,P3,grün\n".encode() + b"b.jpg,P2,\xff\n"
    found = read_metadata(csv_of(b'a.jpg,P1,"x\ny"\n' + wrong), "m.csv")
    assert found.rows["a.jpg"].attributes == {"color": "x\ny"}
    assert "m.csv line 5 is not UTF-8" in found.problems[0].reason  # the editor's line
    assert "Row 4" in found.problems[0].reason  # the spreadsheet's row


def test_the_first_of_two_rows_with_one_path_is_used_and_the_other_named():
    found = read_metadata(csv_of(b"a.jpg,P1,red\nb.jpg,P1,red\n./a.jpg,P2,blue\n"), "m.csv")
    assert found.rows["a.jpg"].product_id == "P1"
    assert found.problems == [Problem("a.jpg", "m.csv row 4 repeats row 2, which is used.")]


def test_a_row_that_is_not_utf_8_is_left_out_and_its_line_named():
    content = csv_of("ä.jpg,P1,red\n".encode() + "grün.jpg,P2,blau\n".encode("latin-1"))
    found = read_metadata(content, "m.csv")
    assert list(found.rows) == ["ä.jpg"]
    (problem,) = found.problems
    assert problem.file == "m.csv"
    assert "Row 3" in problem.reason
    assert "line 3" in problem.reason
    assert "byte 0xfc" in problem.reason
    assert "save the file as UTF-8" in problem.reason


@pytest.mark.parametrize(
    ("row", "file", "words"),
    [
        (b"/photos/../../a.jpg,P,x", "/photos/../../a.jpg", "absolute"),
        (b"C:photos.jpg,P,x", "C:photos.jpg", "absolute"),
        (b"../a.jpg,P,x", "../a.jpg", "leads out of the folder"),
        (b"a/..\\../b.jpg,P,x", "a/..\\../b.jpg", "leads out of the folder"),
        (b",P,x", "m.csv", "empty"),
        (b"a\x00.jpg,P,x", "a\\x00.jpg", "control"),
        (b"a.jpg,P", "a.jpg", "2 cells where the header has 3"),
        (b"a.jpg,P,x,y", "a.jpg", "4 cells where the header has 3"),
        (b"a.jpg,P\x00,x", "a.jpg", "cannot be stored"),
        (b"a.jpg,P,x\x00", "a.jpg", "cannot be stored"),
        (b"a.jpg," + b"P" * 201 + b",x", "a.jpg", "more than 200"),
        (b"a.jpg,P," + b"x" * 2001, "a.jpg", "longer than 2,000"),
        (b"a" * 1001 + b",P,x", "a" * 1000, "longer than 1,000"),
        ("漢".encode() * 900 + b",P,x", "漢" * 900, "2,000 bytes"),
    ],
)
def test_a_wrong_row_is_named_and_the_others_go_in(row: bytes, file: str, words: str):
    found = read_metadata(csv_of(b"good.jpg,P0,red\n" + row + b"\nlast.jpg,P9,red\n"), "m.csv")
    assert list(found.rows) == ["good.jpg", "last.jpg"]
    (problem,) = found.problems
    assert problem.file == file
    assert "row 3" in problem.reason.lower()
    assert words in problem.reason


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"a,b\n1,2\n", "no column path and no column product_id"),
        (b"path,color\na.jpg,red\n", "no column product_id. Its header is: “path”, “color”"),
        (b"path,product_id,\na.jpg,P,x\n", "column 3 has no name"),
        (b"path,product_id,x,x\na.jpg,P,1,2\n", "two columns named “x”"),
        (b"path,product_id," + b"n" * 101 + b"\n", "too long"),
        (b"path,product_id,\xe9\n\xc3\xbc.jpg,P,1\n", "line 1 is not UTF-8"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"PK\x03\x04 cut", "damaged or cut short"),
        (b"%PDF-1.7", "a PDF document"),
        (b'path,product_id\n"a.jpg,P\n', "line 2 is not proper CSV"),
        (b'path,product_id\na.jpg,P\n"b"c,P\n', "line 3 is not proper CSV"),
        (b"path,product_id\n" + b"x" * 200_000, "line 2 is not proper CSV"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_refused(content: bytes, words: str):
    with pytest.raises(MetadataError) as caught:
        read_metadata(content, "m.csv")
    assert words in str(caught.value)
    assert str(caught.value).startswith("m.csv")


def test_the_json_of_the_vsd_benchmark():
    document = {
        "images": [
            {
                "id": "id_00000001",
                "path": "img/WOMEN/a.jpg",
                "phase": "gallery",
                "bbox": [1, 2, 3, 4],
                "category": "Dress",
                "color": None,
            },
            {"id": 7, "path": "b.jpg", "color": " red "},
        ]
    }
    found = read_metadata(json.dumps(document).encode(), "metadata.json")
    assert found.problems == []
    assert list(found.rows.values()) == [
        Row(
            "img/WOMEN/a.jpg",
            "id_00000001",
            {"phase": "gallery", "bbox": "[1,2,3,4]", "category": "Dress"},
            1,
        ),
        Row("b.jpg", "7", {"color": "red"}, 2),
    ]


@pytest.mark.parametrize(
    ("entry", "file", "words"),
    [
        ({"id": "P"}, "m.json", "no “path”"),
        ({"path": "a.jpg"}, "a.jpg", "no “id”"),
        ({"path": 3, "id": "P"}, "m.json", "not text"),
        ({"path": "../a.jpg", "id": "P"}, "../a.jpg", "leads out"),
        ({"path": "good.jpg", "id": "P"}, "good.jpg", "repeats row 1"),
        ({"path": "a.jpg", "id": "P", "color": "\ud800"}, "a.jpg", "cannot be stored"),
        ("a.jpg", "m.json", "not an object"),
        (None, "m.json", "not an object"),
    ],
)
def test_a_wrong_entry_is_named_and_the_others_go_in(entry: object, file: str, words: str):
    images = [{"path": "good.jpg", "id": "P0"}, entry, {"path": "last.jpg", "id": "P9"}]
    found = read_metadata(json.dumps({"images": images}).encode(), "m.json")
    assert list(found.rows) == ["good.jpg", "last.jpg"]
    (problem,) = found.problems
    assert problem.file == file
    assert " 2 " in problem.reason
    assert words in problem.reason


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "line 1 is not proper JSON"),
        (b'{"images":\n[\n{"id": "\xe9"}]}', "line 3 is not UTF-8 (byte 0xe9)"),
        (b'{"pictures": []}', 'must be an object {"images"'),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_is_wrong_as_a_whole_is_refused(content: bytes, words: str):
    with pytest.raises(MetadataError) as caught:
        read_metadata(content, "m.json")
    assert words in str(caught.value)


def test_the_metadata_of_the_real_catalogs_are_read_whole(shared_data: Path):
    for folder, n in (("luma_fashion", 725), ("clothing_cc0_mini", 332), ("saleor_demo", 51)):
        found = read_metadata((shared_data / folder / "metadata.csv").read_bytes(), "metadata.csv")
        assert (len(found.rows), found.problems) == (n, [])

"""Tables of metadata as people have them: read as they were meant, and said how."""

from __future__ import annotations

import datetime
import io
import json
from decimal import Decimal
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.images.metadata import (
    Choice,
    Metadata,
    MetadataError,
    UnknownColumnsError,
    read_metadata,
    read_preview,
)
from lookalike.images.pairing import pair
from lookalike.io.values import Code

GERMAN = (
    "Datei;Artikelnummer;Farbe;Preis;;\r\n"
    "kleid 1.jpg;A100;grün;19,90;;\r\n"
    "kleid 2.jpg;A100;grün;1.019,50;;\r\n"
    "hut.jpg;00042;weiß;7;;\r\n"
)
PRODUCTS = {"kleid 1.jpg": "A100", "kleid 2.jpg": "A100", "hut.jpg": "00042"}


def products(found: Metadata) -> dict[str, str]:
    return {path: row.product_id for path, row in found.rows.items()}


def details(found: Metadata) -> str:
    assert found.preview is not None
    return found.preview.details


def workbook(*sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"Sheet{number}")
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


# ---- encodings, separators, headers ----
@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("cp1252", "cp1252"),
        ("latin-1", "cp1252"),
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ],
)
def test_a_german_sheet_is_read_in_every_encoding(encoding: str, named: str):
    found = read_metadata(GERMAN.encode(encoding), "liste.csv")
    assert found.problems == []
    assert products(found) == PRODUCTS
    assert found.rows["kleid 2.jpg"].attributes == {"Farbe": "grün", "Preis": "1019.50"}
    assert named in details(found)
    assert "semicolons" in details(found)
    assert "header in row 1" in details(found)
    assert any("decimal commas" in note.reason for note in found.notes)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_detected(separator: str):
    rows = [["path", "product_id", "note"], ["a.jpg", "P1", "x"], ["b.jpg", "P2", '"y, z; w"']]
    text = "\n".join(separator.join(row) for row in rows)
    found = read_metadata(text.encode(), "m.txt")
    assert products(found) == {"a.jpg": "P1", "b.jpg": "P2"}
    assert found.rows["b.jpg"].attributes == {"note": "y, z; w"}


def test_the_line_by_which_excel_states_the_separator_is_no_header():
    found = read_metadata(b"sep=;\npath;product_id\na,b.jpg;P1\n", "m.csv")
    assert products(found) == {"a,b.jpg": "P1"}
    assert found.rows["a,b.jpg"].number == 3


def test_titles_above_the_header_are_left_out_and_said():
    found = read_metadata(b"Export of 2026;\n\nDatei;SKU\na.jpg;P1\n", "m.csv")
    assert products(found) == {"a.jpg": "P1"}
    assert "1 title rows left out" in details(found)


def test_a_table_without_a_header_says_so():
    found = read_metadata(b"a.jpg;P1\nb.jpg;P2\n", "m.csv")
    assert products(found) == {"a.jpg": "P1", "b.jpg": "P2"}
    assert "no header" in details(found)


def test_row_numbers_of_a_data_frame_and_empty_columns_are_left_out_and_named():
    found = read_metadata(b",path,product_id,\n0,a.jpg,P1,\n1,b.jpg,P2,\n", "m.csv")
    assert products(found) == {"a.jpg": "P1", "b.jpg": "P2"}
    assert found.preview is not None
    assert [use for _, use in found.preview.columns] == [
        "row numbers of a data frame",
        "file",
        "product",
    ]


@pytest.mark.parametrize(
    ("header", "path", "product"),
    [
        ("file_name,sku", 0, 1),
        ("Image,Product ID", 0, 1),
        ("Artikel-Nr.,Dateiname", 1, 0),
        ("référence,fichier", 1, 0),
        ("foto,artikel", 0, 1),
        ("id,Bild", 1, 0),
        ("anything,product", 0, 1),
    ],
)
def test_columns_are_known_by_usual_names_and_by_what_they_hold(
    header: str, path: int, product: int
):
    cells = ["", ""]
    cells[path], cells[product] = "a.jpg", "P1"
    found = read_metadata(f"{header}\n{','.join(cells)}\n".encode(), "m.csv")
    assert products(found) == {"a.jpg": "P1"}


def test_a_person_says_what_the_columns_are():
    content = b"a,b,c,d\nx,1.jpg,P,2.jpg\ny,3.jpg,Q,4.jpg\n"
    with pytest.raises(UnknownColumnsError, match="--path-column"):
        read_metadata(content, "m.csv")
    preview = read_preview(content, "m.csv")
    assert preview is not None
    assert preview.rows == [["x", "1.jpg", "P", "2.jpg"], ["y", "3.jpg", "Q", "4.jpg"]]
    found = read_metadata(content, "m.csv", choice=Choice("d", "c", ("a",)))
    assert products(found) == {"2.jpg": "P", "4.jpg": "Q"}
    assert found.rows["2.jpg"].attributes == {"b": "1.jpg"}
    found = read_metadata(content, "m.csv", choice=Choice("b", "-"))
    assert products(found) == {"1.jpg": "", "3.jpg": ""}
    with pytest.raises(MetadataError, match="no column “z”"):
        read_metadata(content, "m.csv", choice=Choice("b", "c", ("z",)))


# ---- other files ----
def test_a_workbook_is_read_as_it_shows():
    content = workbook(
        [],
        [
            ["Datei", "Artikel", "Preis", "neu", "seit"],
            ["a.jpg", 4012345678901, 19.9, True, datetime.date(2026, 1, 31)],
            ["b.jpg", 17, 20, False, None],
        ],
        [["more"]],
    )
    found = read_metadata(content, "liste.xlsx")
    assert products(found) == {"a.jpg": "4012345678901", "b.jpg": "17"}
    assert found.rows["a.jpg"].attributes == {"Preis": "19.9", "neu": "true", "seit": "2026-01-31"}
    assert "Excel, sheet “Sheet1”" in details(found)
    assert "Sheet2" in details(found)


def test_what_only_looks_like_a_workbook_is_refused_by_its_name():
    content = workbook([["path", "product_id"], ["a.jpg", 1]])
    with pytest.raises(MetadataError, match="damaged or cut short"):
        read_metadata(content[:900], "m.xlsx")
    with pytest.raises(MetadataError, match="no sheet holds anything"):
        read_metadata(workbook([]), "m.xlsx")
    packed = io.BytesIO()
    import zipfile

    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("m.csv", "path,product_id")
    with pytest.raises(MetadataError, match="a zip file and no workbook"):
        read_metadata(packed.getvalue(), "m.xlsx")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(50_000_000))
    with pytest.raises(MetadataError, match="would unpack"):
        read_metadata(bomb.getvalue(), "m.xlsx")


@pytest.mark.parametrize("name", ["metadata.jsonl", "metadata.json", "metadata.txt"])
def test_json_lines_are_read_under_any_name(name: str):
    lines = [{"file_name": "a.jpg", "sku": 1, "tags": ["x", "y"]}, {"file_name": "b.jpg", "sku": 2}]
    content = "\n".join(map(json.dumps, lines)) + "\n\nno json\n"
    found = read_metadata(content.encode(), name)
    assert products(found) == {"a.jpg": "1", "b.jpg": "2"}
    assert found.rows["a.jpg"].attributes == {"tags": '["x","y"]'}
    (problem,) = found.problems
    assert f"{name} line 4 was left out" in problem.reason
    assert "JSON lines" in details(found)


def test_a_list_of_objects_with_other_keys_is_a_table():
    content = json.dumps([{"image": "a.jpg", "product": "P1", "colour": "red"}]).encode()
    found = read_metadata(content, "m.json")
    assert products(found) == {"a.jpg": "P1"}


def test_parquet_is_read_and_columns_without_text_are_named():
    table = pa.table({
        "path": pa.array(["a.jpg"], pa.string_view()),
        "product_id": pa.array([7], pa.int64()),
        "price": pa.array([Decimal("1.50")]),
        "vector": pa.array([[0.1] * 32], pa.list_(pa.float32(), 32)),
    })  # fmt: skip
    content = io.BytesIO()
    pq.write_table(table, content)
    found = read_metadata(content.getvalue(), "m.parquet")
    assert products(found) == {"a.jpg": "7"}
    assert found.rows["a.jpg"].attributes == {"price": "1.50"}
    assert "left out, as they hold no text: vector" in details(found)


# ---- where a fault began ----
def test_an_unclosed_quote_is_named_where_it_was_opened():
    rows = [f"{n}.jpg,P{n}" for n in range(2000)]
    rows[4] = '4.jpg,"P4'
    with pytest.raises(MetadataError, match=r"line 6 .* never closed"):
        read_metadata("\n".join(["path,product_id", *rows]).encode(), "m.csv")
    rows[1500] = '1500.jpg,"P1500"'
    with pytest.raises(MetadataError, match="line 6 "):
        read_metadata("\n".join(["path,product_id", *rows]).encode(), "m.csv")


# ---- values ----
@pytest.mark.parametrize(
    ("values", "code"),
    [
        (["Yes", "yes"], Code.CASE),
        (["red", "nan"], Code.NO_VALUE),
        (["00042", "42"], Code.LEADING_ZEROS),
        (["1E+05", "7"], Code.SCIENTIFIC),
    ],
)
@pytest.mark.parametrize("column", ["product_id", "colour"])
def test_values_that_merge_or_split_need_a_yes(values: list[str], code: Code, column: str):
    rows = "".join(f"{n}.jpg,{value}\n" for n, value in enumerate(values))
    header = "path,product_id" if column == "product_id" else "path,colour"
    choice = None if column == "product_id" else Choice("path", "-")
    found = read_metadata(f"{header}\n{rows}".encode(), "m.csv", choice=choice)
    assert {one.code for one in found.findings if one.needs_yes} == {code}
    with pytest.raises(MetadataError, match=r"m.csv: "):
        found.require_yes(False, "say yes")
    found.require_yes(True, "say yes")


def test_equal_numbers_and_spaces_are_repaired_and_said():
    rows = b"path,product_id,colour\na.jpg,1,red \nb.jpg,1.0,red\n"
    found = read_metadata(rows, "m.csv")
    assert products(found) == {"a.jpg": "1", "b.jpg": "1"}
    assert {row.attributes["colour"] for row in found.rows.values()} == {"red"}
    assert not [one for one in found.findings if one.needs_yes]
    assert len(found.notes) == 2


def test_descriptions_of_images_are_no_classes():
    rows = "".join(f"{n}.jpg,P{n},A photo no {n}\n" for n in range(50))
    rows += "x.jpg,P50,a PHOTO no 7\n"
    found = read_metadata(f"path,product_id,caption\n{rows}".encode(), "m.csv")
    assert not [one for one in found.findings if one.needs_yes]


def test_the_json_of_a_benchmark_is_checked_alike():
    images = [{"path": "a.jpg", "id": "P1"}, {"path": "b.jpg", "id": "p1"}]
    found = read_metadata(json.dumps({"images": images}).encode(), "m.json")
    assert found.grave_findings


# ---- files ----
PATHS = ["photos/2026/a.jpg", "photos/2026/b 1.jpg", "photos/old/c.jpg", "photos/old/b 1.png"]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("a.jpg", PATHS[0]),
        ("2026/a.jpg", PATHS[0]),
        ("C:\\Users\\ada\\photos\\2026\\a.jpg", PATHS[0]),
        ("/home/ada/photos/2026/a.jpg", PATHS[0]),
        ("https://img.example.org/photos/2026/b%201.jpg?w=800", PATHS[1]),
        ("b%201.jpg", PATHS[1]),
        (".\\photos\\old\\c.jpg", PATHS[2]),
    ],
)
def test_a_row_finds_its_file_however_it_is_named(written: str, path: str):
    content = f"path,product_id\n{written},P1\n".encode()
    pairing = pair(read_metadata(content, "m.csv"), PATHS, [])
    assert pairing.problems == []
    assert list(pairing.rows) == [path]


def test_a_name_of_two_files_and_two_rows_of_one_file_are_left_out_and_named():
    paths = [*PATHS, "other/a.jpg"]
    content = b"path,product_id\na.jpg,P1\nphotos/old/c.jpg,P2\nc.jpg,P3\n"
    pairing = pair(read_metadata(content, "m.csv"), paths, [])
    assert {path: row.product_id for path, row in pairing.rows.items()} == {
        "photos/old/c.jpg": "P2"
    }
    assert [problem.file for problem in pairing.problems] == ["a.jpg", "c.jpg"]

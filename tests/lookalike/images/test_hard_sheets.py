"""Sheets as German offices have them: each says the same of the same pictures."""

from __future__ import annotations

import datetime
import io
import unicodedata
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.images.pairing import pair

HEAD = "Dateiname;Artikel-Nr.;Farbe;Preis\r\n"
ROWS = 'Stühle/grün.jpg;007;grün;1,50\r\ntisch.jpg;008;"rot\r\nund blau, ""hell""";1.234,00\r\n'
SHEET = HEAD + ROWS
KNOWN = {
    "Stühle/grün.jpg": ("007", {"Farbe": "grün", "Preis": "1.50"}),
    "tisch.jpg": ("008", {"Farbe": 'rot\nund blau, "hell"', "Preis": "1234.00"}),
}
FORMS = {
    "UTF-16 with a mark": SHEET.encode("utf-16"),
    "UTF-16 big endian, tabs": b"\xfe\xff" + SHEET.replace(";", "\t").encode("utf-16-be"),
    "Latin-1": SHEET.encode("latin-1"),
    "UTF-8 with a mark": SHEET.encode("utf-8-sig"),
    "sep=;": f"sep=;\r\n{SHEET}".encode(),
    "sep=; in UTF-16": f"sep=;\r\n{SHEET}".encode("utf-16"),
    "sep=; in Latin-1": f"sep=;\r\n{SHEET}".encode("latin-1"),
    "quoted sep=;": f'"sep=;"\r\n{SHEET}'.encode(),
    "sep=tab": ("sep=\t\r\n" + SHEET.replace(";", "\t")).encode(),
    "a title above": f"Möbelliste 2024, Stand: Mai\r\n\r\n{SHEET}".encode(),
    "a title with separators": f"Möbelliste;;;\r\n;;;\r\n{SHEET}".encode("cp1252"),
    "a title of two lines": f'"Möbel\r\nListe";;;\r\n{SHEET}'.encode(),
    "tabs in a .csv": SHEET.replace(";", "\t").encode(),
    "bars": SHEET.replace(";", "|").encode(),
    "composed otherwise": unicodedata.normalize("NFD", SHEET).encode(),
    "Mac's line ends": SHEET.replace("\r\n", "\r").encode(),
    "empty columns": SHEET.replace("Preis\r\n", "Preis;;\r\n").encode(),
    "blank rows": SHEET.replace(HEAD, f"{HEAD}\r\n;;;\r\n").encode(),
}


def said(content: bytes, name: str = "liste.csv") -> dict[str, tuple[str, dict[str, str]]]:
    metadata = read_metadata(content, name)
    assert metadata.problems == []
    assert metadata.grave_findings == []
    return {
        path: (
            row.product_id,
            {key: "\n".join(text.splitlines()) for key, text in row.attributes.items()},
        )
        for path, row in metadata.rows.items()
    }


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_every_form_of_a_sheet_says_the_same(content: bytes) -> None:
    found = said(content)
    prices = {attributes["Preis"].removesuffix(".00") for _, attributes in found.values()}
    assert prices == {"1.50", "1234"}
    for path, (product, attributes) in KNOWN.items():
        assert found[path][0] == product
        assert found[path][1]["Farbe"] == attributes["Farbe"]


def workbook(
    *rows: tuple[Any, ...], merge: str = "", form: Callable[[Worksheet], None] | None = None
) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    if merge:
        sheet.merge_cells(merge)
    if form:
        form(sheet)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def with_part(content: bytes, old: bytes, new: bytes) -> bytes:
    """Return a workbook with other text in its first sheet."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as held, zipfile.ZipFile(changed, "w") as out:
        for name in held.namelist():
            body = held.read(name)
            out.writestr(name, body.replace(old, new) if "sheet1" in name else body)
    return changed.getvalue()


HEADER = ("Dateiname", "Artikel", "Preis")


def test_a_product_of_merged_cells_is_that_of_each_row() -> None:
    rows = [HEADER, ("a.jpg", "A1", 1.5), ("b.jpg", None, 2), ("c.jpg", None, 2), ("d.jpg", "B", 1)]
    found = said(workbook(*rows, merge="B2:B4"), "x.xlsx")
    assert [product for product, _ in found.values()] == ["A1", "A1", "A1", "B"]


def test_a_merged_title_dates_and_numbers_as_text_are_read() -> None:
    def as_text(sheet: Worksheet) -> None:
        for row in sheet.iter_rows(min_row=3):
            row[1].number_format = "@"

    rows = [
        ("Möbelliste", None, None, None),
        (*HEADER, "Datum"),
        ("a.jpg", "007", "1,50", datetime.date(2024, 5, 1)),
        ("b.jpg", "0008", "2,50", datetime.datetime(2024, 5, 2, 13, 30)),
    ]
    found = said(workbook(*rows, merge="A1:D1", form=as_text), "x.xlsx")
    assert [product for product, _ in found.values()] == ["007", "0008"]
    assert found["a.jpg"][1] == {"Preis": "1.50", "Datum": "2024-05-01"}
    assert found["b.jpg"][1] == {"Preis": "2.50", "Datum": "2024-05-02 13:30:00"}


def test_formulas_are_their_values_and_refused_without_any() -> None:
    rows = [HEADER, ("a.jpg", '=CONCATENATE("A",1)', 1), ("b.jpg", "A2", 3)]
    content = workbook(*rows)
    with pytest.raises(MetadataError, match=r"x\.xlsx: 1 formulas .* \(rows 2\)"):
        read_metadata(content, "x.xlsx")
    start = b'<c r="B2"><f>CONCATENATE("A",1)</f><v'
    computed = b'<c r="B2" t="str"><f>CONCATENATE("A",1)</f><v>A1</v>'
    for end in (b"></v>", b" />", b"/>"):
        content = with_part(content, start + end, computed)
    assert said(content, "x.xlsx")["a.jpg"][0] == "A1"


@pytest.mark.parametrize("error", ["#N/A", "#REF!", "#DIV/0!", "#VALUE!"])
def test_an_error_in_a_cell_is_a_finding_and_no_empty_product(error: str) -> None:
    rows = [HEADER, ("a.jpg", error, 1), ("b.jpg", "A2", 3)]
    metadata = read_metadata(workbook(*rows), "x.xlsx")
    [finding] = metadata.findings
    assert (finding.needs_yes, finding.rows, finding.values) == (True, (2,), (error,))


def test_a_number_too_long_for_a_spreadsheet_is_a_finding() -> None:
    rows = [HEADER, ("a.jpg", 1234567890123456789, 1), ("b.jpg", 100000, 3)]
    metadata = read_metadata(workbook(*rows), "x.xlsx")
    assert [one.rows for one in metadata.findings if one.needs_yes] == [(2,)]
    assert metadata.rows["b.jpg"].product_id == "100000"


@pytest.mark.parametrize("of_files", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("of_sheet", "encoding"), [("NFC", "utf-8"), ("NFD", "utf-8"), ("NFC", "latin-1")]
)
def test_rows_find_their_files_in_either_unicode_form(
    of_sheet: Any, encoding: str, of_files: Any
) -> None:
    text = unicodedata.normalize(of_sheet, SHEET.replace("Stühle/", ""))
    metadata = read_metadata(text.encode(encoding), "liste.csv")
    paths = [unicodedata.normalize(of_files, f"Fotos/Stühle/{name}") for name in ("grün.jpg",)]
    pairing = pair(metadata, [*paths, "Fotos/Stühle/tisch.jpg"], [])
    assert {path: row.product_id for path, row in pairing.rows.items()} == {
        paths[0]: "007",
        "Fotos/Stühle/tisch.jpg": "008",
    }
    assert pairing.problems == []

"""22 odd pictures and the sheet of a German Excel go in through the page, every product right."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image as PilImage
from PIL import ImageCms

from accounts.models import User
from catalog.models import Catalog, Image
from catalog.tasks import import_catalog
from jobs.models import Job, JobState
from lookalike.images.decode import read_picture
from tests.pictures import (
    animated_png,
    animated_webp,
    encoded,
    heic,
    jpeg,
    picture,
    png,
    png_16_bit_rgb,
    with_jpeg_segments,
    with_png_parts,
)

pytestmark = pytest.mark.django_db
SIZE = (160, 120)
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def odd_pictures() -> dict[str, bytes]:
    """Pictures as museums, phones, scanners and shops have them, each another one."""
    frames = [picture(40, SIZE, "P"), picture(41, SIZE, "P")]
    turned = PilImage.Exif()
    turned[0x0112] = 6
    return {
        "Möbel/stuhl.tif": encoded(picture(1, SIZE), "TIFF"),
        "Möbel/stuhl lzw.tiff": encoded(picture(2, SIZE), "TIFF", compression="tiff_lzw"),
        "Möbel/tisch 16 bit.tif": encoded(picture(3, SIZE, "I;16"), "TIFF"),
        "Möbel/tisch cmyk.tif": encoded(picture(4, SIZE, "CMYK"), "TIFF"),
        "Möbel/zwei seiten.tif": encoded(
            picture(5, SIZE), "TIFF", save_all=True, append_images=[picture(6, SIZE)]
        ),
        "Druck/kleid.jpg": encoded(picture(7, SIZE, "CMYK"), "JPEG"),
        "Druck/grau.jpg": encoded(picture(8, SIZE, "L"), "JPEG"),
        "Scan/grau 16.png": encoded(picture(9, SIZE, "I;16"), "PNG"),
        "Scan/farbe 16.png": png_16_bit_rgb(),
        "Web/bewegt.gif": encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        "Web/bewegt.webp": animated_webp(),
        "Web/bewegt.png": animated_png(),
        "Web/alt.bmp": encoded(picture(10, SIZE), "BMP"),
        "Web/neu.avif": encoded(picture(11, SIZE), "AVIF"),
        "Handy/IMG_0001.HEIC": heic(picture(12, SIZE)),
        "Handy/IMG_0002.heif": heic(picture(13, SIZE)),
        "Handy/gedreht.jpg": encoded(picture(14, SIZE), "JPEG", exif=turned),
        "Falsch/eigentlich jpeg.png": jpeg(15, SIZE),
        "Falsch/eigentlich png.jpg": png(16, SIZE),
        "Notiz/langer text.png": with_png_parts(png(17, SIZE), (b"tEXt", b"k\0" + b"x" * 2**21)),
        "Notiz/kaputtes exif.jpg": with_jpeg_segments(jpeg(18, SIZE), (0xE1, b"Exif\0\0broken")),
        "Größe/profil & klein.png": encoded(picture(19, (60, 40)), "PNG", icc_profile=SRGB),
    }


def rows() -> list[list[str]]:
    """A sheet of a German shop: bare names, decimal commas, empty columns at the end."""
    sheet = [["Dateiname", "Artikel-Nr.", "Farbe", "Preis", "", ""]]
    for number, path in enumerate(odd_pictures()):
        name = path.rpartition("/")[2]
        sheet.append([name, f"A-{100 + number // 2}", "grün", f"{number},50", "", ""])
    return sheet


def csv_of(encoding: str) -> bytes:
    return "\r\n".join(";".join(row) for row in rows()).encode(encoding)


def xlsx() -> bytes:
    book = openpyxl.Workbook()
    for row in rows():
        book.active.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return content.getvalue()


def send(admin: User, name: str, sheet: bytes) -> dict[str, Any]:
    """Fill in the page of a new catalog, do the worker's part, and return the report."""
    client = Client()
    client.force_login(admin)
    junk = {"Möbel/@eaDir/stuhl.tif/SYNOPHOTO_THUMB_M.jpg": jpeg(), "Möbel/Thumbs.db": b"x"}
    answer = client.post(
        "/catalogs/new/",
        {
            "name": "Museum",
            "upload": SimpleUploadedFile("fotos.zip", zip_of({**odd_pictures(), **junk})),
            "metadata": SimpleUploadedFile(name, sheet),
        },
    )
    assert answer.status_code == 302, answer.content
    assert answer["Location"] == "/catalogs/museum/"
    job = Job.objects.get()
    import_catalog(str(job.uid))
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED, job.error
    assert "Hard to compare" in client.get("/catalogs/museum/report/").text
    return dict(job.result)


@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        ("liste.csv", csv_of("latin-1")),
        ("liste.csv", csv_of("utf-8-sig")),
        ("liste.csv", csv_of("utf-16")),
        ("liste.csv", b"sep=;\r\nFotos 2026;;;;;\r\n\r\n" + csv_of("latin-1")),
        ("liste.csv", csv_of("utf-16").decode("utf-16").replace(";", "\t").encode("utf-16")),
        ("liste.xlsx", xlsx()),
    ],
    ids=["Latin-1", "UTF-8", "UTF-16", "a hint and a title", "tabs in UTF-16", "Excel"],
)
def test_a_folder_of_odd_pictures_and_a_german_sheet_go_in_whole(
    name: str, sheet: bytes, admin: User
):
    result = send(admin, name, sheet)
    assert len(odd_pictures()) == 22
    assert (result["images"], result["products"], result["skipped"]) == (22, 11, 2)
    assert result["broken"] == []
    catalog = Catalog.objects.get()
    for number, (path, content) in enumerate(odd_pictures().items()):
        image = Image.objects.get(catalog=catalog, source_files__path=path)
        assert image.product_id == f"A-{100 + number // 2}", path
        assert image.attributes == {"Farbe": "grün", "Preis": f"{number}.50"}
        assert image.image_format == read_picture(content).image_format
    assert result["converted"] == {
        "16 bits a channel": 3,
        "AVIF": 1,
        "BMP": 1,
        "CMYK": 2,
        "GIF": 1,
        "HEIF": 2,
        "TIFF": 5,
        "first of several frames": 4,
        "named as another format": 2,
        "oversized text": 1,
    }
    unusual = {entry["file"] for entry in result["unusual"]}
    assert "Größe/profil & klein.png" in unusual
    assert "Möbel/stuhl.tif" not in unusual
    assert result["table"]["rows"] == result["table"]["used"] == 22
    assert [use for _, use in result["table"]["columns"]] == [
        "file",
        "product",
        "attribute",
        "attribute",
    ]


def test_the_original_of_a_converted_picture_is_served_unchanged(admin: User):
    send(admin, "liste.csv", csv_of("utf-8"))
    client = Client()
    client.force_login(admin)
    for path, kind in {
        "Möbel/stuhl.tif": "image/tiff",
        "Handy/IMG_0001.HEIC": "image/heic",
    }.items():
        image = Image.objects.get(source_files__path=path)
        answer = client.get(f"/images/{image.uid}/original")
        assert answer["Content-Type"] == kind
        assert b"".join(answer.streaming_content) == odd_pictures()[path]  # type: ignore[attr-defined]
        assert client.get(f"/images/{image.uid}/view")["Content-Type"] == "image/webp"

"""Pixels decide: every format people have is rendered, and no note keeps a picture out."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from lookalike.backbones.pictures import open_picture
from lookalike.images.containers import exif_orientation
from lookalike.images.decode import read_picture, read_rgb
from lookalike.images.pixels import DEEP, DROPPED, FIRST_FRAME, decode
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

LOSSY = 20  # mean difference of values that small blobs keep in lossy formats
TEXT = b"comment\0\0" + zlib.compress(b"x" * 1_200_000)
ANIMATED_GIF = encoded(
    picture(0, mode="P"), "GIF", save_all=True, append_images=[picture(1, mode="P")]
)
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def linear_srgb() -> bytes:
    """An RGB profile that calls itself sRGB and has straight curves instead of those of sRGB."""
    at = SRGB.index(b"rTRC")
    start, length = struct.unpack(">II", SRGB[at + 4 : at + 12])
    straight = b"curv" + bytes(4) + struct.pack(">I", 0)
    return SRGB[:start] + straight.ljust(length, b"\0") + SRGB[start + length :]


def difference(found: Image.Image, expected: Image.Image) -> float:
    pixels = [np.asarray(one, np.float64) for one in (found, expected)]
    assert pixels[0].shape == pixels[1].shape
    return float(np.abs(pixels[0] - pixels[1]).mean())


FORMATS = {
    "TIFF": encoded(picture(1), "TIFF"),
    "TIFF with LZW": encoded(picture(1), "TIFF", compression="tiff_lzw"),
    "TIFF with JPEG": encoded(picture(1), "TIFF", compression="jpeg", quality=95),
    "BigTIFF": encoded(picture(1), "TIFF", big_tiff=True),
    "GIF": encoded(picture(1), "GIF"),
    "BMP": encoded(picture(1), "BMP"),
    "AVIF": encoded(picture(1), "AVIF", quality=95),
    "HEIC": heic(picture(1)),
}


@pytest.mark.parametrize("case", FORMATS)
def test_each_format_shows_the_picture_that_was_saved(case: str):
    content = FORMATS[case]
    found = read_picture(content, "a.jpg")
    assert (found.width, found.height) == (40, 30)
    assert difference(read_rgb(content), picture(1)) < LOSSY
    assert found.image_format in found.conversions
    assert read_picture(content, "a.jpg") == found


def test_other_pictures_differ_by_more_than_formats_lose():
    assert difference(picture(1), picture(3)) > 2 * LOSSY
    assert difference(picture(0), picture(1)) > 2 * LOSSY


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("image_format", ["PNG", "TIFF"])
def test_of_16_bits_the_upper_8_are_shown(image_format: str, mode: str):
    if mode == "RGB":
        content = png_16_bit_rgb()
        assert np.asarray(read_rgb(content))[0, 0].tolist() == [0, 2, 4]
    else:
        values = (np.arange(48, dtype=np.uint16) * 257).reshape(6, 8)
        content = encoded(Image.fromarray(values), image_format)
        assert np.asarray(read_rgb(content))[..., 0].ravel().tolist() == list(range(48))
    assert DEEP in decode(content).conversions


def test_a_16_bit_png_with_a_clear_colour_lies_on_white():
    values = np.full((2, 2), 40_000, np.uint16)
    values[0, 0] = 40_001  # of the same upper 8 bits, and not clear
    content = encoded(Image.fromarray(values), "PNG")
    clear = with_png_parts(content, (b"tRNS", struct.pack(">H", 40_000)))
    assert np.asarray(read_rgb(clear))[..., 0].tolist() == [[156, 255], [255, 255]]
    colour = with_png_parts(png_16_bit_rgb(), (b"tRNS", struct.pack(">HHH", 1, 515, 1029)))
    assert np.asarray(read_rgb(colour))[0, 0].tolist() == [255, 255, 255]


@pytest.mark.parametrize("image_format", ["JPEG", "TIFF"])
def test_cmyk_is_rendered_by_the_stated_rule_where_it_has_no_profile(image_format: str):
    image = Image.new("CMYK", (32, 32), (0, 255, 255, 0))  # red
    content = encoded(image, image_format)
    assert np.asarray(read_rgb(content))[9, 9] == pytest.approx([255, 0, 0], abs=3)
    assert "CMYK" in read_picture(content, "a.jpg").conversions
    assert np.asarray(read_rgb(content)).tolist() == np.asarray(read_rgb(content)).tolist()


def test_the_profile_decides_and_not_its_name():
    grey = Image.new("RGB", (32, 32), (64, 64, 64))
    plain = encoded(grey, "PNG", icc_profile=SRGB)
    linear = encoded(grey, "PNG", icc_profile=linear_srgb())
    assert np.asarray(read_rgb(plain))[0, 0].tolist() == [64, 64, 64]
    assert np.asarray(read_rgb(linear))[0, 0] == pytest.approx([137, 137, 137], abs=2)
    view = Image.open(io.BytesIO(read_picture(linear, "a.png").view))
    assert np.asarray(view)[9, 9] == pytest.approx([137, 137, 137], abs=3)


def test_models_see_the_colours_that_people_see(tmp_path: Path):
    content = encoded(Image.new("RGB", (64, 64), (64, 90, 20)), "PNG", icc_profile=linear_srgb())
    (tmp_path / "a.png").write_bytes(content)
    view = Image.open(io.BytesIO(read_picture(content, "a.png").view))
    assert difference(open_picture(tmp_path / "a.png"), view) < 3


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.gif", ANIMATED_GIF), ("a.webp", animated_webp()), ("a.png", animated_png())],
)
def test_of_several_frames_the_first_is_shown(name: str, content: bytes):
    found = read_picture(content, name)
    assert FIRST_FRAME in found.conversions
    assert difference(read_rgb(content), picture(0)) < LOSSY


def test_the_first_page_of_a_tiff_is_shown_and_said():
    pages = encoded(picture(3), "TIFF", save_all=True, append_images=[picture(4)])
    assert FIRST_FRAME in read_picture(pages, "a.tif").conversions
    assert difference(read_rgb(pages), picture(3)) == 0


# ---- notes ----
BROKEN_EXIF = b"Exif\0\0MM\0*\0\0\0\x08\xff\xff rubbish"
EXIF = Image.Exif()
EXIF[0x010E] = "a description"


def broken_exif(content: bytes) -> bytes:
    at = max(content.find(b"MM\0*"), content.find(b"II*\0"))
    assert at > 0
    return content[:at] + b"rubbish!" + content[at + 8 :]


NOTES = {
    "packed text of 1.2 MB": with_png_parts(png(3), (b"zTXt", TEXT)),
    "packed international text": with_png_parts(
        png(3), (b"iTXt", b"XML\0\1\0\0\0" + zlib.compress(b"y" * 3_000_000))
    ),
    "plain text of 2 MB": with_png_parts(png(3), (b"tEXt", b"k\0" + b"z" * 2_000_000)),
    "broken packed text": with_png_parts(png(3), (b"zTXt", b"k\0\0rubbish")),
    "text without an end": with_png_parts(png(3), (b"iTXt", b"k")),
    "broken EXIF in a PNG": with_png_parts(png(3), (b"eXIf", BROKEN_EXIF[6:])),
    "broken profile in a PNG": with_png_parts(png(3), (b"iCCP", b"p\0\0rubbish")),
    "rubbish profile in a PNG": with_png_parts(
        png(3), (b"iCCP", b"p\0\0" + zlib.compress(b"rubbish"))
    ),
    "broken resolution in a PNG": with_png_parts(png(3), (b"pHYs", b"\0")),
    "broken colours in a PNG": with_png_parts(png(3), (b"cHRM", b"\0"), (b"gAMA", b"")),
    "a note with a wrong sum": with_png_parts(png(3), (b"tIME", b"1234567"))[:45]
    + b"\0\0\0\0"
    + with_png_parts(png(3), (b"tIME", b"1234567"))[49:],
    "broken EXIF in a JPEG": with_jpeg_segments(jpeg(3), (0xE1, BROKEN_EXIF)),
    "broken list of pictures in a JPEG": with_jpeg_segments(jpeg(3), (0xE2, b"MPF\0MM\0*rubbish")),
    "broken profile in a JPEG": with_jpeg_segments(jpeg(3), (0xE2, b"ICC_PROFILE\0\1\1rubbish")),
    "half a profile in a JPEG": with_jpeg_segments(jpeg(3), (0xE2, b"ICC_PROFILE\0\1\3" + SRGB)),
    "broken Photoshop notes": with_jpeg_segments(jpeg(3), (0xED, b"Photoshop 3.0\0008BIM\x04")),
    "comments": with_jpeg_segments(jpeg(3), *[(0xFE, b"c" * 60_000)] * 40),
    "broken EXIF in a WebP": encoded(picture(3), "WEBP", exif=BROKEN_EXIF, lossless=True),
    "broken XMP in a WebP": encoded(picture(3), "WEBP", xmp=b"<x", lossless=True),
    "broken profile in a WebP": encoded(picture(3), "WEBP", icc_profile=b"bad", lossless=True),
    "broken profile in a TIFF": encoded(picture(3), "TIFF", icc_profile=b"bad"),
    "broken EXIF in an AVIF": broken_exif(encoded(picture(3), "AVIF", exif=EXIF, quality=95)),
    "broken EXIF in a HEIC": broken_exif(heic(picture(3), exif=EXIF.tobytes())),
}


@pytest.mark.parametrize("case", NOTES)
def test_no_note_keeps_a_good_picture_out(case: str, tmp_path: Path):
    content = NOTES[case]
    found = read_picture(content, "a.png")
    assert (found.width, found.height) == (40, 30)
    assert difference(read_rgb(content), picture(3)) < LOSSY
    (tmp_path / "photo").write_bytes(content)
    assert difference(open_picture(tmp_path / "photo"), read_rgb(content)) == 0
    assert (DROPPED in found.conversions) == (
        case in {"packed text of 1.2 MB", "packed international text", "plain text of 2 MB"}
    )


def test_the_picture_of_the_field_with_a_long_text_is_read(shared_data: Path):
    content = (shared_data / "field_cases/HAND_png_text/photo.png").read_bytes()
    found = read_picture(content, "photo.png")
    assert found.conversions == (DROPPED,)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("image_format", ["JPEG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_every_format_is_turned_once(image_format: str, orientation: int):
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = Image.new("RGB", (64, 48), "blue")
    stored.paste("red", (0, 0, 32, 24))
    if image_format == "HEIF":
        content = heic(stored, exif=exif.tobytes())
    else:
        content = encoded(stored, image_format, exif=exif)
    corners = {
        1: (0, 0),
        2: (1, 0),
        3: (1, 1),
        4: (0, 1),
        5: (0, 0),
        6: (1, 0),
        7: (1, 1),
        8: (0, 1),
    }
    found = read_rgb(content)
    assert found.size == ((48, 64) if orientation > 4 else (64, 48))
    right, low = corners[orientation]
    place = (found.width - 9 if right else 8, found.height - 9 if low else 8)
    red, _, blue = found.getpixel(place)  # type: ignore[misc]
    assert red > 150 > blue


@pytest.mark.parametrize("exif", [b"", b"rubbish", b"Exif\0\0", BROKEN_EXIF, b"MM\0*" + bytes(9)])
def test_exif_that_says_nothing_turns_nothing(exif: bytes):
    assert exif_orientation(exif) == 1

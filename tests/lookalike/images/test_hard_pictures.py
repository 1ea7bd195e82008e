"""Pictures of odd modes and containers show what was saved, the clear parts on white."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from lookalike.images.decode import read_picture, read_rgb
from tests.pictures import encoded, picture

SIZE = (33, 21)  # no multiple of a block of any format
PLAIN = picture(1, SIZE)
GREY = PLAIN.convert("L")
BITS = PLAIN.convert("1")
COLOURS = PLAIN.quantize(16)
HALF = Image.merge("RGBA", (*PLAIN.split(), Image.linear_gradient("L").resize(SIZE)))
DEEP = (np.asarray(GREY, np.uint16) << 8) + 77
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
         (0, 1, 1, 2))  # fmt: skip


def interlaced(image: Image.Image) -> bytes:
    """Return a PNG in the seven passes of Adam7 (PNG specification, section 8.2)."""
    pixels = np.asarray(image)
    rows = [
        b"\0" + line.tobytes()
        for x, y, dx, dy in ADAM7
        for line in pixels[y::dy, x::dx]
        if line.size
    ]
    header = struct.pack(">IIBBBBB", *image.size, 8, 2, 0, 0, 1)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


def on_white(image: Image.Image) -> Image.Image:
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")


CASES = {
    "1 bit TIFF": (encoded(BITS, "TIFF"), BITS),
    "1 bit TIFF by fax": (encoded(BITS, "TIFF", compression="group4"), BITS),
    "1 bit TIFF, 0 is white": (encoded(BITS, "TIFF", tiffinfo={262: 0}), BITS),
    "1 bit PNG": (encoded(BITS, "PNG"), BITS),
    "1 bit BMP": (encoded(BITS, "BMP"), BITS),
    "16 bit TIFF": (encoded(Image.fromarray(DEEP), "TIFF"), GREY),
    "16 bit TIFF, big endian": (
        encoded(Image.frombytes("I;16B", SIZE, DEEP.astype(">u2").tobytes()), "TIFF"),
        GREY,
    ),
    "palette TIFF": (encoded(COLOURS, "TIFF"), COLOURS),
    "TIFF of two pages": (
        encoded(PLAIN, "TIFF", save_all=True, append_images=[picture(2, SIZE)]),
        PLAIN,
    ),
    "TIFF with alpha": (encoded(HALF, "TIFF", compression="tiff_deflate"), HALF),
    "palette PNG, a clear colour": (
        encoded(COLOURS, "PNG", transparency=bytes([0, 128, *[255] * 14])),
        None,
    ),
    "grey and alpha PNG": (
        encoded(Image.merge("LA", (GREY, HALF.getchannel("A"))), "PNG"),
        Image.merge("RGBA", (GREY, GREY, GREY, HALF.getchannel("A"))),
    ),
    "interlaced PNG": (interlaced(PLAIN), PLAIN),
    "APNG": (encoded(PLAIN, "PNG", save_all=True, append_images=[picture(2, SIZE)]), PLAIN),
    "WebP with alpha": (encoded(HALF, "WEBP", lossless=True, exact=True), HALF),
    "animated WebP": (
        encoded(PLAIN, "WEBP", save_all=True, append_images=[picture(2, SIZE)], lossless=True),
        PLAIN,
    ),
    "progressive JPEG": (
        encoded(PLAIN, "JPEG", progressive=True, quality=95, subsampling=0),
        PLAIN,
    ),
    "two pictures of a phone": (
        encoded(
            PLAIN, "MPO", save_all=True, append_images=[picture(2, SIZE)], quality=95, subsampling=0
        ),
        PLAIN,
    ),
    "JPEG and a tail": (encoded(PLAIN, "JPEG", quality=95, subsampling=0) + b"x" * 999, PLAIN),
    "broken profile": (encoded(PLAIN, "PNG", icc_profile=b"no profile"), PLAIN),
}


@pytest.mark.parametrize("name", CASES)
def test_an_odd_picture_shows_what_was_saved(name: str) -> None:
    content, saved = CASES[name]
    shown = np.asarray(read_rgb(content), np.float64)
    if saved is None:
        raw = np.asarray(COLOURS)
        assert (shown[raw == 0] == 255).all()
        saved_pixels = np.asarray(COLOURS.convert("RGB"), np.float64)
        assert (shown[raw > 1] == saved_pixels[raw > 1]).all()
        return
    expected = np.asarray(on_white(saved), np.float64)
    assert shown.shape == expected.shape
    assert np.abs(shown - expected).mean() < 4


@pytest.mark.parametrize("name", ["a.JPG", "a.jfif", "a.jpe", "A.JFIF"])
@pytest.mark.parametrize("image_format", ["PNG", "JPEG", "WEBP"])
def test_the_bytes_say_the_format_whatever_the_ending(name: str, image_format: str) -> None:
    found = read_picture(encoded(PLAIN, image_format), name)
    assert found.image_format == image_format

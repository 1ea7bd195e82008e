"""Pictures made for tests: good ones, and every kind that must be refused."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pillow_heif
from PIL import Image


def picture(seed: int = 0, size: tuple[int, int] = (40, 30), mode: str = "RGB") -> Image.Image:
    """A picture of soft blobs, different for each seed."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (8, 8, 3), np.uint8)
    return Image.fromarray(small).resize(size, Image.Resampling.BICUBIC).convert(mode)


def encoded(image: Image.Image, image_format: str = "JPEG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, image_format, **options)
    return buffer.getvalue()


def jpeg(seed: int = 0, size: tuple[int, int] = (40, 30)) -> bytes:
    return encoded(picture(seed, size), "JPEG", quality=90)


def png(seed: int = 0, size: tuple[int, int] = (40, 30)) -> bytes:
    return encoded(picture(seed, size), "PNG")


def heic(image: Image.Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pillow_heif.from_pillow(image).save(buffer, quality=80, **options)
    return buffer.getvalue()


def with_png_parts(content: bytes, *parts: tuple[bytes, bytes]) -> bytes:
    """A PNG with further parts (kind, body) after its header."""
    return content[:33] + b"".join(_part(*part) for part in parts) + content[33:]


def with_jpeg_segments(content: bytes, *segments: tuple[int, bytes]) -> bytes:
    """A JPEG with further segments (marker, body) at its start."""
    added = (struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body for marker, body in segments)
    return content[:2] + b"".join(added) + content[2:]


def animated_webp() -> bytes:
    frames = [picture(seed) for seed in range(3)]
    return encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:])


def animated_png() -> bytes:
    frames = [picture(seed) for seed in range(3)]
    return encoded(frames[0], "PNG", save_all=True, append_images=frames[1:])


def png_16_bit_rgb() -> bytes:
    """Pillow cannot write one, and reads one as if it had 8 bits."""
    rows = b"".join(b"\0" + bytes(range(48)) for _ in range(8))
    return _png(width=8, height=8, depth=16, colour=2, data=zlib.compress(rows))


def png_bomb(side: int = 30_000) -> bytes:
    """A few bytes that claim, and would unpack to, 900 million pixels."""
    rows = zlib.compress(b"\0" * (side // 8 + 1) * 100, 9)
    return _png(width=side, height=side, depth=1, colour=0, data=rows)


def webp_bomb() -> bytes:
    """A WebP file whose header claims the largest canvas there is."""
    side = (16383 - 1).to_bytes(3, "little")
    extended = b"VP8X" + struct.pack("<I", 10) + b"\x10\0\0\0" + side + side
    body = b"WEBP" + extended + encoded(picture(), "WEBP", lossless=True)[12:]
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _png(*, width: int, height: int, depth: int, colour: int, data: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(*part) for part in parts)


def _part(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


BAD_PICTURES: dict[str, tuple[str, bytes, str]] = {
    # name of the case: file name, content, words that the reason must hold
    "zero-byte": ("a.jpg", b"", "empty"),
    "broken": ("a.jpg", b"\xff\xd8\xff" + b"rubbish" * 50, "broken"),
    "text": ("a.jpg", b"hello, I am a text", "no picture at all"),
    "PDF named JPEG": ("a.jpg", b"%PDF-1.7 ...", "PDF"),
    "pointer of Git LFS": ("a.jpg", b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
    "truncated JPEG": ("a.jpg", jpeg(size=(400, 300))[:-900], "cut short"),
    "truncated PNG": ("a.png", png(size=(400, 300))[:-900], "cut short"),
    "truncated WebP": ("a.webp", encoded(picture(size=(400, 300)), "WEBP")[:-300], "broken"),
    "PNG with a flipped bit": (
        "a.png",
        png()[:60] + bytes([png()[60] ^ 1]) + png()[61:],
        "broken",
    ),
    "JPEG 2000": ("a.jp2", encoded(picture(), "JPEG2000"), "JPEG 2000"),
    "raw photo": ("a.dng", encoded(picture(), "TIFF"), "raw photo"),
    "raw photo named TIFF": ("a.tif", encoded(picture(), "TIFF", tiffinfo={50706: b"1400"}), "raw"),
    "32 bits": ("a.tif", encoded(Image.new("F", (8, 8)), "TIFF"), "32 bits"),
    "SVG": ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
    "HTML named PNG": ("a.png", b"<html><script>alert(1)</script>", "a web page"),
    "PNG bomb": ("a.png", png_bomb(), "at most 64,000,000"),
    "smaller PNG bomb": ("a.png", png_bomb(9_000), "at most 64,000,000"),
    "PNG without its end": ("a.png", png()[:-12], "broken"),
    "WebP bomb": ("a.webp", webp_bomb(), "16,383 × 16,383 pixels"),
    "truncated TIFF": ("a.tif", encoded(picture(size=(400, 300)), "TIFF")[:-9000], "broken"),
    "truncated BMP": ("a.bmp", encoded(picture(size=(400, 300)), "BMP")[:-9000], "cut short"),
    "truncated GIF": ("a.gif", encoded(picture(size=(400, 300)), "GIF")[:-9000], "broken"),
    "truncated AVIF": ("a.avif", encoded(picture(size=(400, 300)), "AVIF")[:-300], "broken"),
    "truncated HEIC": ("a.heic", heic(picture(size=(400, 300)))[:-900], "broken"),
    "TIFF bomb": ("a.tif", encoded(Image.new("1", (9000, 9000)), "TIFF"), "at most 64,000,000"),
    "GIF bomb": ("a.gif", encoded(Image.new("1", (9000, 9000)), "GIF"), "at most 64,000,000"),
    "HEIC bomb": ("a.heic", heic(Image.new("L", (9000, 9000))), "at most 64,000,000"),
}


def write_folder(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder

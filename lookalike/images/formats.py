"""What a file is by its first bytes, without decoding it."""

from __future__ import annotations

ENDINGS: dict[str, tuple[str, ...]] = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "PNG": (".png",),
    "WEBP": (".webp",),
}
OTHER_PICTURE_ENDINGS = {
    ".gif": "This is a GIF",
    ".bmp": "This is a BMP",
    ".tif": "This is a TIFF",
    ".tiff": "This is a TIFF",
    ".heic": "This is a HEIC",
    ".heif": "This is a HEIF",
    ".avif": "This is an AVIF",
    ".jp2": "This is a JPEG 2000",
    ".jxl": "This is a JPEG XL",
    ".svg": "This is an SVG drawing",
    ".svgz": "This is an SVG drawing",
    ".psd": "This is a Photoshop file",
    ".eps": "This is a PostScript file",
    ".ico": "This is an icon",
    ".tga": "This is a Targa file",
    ".dng": "This is a raw photo",
    ".cr2": "This is a raw photo",
    ".nef": "This is a raw photo",
    ".arw": "This is a raw photo",
}
PICTURE_ENDINGS = frozenset(e for endings in ENDINGS.values() for e in endings) | frozenset(
    OTHER_PICTURE_ENDINGS
)
HEAD_BYTES = 64  # enough for every test below
_SIGNATURES: list[tuple[int, bytes, str]] = [
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (0, b"GIF87a", "GIF"),
    (0, b"GIF89a", "GIF"),
    (0, b"II*\x00", "TIFF"),
    (0, b"MM\x00*", "TIFF"),
    (0, b"8BPS", "Photoshop"),
    (0, b"SIMPLE  =", "FITS"),
    (0, b"\x00\x00\x00\x0cjP  ", "JPEG 2000"),
    (0, b"\x00\x00\x00\x0cJXL ", "JPEG XL"),
    (4, b"ftypavif", "AVIF"),
    (4, b"ftypheic", "HEIC"),
    (4, b"ftypheix", "HEIC"),
    (4, b"ftypmif1", "HEIF"),
]


def sniffed_format(head: bytes) -> str | None:
    """Return the picture format that the first bytes announce, or None for no picture.

    JPEG, PNG and WEBP are Pillow's names of the formats that are accepted.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return "BMP"
    for start, signature, name in _SIGNATURES:
        if head[start : start + len(signature)] == signature:
            return name
    return "SVG" if b"<svg" in head[:HEAD_BYTES].lower() else None


def bits_a_channel(content: bytes, image_format: str) -> int:
    """Return the bits a channel that a PNG header states (Pillow hides 16); 8 for the others."""
    if image_format == "PNG" and content[12:16] == b"IHDR" and len(content) > 24:
        return content[24]
    return 8


def stated_size(content: bytes, image_format: str) -> tuple[int, int] | None:
    """Return the (width, height) in a WebP header, or None where opening reveals it cheaply.

    Pillow reserves the whole canvas of a WebP file as it opens it, so that a bomb must be
    noticed before. Source: RFC 9649, sections 2.5 to 2.7.
    """
    if image_format != "WEBP" or len(content) < 30:
        return None
    kind, body = content[12:16], content[20:]
    if kind == b"VP8X":
        width, height = body[4:7], body[7:10]
        return 1 + int.from_bytes(width, "little"), 1 + int.from_bytes(height, "little")
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = body[6:8], body[8:10]
        return (
            int.from_bytes(width, "little") & 0x3FFF,
            int.from_bytes(height, "little") & 0x3FFF,
        )
    return None

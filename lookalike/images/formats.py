"""The format of a file by its first bytes, without decoding it."""

from __future__ import annotations

# Pillow's names of the accepted formats, and the endings of their files; the first is ours.
ENDINGS: dict[str, tuple[str, ...]] = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif", ".jif"),
    "PNG": (".png", ".apng"),
    "WEBP": (".webp",),
    "TIFF": (".tif", ".tiff"),
    "GIF": (".gif",),
    "BMP": (".bmp", ".dib"),
    "AVIF": (".avif", ".avifs"),
    "HEIF": (".heic", ".heif", ".hif"),
}
SHOWN_AS_IS = frozenset({"JPEG", "PNG", "WEBP"})  # the others are rendered for people and models
CONTENT_TYPES = {
    **{name: f"image/{name.lower()}" for name in ENDINGS},
    "HEIF": "image/heic",
}
OTHER_PICTURE_ENDINGS = {
    ".jp2": "a JPEG 2000 picture",
    ".j2k": "a JPEG 2000 picture",
    ".jpf": "a JPEG 2000 picture",
    ".jxl": "a JPEG XL picture",
    ".svg": "an SVG drawing",
    ".svgz": "an SVG drawing",
    ".psd": "a Photoshop file",
    ".eps": "a PostScript file",
    ".ico": "an icon",
    ".tga": "a Targa picture",
    ".xcf": "a GIMP file",
    ".exr": "an OpenEXR picture",
    ".dng": "a raw photo",
    ".cr2": "a raw photo",
    ".cr3": "a raw photo",
    ".nef": "a raw photo",
    ".arw": "a raw photo",
    ".orf": "a raw photo",
    ".raf": "a raw photo",
    ".rw2": "a raw photo",
}
RAW_ENDINGS = frozenset(end for end, kind in OTHER_PICTURE_ENDINGS.items() if kind == "a raw photo")
PICTURE_ENDINGS = frozenset(e for endings in ENDINGS.values() for e in endings) | frozenset(
    OTHER_PICTURE_ENDINGS
)
HEAD_BYTES = 64  # enough for every test below
_SIGNATURES: list[tuple[int, bytes, str]] = [
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (0, b"GIF87a", "GIF"),
    (0, b"GIF89a", "GIF"),
    (8, b"CR\x02\x00", "Canon raw"),
    (0, b"II*\x00", "TIFF"),
    (0, b"MM\x00*", "TIFF"),
    (0, b"II+\x00", "TIFF"),
    (0, b"MM\x00+", "TIFF"),
    (0, b"8BPS", "Photoshop"),
    (0, b"FUJIFILMCCD-RAW", "Fujifilm raw"),
    (0, b"SIMPLE  =", "FITS"),
    (0, b"\x00\x00\x01\x00", "icon (ICO)"),
    (0, b"\x0a\x05\x01\x08", "PCX"),
    (0, b"gimp xcf", "GIMP"),
    (0, b"v/1\x01", "OpenEXR"),
    (0, b"\xff\x4f\xff\x51", "JPEG 2000"),
    (0, b"\x00\x00\x00\x0cjP  ", "JPEG 2000"),
    (0, b"\x00\x00\x00\x0cJXL ", "JPEG XL"),
    (0, b"\xff\x0a", "JPEG XL"),
]
# ISO 14496-12: the major brand, then those that the file is compatible with
_AVIF_BRANDS = {b"avif", b"avis"}
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_BMP_HEADERS = {12, 40, 52, 56, 64, 108, 124}  # bytes; OS/2 to Windows version 5
# What people put where a picture should be, to name it in a refusal
_OTHER_FILES: list[tuple[bytes, str]] = [
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip file or an office document"),
    (b"\xd0\xcf\x11\xe0", "an older office document"),
    (b"Rar!\x1a", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%!PS", "a PostScript file"),
    (b"version https://git-lfs", "a pointer of Git LFS: fetch the files by `git lfs pull`"),
    (b"<!doctype html", "a web page: the download was answered by a page"),
    (b"<html", "a web page: the download was answered by a page"),
    (b"PAR1", "a parquet table"),
    (b"\0\0\0\0", "zeros: the copy was not finished"),
]


def sniffed_format(head: bytes) -> str | None:
    """Return the picture format that the first bytes announce, or None for no picture.

    The keys of `ENDINGS` are the accepted formats.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return "BMP"
    if head[4:8] == b"ftyp":
        return _iso_format(head)
    for start, signature, name in _SIGNATURES:
        if head[start : start + len(signature)] == signature:
            return name
    return "SVG" if b"<svg" in head[:HEAD_BYTES].lower() else None


def _iso_format(head: bytes) -> str | None:
    end = min(int.from_bytes(head[:4], "big"), len(head))
    brands = [head[8:12], *(head[at : at + 4] for at in range(16, end - 3, 4))]
    if _AVIF_BRANDS.intersection(brands):
        return "AVIF"
    if _HEIF_BRANDS.intersection(brands):
        return "HEIF"
    return "Canon raw" if brands[0] == b"crx " else None


def other_file(head: bytes) -> str | None:
    """Return what a file without a picture is, in words; None if nobody can tell."""
    start = head.lstrip().lower() if head[:1] in b" \r\n\t<" else head
    return next((name for sign, name in _OTHER_FILES if start.startswith(sign)), None)


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

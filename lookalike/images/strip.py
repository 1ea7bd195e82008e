"""Remove metadata from a picture's file without decoding it: pixels stay as they are.

What displays the pixels stays: dimensions, colour profile, gamma, transparency, animation, and the
EXIF orientation where the picture is not upright. Everything else goes: EXIF with GPS and
thumbnails, XMP, IPTC, comments, text, unknown segments, and bytes after the picture's end.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator

from PIL import Image

from lookalike.images.formats import sniffed_format

_NO_PARAMETERS = {0x01, *range(0xD0, 0xD9)}  # JPEG markers without a length
_PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD hIST pHYs sPLT acTL fcTL "
    b"fdAT mDCV cLLI".split()
)
_WEBP_KEPT = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"))
_WEBP_EXIF, _WEBP_XMP = 0x08, 0x04  # flags of VP8X
_TIFF_KEPT = frozenset((
    *range(254, 267), 273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 290, 291, 296, 297, 301,
    317, 318, 319, 320, 321, 322, 323, 324, 325, 332, 334, 336, 338, 339, 340, 341, 347, 529, 530,
    531, 532, 34675,
))  # fmt: skip
_TIFF_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
ORIENTATION = 274


class StripError(ValueError):
    """Metadata cannot be removed from a file without decoding it."""


def strip_metadata(content: bytes) -> bytes:
    """Return a picture's bytes without metadata.

    Twice is once. A file without metadata comes back as it is.

    Raises:
        StripError: the format has no lossless way here (AVIF, HEIF), or the file is malformed.

    >>> strip_metadata(b"GIF89a")
    Traceback (most recent call last):
    ...
    lookalike.images.strip.StripError: The GIF is cut off or malformed.
    """
    kind = sniffed_format(content)
    strip = _STRIPPERS.get(kind or "")
    if strip is None:
        raise StripError(f"Metadata of {kind or 'this format'} cannot be removed losslessly.")
    try:
        return strip(content)
    except (struct.error, IndexError) as problem:
        raise StripError(f"The {kind} is cut off or malformed.") from problem


def has_metadata(content: bytes) -> bool:
    """Return whether Pillow finds EXIF or XMP in a picture."""
    with Image.open(io.BytesIO(content)) as picture:
        return bool(picture.getexif() or picture.info.get("exif") or picture.info.get("xmp"))


def _exif(orientation: int) -> bytes:
    """Return an EXIF block that states the orientation and nothing else."""
    return b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, ORIENTATION, 3, 1, orientation, 0, 0)


def _orientation(exif: bytes) -> int:
    """Return the orientation of an EXIF block, 1 to 8; 1 where it cannot be read."""
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None:
        return 1
    try:
        (at,) = struct.unpack_from(f"{order}I", exif, 4)
        (n,) = struct.unpack_from(f"{order}H", exif, at)
        for entry in range(n):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, at + 2 + 12 * entry)
            if tag == ORIENTATION and kind == 3 and 1 <= value <= 8:
                return int(value)
    except struct.error:
        pass
    return 1


def _strip_jpeg(content: bytes) -> bytes:
    kept, orientation = [], 1
    for marker, segment in _jpeg_segments(content):
        data = segment[4:]
        if marker == 0xE1 and data.startswith(b"Exif\0\0"):
            orientation = max(orientation, _orientation(data[6:]))
        is_profile = marker == 0xE2 and data.startswith(b"ICC_PROFILE\0")
        is_plain = marker not in {*range(0xE1, 0xF0), 0xFE} or marker == 0xEE
        if marker == 0xE0:
            is_plain = data.startswith(b"JFIF\0")  # JFXX holds a thumbnail
        if marker == 0xEE:
            is_plain = data.startswith(b"Adobe")
        if is_plain or is_profile:
            kept.append((marker, segment))
    if orientation > 1:
        body = b"Exif\0\0" + _exif(orientation)
        at = 2 if len(kept) > 1 and kept[1][0] == 0xE0 else 1
        kept.insert(at, (0xE1, struct.pack(">HH", 0xFFE1, len(body) + 2) + body))
    return b"".join(segment for _, segment in kept)


def _jpeg_segments(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each marker with its bytes; a scan comes with the data that follows it."""
    at = 0
    while True:
        while content[at + 1] == 0xFF:  # fill bytes
            at += 1
        if content[at] != 0xFF:
            raise IndexError
        marker, begin = content[at + 1], at
        at += 2
        if marker not in _NO_PARAMETERS and marker != 0xD9:
            at += struct.unpack_from(">H", content, at)[0]
        if marker == 0xDA:
            at = _end_of_scan(content, at)
        if at > len(content):
            raise IndexError
        yield marker, content[begin:at]
        if marker == 0xD9:
            return


def _end_of_scan(content: bytes, at: int) -> int:
    """Return where the marker after a scan's data is."""
    while True:
        at = content.find(b"\xff", at)
        if at < 0:
            raise IndexError
        if content[at + 1] != 0 and not 0xD0 <= content[at + 1] <= 0xD7:
            return at
        at += 2


def _strip_png(content: bytes) -> bytes:
    parts, at, name = [content[:8]], 8, b""
    while name != b"IEND":
        size, name = struct.unpack_from(">I4s", content, at)
        chunk = content[at : at + 12 + size]
        if len(chunk) < 12 + size:
            raise IndexError
        if name in _PNG_KEPT:
            parts.append(chunk)
        elif name == b"eXIf" and (orientation := _orientation(chunk[8:-4])) > 1:
            body = b"eXIf" + _exif(orientation)
            parts.append(struct.pack(">I", len(body) - 4) + body)
            parts.append(struct.pack(">I", zlib.crc32(body)))
        at += 12 + size
    return b"".join(parts)


def _strip_webp(content: bytes) -> bytes:
    parts, at, orientation = [], 12, 1
    end = min(len(content), 8 + struct.unpack_from("<I", content, 4)[0])
    while at + 8 <= end:
        name, size = struct.unpack_from("<4sI", content, at)
        data = content[at + 8 : at + 8 + size]
        if len(data) < size:
            raise IndexError
        if name in _WEBP_KEPT:
            parts.append((name, data))
        elif name == b"EXIF":
            orientation = _orientation(data.removeprefix(b"Exif\0\0"))
        at += 8 + size + size % 2
    if orientation > 1:
        parts.append((b"EXIF", _exif(orientation)))
    body = b"WEBP"
    for name, data in parts:
        body += name + struct.pack("<I", len(data))
        if name == b"VP8X":
            flags = data[0] & ~(_WEBP_XMP | _WEBP_EXIF) | (_WEBP_EXIF if orientation > 1 else 0)
            body += bytes([flags]) + data[1:]
        else:
            body += data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _strip_gif(content: bytes) -> bytes:
    at = 13 + _colour_table(content[10])
    parts = [content[:at]]
    while True:
        kind, begin = content[at], at
        if kind == 0x3B:
            return b"".join([*parts, b";"])
        if kind == 0x2C:
            at += 10 + _colour_table(content[at + 9]) + 1
        elif kind == 0x21:
            at += 2
        else:
            raise IndexError
        first = at
        while content[at]:
            at += 1 + content[at]
        at += 1
        is_loop = content[begin + 1] == 0xFF and content[first + 1 : first + 12] in {
            b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012",
        }  # fmt: skip
        if kind == 0x2C or content[begin + 1] == 0xF9 or is_loop:
            parts.append(content[begin:at])


def _colour_table(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _strip_bmp(content: bytes) -> bytes:
    """Return it as it is: the format has no place for metadata but behind its pixels."""
    (size,) = struct.unpack_from("<I", content, 2)
    return content[:size] if 54 <= size <= len(content) else content


def _strip_tiff(content: bytes) -> bytes:
    """Drop tags and overwrite their values with zeros, in every directory of the file."""
    order = "<" if content[:2] == b"II" else ">"
    if struct.unpack_from(f"{order}H", content, 2)[0] != 42:
        raise StripError("Metadata of BigTIFF cannot be removed losslessly.")
    data, seen = bytearray(content), set()
    (at,) = struct.unpack_from(f"{order}I", content, 4)
    while at and at not in seen:
        seen.add(at)
        at = _strip_directory(data, at, order, is_metadata=False)
    return bytes(data)


def _strip_directory(data: bytearray, at: int, order: str, *, is_metadata: bool) -> int:
    """Strip one directory in place; return where the next one is."""
    (n,) = struct.unpack_from(f"{order}H", data, at)
    end = at + 2 + 12 * n
    (following,) = struct.unpack_from(f"{order}I", data, end)
    kept = []
    for place in range(at + 2, end, 12):
        tag, kind, count, value = struct.unpack_from(f"{order}HHII", data, place)
        if tag in _TIFF_KEPT and not is_metadata:
            kept.append(bytes(data[place : place + 12]))
            continue
        if tag in {34665, 34853, 40965} and value != at:  # EXIF, GPS and interoperability
            _strip_directory(data, value, order, is_metadata=True)
        n_bytes = _TIFF_SIZES.get(kind, 1) * count
        if n_bytes > 4:
            if value + n_bytes > len(data):
                raise IndexError
            data[value : value + n_bytes] = bytes(n_bytes)
    rest = struct.pack(f"{order}H", len(kept)) + b"".join(kept)
    rest += struct.pack(f"{order}I", 0 if is_metadata else following)
    data[at : end + 4] = rest.ljust(end + 4 - at, b"\0")
    return int(following)


_STRIPPERS: dict[str, Callable[[bytes], bytes]] = {
    "JPEG": _strip_jpeg,
    "PNG": _strip_png,
    "WEBP": _strip_webp,
    "GIF": _strip_gif,
    "BMP": _strip_bmp,
    "TIFF": _strip_tiff,
}

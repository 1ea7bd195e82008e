"""The parts of a JPEG, PNG or AVIF file that its pixels need, without its notes.

Cameras and editors write notes (EXIF, XMP, comments, previews) that are often broken or larger
than decoders allow. Decoders get none of them, so a note is never a reason to refuse a picture.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Literal

from PIL import Image

MAX_TEXT = 2**20  # bytes; Pillow refuses a PNG with a longer text
MAX_PROFILE = 2**24
_ORIENTATION = 0x0112
_ORDERS: dict[bytes, Literal["little", "big"]] = {b"II*\0": "little", b"MM\0*": "big"}
_EXIF_ITEM = re.compile(rb"(infe(?:\x02.{7}|\x03.{9}))Exif", re.DOTALL)  # ISO 14496-12, 8.11.6
_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_PNG_PIXELS = {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS"}
_PNG_TEXTS = {b"tEXt", b"zTXt", b"iTXt"}
_BARE_MARKERS = {0x01, *range(0xD0, 0xD8)}  # without a length: TEM and RST
_SCAN, _END = 0xDA, 0xD9
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")  # in a scan; zeros and restarts are its own
MAX_SCANS = 64  # cameras and encoders write 1 to 20; each is a pass over the whole picture


class BrokenContainerError(ValueError):
    """A part that the pixels need is damaged or missing."""


@dataclass(frozen=True)
class Bare:
    """A picture file without its notes.

    Attributes:
        content: bytes for a decoder.
        orientation: 1 to 8, as EXIF has it; 1 where it says nothing, or nothing valid.
        n_dropped: texts of more than MAX_TEXT bytes.
        bits: a channel, where the header says so.
        is_animated: there are several frames, of which `content` has the first.
        profile: the colour profile of a PNG; those of other formats stay in `content`.
    """

    content: bytes
    orientation: int = 1
    n_dropped: int = 0
    bits: int = 8
    is_animated: bool = False
    profile: bytes | None = None


def bare_png(content: bytes) -> Bare:
    """Return a PNG without notes and later frames.

    Checks the sums of the parts that the pixels need; damage elsewhere does no harm.

    Raises:
        BrokenContainerError: such a part is damaged, or the file is cut short.
    """
    out, orientation, n_dropped, is_animated = [_PNG_HEAD], 1, 0, False
    at, kind, profile = len(_PNG_HEAD), b"", None
    while at + 12 <= len(content) and kind != b"IEND":
        length, kind = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8]
        end = at + 12 + length
        body = content[at + 8 : end - 4]
        if end > len(content):
            break
        if kind in _PNG_PIXELS:
            if zlib.crc32(kind + body) != int.from_bytes(content[end - 4 : end], "big"):
                raise BrokenContainerError(f"the sum of its part {kind.decode()} is wrong")
            out.append(content[at:end])
        elif kind == b"iCCP":
            profile = _profile(body)
        elif kind == b"eXIf":
            orientation = exif_orientation(body)
        elif kind in _PNG_TEXTS:
            n_dropped += _is_oversized(kind, body)
        is_animated |= kind == b"acTL" and int.from_bytes(body[:4], "big") > 1
        at = end
    if kind != b"IEND":
        raise BrokenContainerError("its end is missing")
    bits = content[24] if content[12:16] == b"IHDR" else 8
    return Bare(b"".join(out), orientation, n_dropped, bits, is_animated, profile)


def _profile(body: bytes) -> bytes | None:
    """Return the colour profile in a part; None where it cannot be unpacked."""
    unpacker = zlib.decompressobj()
    try:
        profile = unpacker.decompress(body.partition(b"\0")[2][1:], MAX_PROFILE)
    except zlib.error:
        return None
    return profile if unpacker.eof else None


def _is_oversized(kind: bytes, body: bytes) -> bool:
    """Whether a text has more than MAX_TEXT bytes, packed ones once they are unpacked."""
    _, _, rest = body.partition(b"\0")
    is_packed = kind == b"zTXt" or (kind == b"iTXt" and rest[:1] == b"\1")
    if not is_packed:
        return len(body) > MAX_TEXT
    packed = rest[1:] if kind == b"zTXt" else rest[2:].split(b"\0", 2)[-1]
    try:
        return len(zlib.decompressobj().decompress(packed, MAX_TEXT + 1)) > MAX_TEXT
    except zlib.error:
        return False


def bare_jpeg(content: bytes) -> Bare:
    """Return a JPEG without notes: its colour profile and Adobe's colour mark stay.

    A file that is not built of segments is returned as it is, for the decoder to judge.

    Raises:
        BrokenContainerError: It has more than MAX_SCANS scans.
    """
    out, orientation, at = [content[:2]], 1, 2
    while at + 4 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if marker in {_SCAN, _END}:
            _check_scans(content, at)
            return Bare(b"".join(out) + content[at:], orientation)
        if marker in _BARE_MARKERS:
            at += 2
            continue
        end = at + 2 + int.from_bytes(content[at + 2 : at + 4], "big")
        segment = content[at:end]
        if marker == 0xE1 and segment[4:10] == b"Exif\0\0" and orientation == 1:
            orientation = exif_orientation(segment[10:])
        if _decides_pixels(marker, segment):
            out.append(segment)
        at = end
    return Bare(content, orientation)


def _check_scans(content: bytes, at: int) -> None:
    """Count the scans of a JPEG from the first one on, up to the picture's end.

    Raises:
        BrokenContainerError: There are more than MAX_SCANS.
    """
    n_scans = 0
    while (found := _MARKER.search(content, at)) is not None:
        marker, at = content[found.start() + 1], found.end()
        if marker == _END:
            return
        n_scans += marker == _SCAN
        if n_scans > MAX_SCANS:
            raise BrokenContainerError(f"it has more than {MAX_SCANS} scans")
        if marker not in _BARE_MARKERS:
            at += int.from_bytes(content[at : at + 2], "big")


def _decides_pixels(marker: int, segment: bytes) -> bool:
    is_note = 0xE0 <= marker <= 0xEF or marker == 0xFE
    is_profile = marker == 0xE2 and segment[4:16] == b"ICC_PROFILE\0"
    is_mark = marker == 0xEE or (marker == 0xE0 and segment[4:9] == b"JFIF\0")
    return not is_note or is_profile or is_mark


def bare_avif(content: bytes) -> Bare:
    """Return an AVIF whose EXIF a decoder does not find; its own boxes say how it is turned."""
    end = content.find(b"mdat")
    head = _EXIF_ITEM.sub(rb"\1none", content[:end])
    return Bare(head + content[end:])


def exif_orientation(exif: bytes) -> int:
    """Return the orientation in EXIF bytes; 1 where they hold none, or are broken.

    Pillow's own reader warns or raises at broken EXIF, which is only a note.

    >>> exif_orientation(b"rubbish")
    1
    """
    body = exif.removeprefix(b"Exif\0\0")
    order = _ORDERS.get(body[:4])
    if order is None:
        return 1
    start = int.from_bytes(body[4:8], order)
    for at in range(start + 2, start + 2 + 12 * int.from_bytes(body[start : start + 2], order), 12):
        entry = body[at : at + 12]
        if len(entry) < 12:
            break
        if int.from_bytes(entry[:2], order) == _ORIENTATION:
            orientation = int.from_bytes(entry[8:10], order)
            return orientation if orientation in range(1, 9) else 1
    return 1


def opened_orientation(image: Image.Image) -> int:
    """Return the orientation of a picture that a decoder has opened; 1 where it says none."""
    exif = image.info.get("exif")
    return exif_orientation(exif) if isinstance(exif, bytes) else 1

"""Facts about a picture, and its previews. The original bytes are never changed."""

from __future__ import annotations

import io
from dataclasses import dataclass

import imagehash
from PIL import Image

from lookalike.images.colours import to_srgb
from lookalike.images.pixels import (
    ACCEPTED,
    MAX_BYTES,
    MAX_PIXELS,
    PictureError,
    decode,
    flattened,
    picture_format,
)

__all__ = [
    "ACCEPTED",
    "MAX_BYTES",
    "MAX_PIXELS",
    "Picture",
    "PictureError",
    "flattened",
    "is_preview",
    "picture_format",
    "read_picture",
    "read_rgb",
]

THUMB_SIDE = 256
VIEW_SIDE = 1024
LEAST_SIDE = 100  # pixels; people can hardly compare smaller pictures
MOST_RATIO = 8  # of the longer side to the shorter


@dataclass(frozen=True)
class Picture:
    """Facts about an accepted picture, and its previews as WebP files.

    Attributes:
        conversions: as in `Decoded`.
    """

    image_format: str
    width: int
    height: int
    perceptual_hash: str
    thumb: bytes
    view: bytes
    conversions: tuple[str, ...] = ()


def read_picture(content: bytes, name: str | None = None) -> Picture:
    """Check a picture file and make its previews.

    The previews show the one rendering of `lookalike.images.pixels`, free of metadata, and are
    never larger than the picture itself.

    Args:
        content: the file's bytes.
        name: its file name, for messages.

    Returns:
        Width and height in pixels after EXIF orientation; the 64-bit pHash (Zauner 2010, by
        ImageHash) of the upright picture as 16 hexadecimal digits; previews with a long side
        of at most THUMB_SIDE and VIEW_SIDE.

    Raises:
        PictureError: as `decode`.
    """
    decoded = decode(content, name)
    width, height = decoded.image.size
    plain = decoded.image
    plain.thumbnail((VIEW_SIDE, VIEW_SIDE), Image.Resampling.LANCZOS, reducing_gap=3.0)
    view = to_srgb(plain, decoded.profile)
    thumb = view.copy()
    thumb.thumbnail((THUMB_SIDE, THUMB_SIDE), Image.Resampling.LANCZOS)
    return Picture(
        image_format=decoded.image_format,
        width=width,
        height=height,
        perceptual_hash=str(imagehash.phash(plain)),
        thumb=_as_webp(thumb, quality=80, method=2),
        view=_as_webp(view, quality=90, method=0),  # within 0.2 dB of 2, 6 % larger, sooner
        conversions=decoded.conversions,
    )


def read_rgb(content: bytes) -> Image.Image:
    """Return an accepted picture upright, as RGB on white, in sRGB: what backbones see.

    Raises:
        PictureError: as `decode`.
    """
    return decode(content).in_srgb()


def hard_to_compare(width: int, height: int) -> str:
    """Return why people can hardly compare a picture of this size; "" if they can.

    >>> hard_to_compare(40, 30)
    '40 × 30 pixels: less than 100 on its shorter side'
    """
    if min(width, height) < LEAST_SIDE:
        return f"{width:,} × {height:,} pixels: less than {LEAST_SIDE} on its shorter side"
    if max(width, height) > MOST_RATIO * min(width, height):
        return f"{width:,} × {height:,} pixels: longer than {MOST_RATIO}:1"
    return ""


def is_preview(content: bytes) -> bool:
    """Whether bytes are a preview that `read_picture` made, whole enough to be shown."""
    try:
        with Image.open(io.BytesIO(content), formats=["WEBP"]) as image:
            if max(image.size) > VIEW_SIDE:
                return False
            image.load()
    except Exception:  # decoders meet damaged bytes with errors of every type
        return False
    return int.from_bytes(content[4:8], "little") + 8 == len(content)


def _as_webp(image: Image.Image, quality: int, method: int) -> bytes:
    buffer = io.BytesIO()
    Image.frombytes("RGB", image.size, image.tobytes()).save(  # a copy without any metadata
        buffer, "WEBP", quality=quality, method=method
    )
    return buffer.getvalue()

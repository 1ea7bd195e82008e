"""Decode a picture file into the pixels that people and models see.

The one rendering of every accepted format (docs/importing.md, "How pictures are rendered"): the
first frame, upright by EXIF, 8 bits a channel (the upper 8 of 16), in sRGB by the picture's own
colour profile, transparent parts on white.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, UnidentifiedImageError

from lookalike.images.colours import colour_space, from_grey, from_other_space, to_srgb
from lookalike.images.containers import Bare, bare_avif, bare_jpeg, bare_png, opened_orientation
from lookalike.images.formats import (
    ENDINGS,
    OTHER_PICTURE_ENDINGS,
    SHOWN_AS_IS,
    other_file,
    sniffed_format,
    stated_size,
)

MAX_PIXELS = 64_000_000  # 8,000 x 8,000; decoded this takes 192 MB
MAX_BYTES = 64 * 2**20
BAND = 256  # rows that are laid on paper at a time
ACCEPTED = "JPEG, PNG, WebP, TIFF, GIF, BMP, AVIF and HEIC pictures are accepted"
FIRST_FRAME, DEEP, DROPPED = "first of several frames", "16 bits a channel", "oversized text"
_BARE: dict[str, Callable[[bytes], Bare]] = {
    "PNG": bare_png,
    "JPEG": bare_jpeg,
    "AVIF": bare_avif,
}
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_BITS, _PHOTOMETRIC, _KIND_OF_PAGE, _SUB_PAGES, _DNG = 258, 262, 254, 330, 50706  # TIFF 6.0 tags


class PictureError(Exception):
    """The file is not accepted; the message says why and what to do."""


@dataclass(frozen=True)
class Decoded:
    """A decoded picture.

    Attributes:
        image: RGB, upright, on white; its colours are those of `profile`.
        image_format: a key of `ENDINGS`.
        conversions: what was done beyond decoding, such as "CMYK" or "first of several frames".
        profile: an RGB colour profile that is yet to be applied; None for sRGB.
    """

    image: Image.Image
    image_format: str
    conversions: tuple[str, ...] = ()
    profile: bytes | None = None

    def in_srgb(self) -> Image.Image:
        """Return the picture in sRGB."""
        return to_srgb(self.image, self.profile)


def decode(content: bytes, name: str | None = None, smallest_side: int = 0) -> Decoded:
    """Decode a picture file.

    Args:
        content: the file's bytes. They decide the format, whatever the name says.
        name: its file name, for messages.
        smallest_side: pixels of the shorter side that are needed; a JPEG may then be decoded at
            1/2, 1/4 or 1/8 of its size, never below that side. 0: all.

    Raises:
        PictureError: empty, broken, cut short, no picture, another format, 32 bits a channel, or
            larger than MAX_PIXELS or MAX_BYTES.
    """
    image_format = picture_format(content, name)
    size = stated_size(content, image_format)
    if size is not None:
        _check_size(*size)
    try:
        if image_format == "HEIF":
            return _decode_heif(content)
        return _decode_by_pillow(content, image_format, smallest_side)
    except (PictureError, MemoryError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureError(_too_large("hundreds of millions of")) from None
    except UnidentifiedImageError:
        raise PictureError(
            f"It begins as {image_format} does, but is broken. Export it again."
        ) from None
    except Exception as problem:  # decoders meet hostile bytes with errors of every type
        raise PictureError(
            f"The {image_format} picture is broken or cut short ({problem}). "
            "Copy or export it again."
        ) from problem


def picture_format(content: bytes, name: str | None = None) -> str:
    """Return the format of a picture file, a key of `ENDINGS`; decodes nothing.

    Raises:
        PictureError: empty, too large, no picture, or of a format that is not accepted.
    """
    if not content:
        raise PictureError("The file is empty (0 bytes). Copy it again from its source.")
    if len(content) > MAX_BYTES:
        raise PictureError(
            f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are accepted. "
            "Save it smaller."
        )
    found = sniffed_format(content)
    ending = _ending(name)
    if found in ENDINGS:
        if OTHER_PICTURE_ENDINGS.get(ending) == "a raw photo":
            raise PictureError(_raw())
        return found
    if found is not None:
        raise PictureError(f"{ACCEPTED}. This is {found}: save it as one of these.")
    if (other := other_file(content)) is not None:
        raise PictureError(f"It is no picture at all but {other}. Leave it out or replace it.")
    if (kind := OTHER_PICTURE_ENDINGS.get(ending)) is not None:
        raise PictureError(f"{ACCEPTED}. By its name this is {kind}: save it as one of these.")
    raise PictureError(
        "Its content is no picture at all. Copy or export it again, or leave it out."
    )


def has_other_name(image_format: str, name: str) -> bool:
    """Whether a file's name ends as another format than that of its content.

    >>> has_other_name("PNG", "a.jpg"), has_other_name("PNG", "photo")
    (True, False)
    """
    ending = _ending(name)
    return ending not in ENDINGS[image_format] and any(ending in ends for ends in ENDINGS.values())


def _ending(name: str | None) -> str:
    file = (name or "").replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = file.rpartition(".")
    return f".{ending.lower()}" if stem and dot else ""


def _decode_by_pillow(content: bytes, image_format: str, smallest_side: int) -> Decoded:
    bare = _BARE.get(image_format, Bare)(content)
    with Image.open(io.BytesIO(bare.content), formats=[image_format]) as image:
        _check_size(*image.size)
        conversions = [] if image_format in SHOWN_AS_IS else [image_format]
        if bare.is_animated or getattr(image, "is_animated", False):
            conversions.append(FIRST_FRAME)
        bits = _check_tiff(image) if image_format == "TIFF" else bare.bits
        if bits == 16:
            conversions.append(DEEP)
        if bare.n_dropped:
            conversions.append(DROPPED)
        if smallest_side and image_format == "JPEG":
            image.draft("RGB", (smallest_side, smallest_side))
        profile = bare.profile or image.info.get("icc_profile")
        orientation = bare.orientation
        if image_format not in {"JPEG", "PNG", "TIFF"}:  # TIFF is turned as it is decoded
            orientation = opened_orientation(image)
        image.load()
        if image.mode.startswith("I;16"):
            loaded = _upper_8_bits(image)
        else:
            loaded = image.copy() if bits != 16 else _with_8_bit_transparency(image)
    if orientation in _TURNS:
        loaded = loaded.transpose(_TURNS[orientation])
    return _in_rgb(loaded, image_format, conversions, profile)


def _check_tiff(image: Image.Image) -> int:
    """Return the bits a channel of a TIFF; refuse raw photos, and values without a stated range."""
    tags = image.tag_v2  # type: ignore[attr-defined]
    is_preview = int(tags.get(_KIND_OF_PAGE) or 0) & 1 and _SUB_PAGES in tags
    if _DNG in tags or is_preview:
        raise PictureError(_raw())
    bits = max(tags.get(_BITS) or (8,))
    if bits > 16 or image.mode in {"F", "I"}:
        raise PictureError(
            f"It has {bits} bits a channel, and nothing says which value is white. "
            "Save it with 8 or 16 unsigned bits a channel."
        )
    return int(bits)


def _raw() -> str:
    return (
        "It is a raw photo, which each program develops otherwise. Develop it to TIFF or JPEG, "
        "and import that."
    )


def _decode_heif(content: bytes) -> Decoded:
    from pi_heif import open_heif  # noqa: PLC0415  (30 ms, for the one format that needs it)

    heif = open_heif(io.BytesIO(content))
    _check_size(*heif.size)
    conversions = ["HEIF"]
    if int(heif.info.get("bit_depth") or 8) > 8:
        conversions.append("10 or 12 bits a channel")
    # libheif has turned it, as the format demands; EXIF repeats what was done
    image = Image.frombytes(heif.mode, heif.size, heif.data, "raw", heif.mode, heif.stride)
    return _in_rgb(image, "HEIF", conversions, heif.info.get("icc_profile"))


def _upper_8_bits(image: Image.Image) -> Image.Image:
    """Return a grey picture of 16 bits with the upper 8, as Pillow reads colours of 16."""
    values = np.asarray(image)
    tags = getattr(image, "tag_v2", {})
    if tags.get(_PHOTOMETRIC) == 0:  # white is zero; Pillow turns that over in 8 bits alone
        values = 65535 - values
    grey = Image.fromarray((values >> 8).astype(np.uint8))
    clear = image.info.get("transparency")
    if isinstance(clear, int):
        alpha = Image.fromarray(np.where(values == clear, 0, 255).astype(np.uint8))
        return Image.merge("LA", (grey, alpha))
    return grey


def _with_8_bit_transparency(image: Image.Image) -> Image.Image:
    """Return a copy whose transparent colour, if it has one, has 8 bits as its pixels."""
    copied = image.copy()
    clear = copied.info.get("transparency")
    if isinstance(clear, tuple):
        copied.info["transparency"] = tuple(value >> 8 for value in clear)
    return copied


def _in_rgb(
    image: Image.Image, image_format: str, conversions: list[str], profile: object
) -> Decoded:
    icc = profile if isinstance(profile, bytes) and profile else None
    if image.mode in {"CMYK", "LAB", "YCbCr"}:
        conversions.append(image.mode)
        image, icc = from_other_space(image, icc), None
    elif image.mode in {"L", "LA", "1"} and icc is not None and colour_space(icc) == "GRAY":
        image, icc = from_grey(image, icc), None
    if image.mode in {"F", "I"}:
        raise PictureError(
            "It has 32 bits a channel, and nothing says which value is white. "
            "Save it with 8 or 16 unsigned bits a channel."
        )
    return Decoded(flattened(image), image_format, tuple(conversions), icc)


def flattened(image: Image.Image) -> Image.Image:
    """Return a copy as RGB, with transparent parts on white paper."""
    if not image.has_transparency_data:
        return image.convert("RGB") if image.mode != "RGB" else image.copy()
    opaque = Image.new("RGB", image.size)
    for top in range(0, image.height, BAND):  # three copies of a large picture are too much
        box = (0, top, image.width, min(top + BAND, image.height))
        pixels = image.crop(box).convert("RGBA")
        paper = Image.new("RGBA", pixels.size, "white")
        opaque.paste(Image.alpha_composite(paper, pixels).convert("RGB"), box)
    return opaque


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise PictureError(_too_large(f"{width:,} × {height:,}"))
    if not width or not height:
        raise PictureError("The picture has no pixels. Export it again.")


def _too_large(size: str) -> str:
    return (
        f"It would unpack to {size} pixels; at most {MAX_PIXELS:,} are accepted. Save it smaller."
    )

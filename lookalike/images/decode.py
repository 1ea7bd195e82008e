"""Read a picture that somebody else made: check it, turn it upright, and make its previews.

Only JPEG, PNG and WebP of 8 bits a channel go in. Everything else is a PictureError that says
what is wrong and what to do. The original bytes are never changed.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import PurePosixPath

import imagehash
from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from lookalike.images.formats import (
    ENDINGS,
    OTHER_PICTURE_ENDINGS,
    bits_a_channel,
    sniffed_format,
    stated_size,
)

MAX_PIXELS = 64_000_000  # 8,000 x 8,000; decoded this takes 192 MB
MAX_BYTES = 64 * 2**20
THUMB_SIDE = 256
VIEW_SIDE = 1024
ACCEPTED = "Only JPEG, PNG and WebP pictures are accepted"


class PictureError(Exception):
    """The file does not go in; the message says why and what to do."""


@dataclass(frozen=True)
class Picture:
    """What an accepted picture is: facts about it, and its previews as WebP files."""

    image_format: str
    width: int
    height: int
    perceptual_hash: str
    thumb: bytes
    view: bytes


def read_picture(content: bytes, name: str | None = None) -> Picture:
    """Check a picture file and make its previews.

    The previews are upright, in sRGB on white, free of metadata, and never larger than the
    picture itself.

    Args:
        content: the file's bytes.
        name: its file name; the ending must agree with what the bytes are. None where a name
            promises nothing, as a web address.

    Returns:
        Width and height in pixels after EXIF orientation; the 64-bit pHash (Zauner 2010, by
        ImageHash) of the upright picture as 16 hexadecimal digits; previews with a long side
        of at most THUMB_SIDE and VIEW_SIDE.

    Raises:
        PictureError: empty, broken, truncated, wrongly named, of another format, CMYK, 16-bit,
            animated, or larger than MAX_PIXELS or MAX_BYTES.
    """
    image_format = checked_format(content, name)
    upright = _decoded(content, image_format)
    plain = flattened(upright)
    plain.thumbnail((VIEW_SIDE, VIEW_SIDE), Image.Resampling.LANCZOS, reducing_gap=3.0)
    view = _in_srgb(plain, upright.info.get("icc_profile"))
    thumb = view.copy()
    thumb.thumbnail((THUMB_SIDE, THUMB_SIDE), Image.Resampling.LANCZOS)
    return Picture(
        image_format=image_format,
        width=upright.width,
        height=upright.height,
        perceptual_hash=str(imagehash.phash(plain)),
        thumb=_as_webp(thumb, quality=80, method=2),
        view=_as_webp(view, quality=90, method=0),  # within 0.2 dB of 2, 6 % larger, sooner
    )


def read_rgb(content: bytes) -> Image.Image:
    """Return an accepted picture upright, as RGB on white: the pixels that backbones see.

    Raises:
        PictureError: the bytes are not a picture that `read_picture` accepts.
    """
    image_format = sniffed_format(content)
    if image_format not in ENDINGS:
        raise PictureError(f"{ACCEPTED}.")
    return flattened(_decoded(content, image_format))


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


def flattened(image: Image.Image) -> Image.Image:
    """Return a copy as RGB, with transparent parts on white paper."""
    if not image.has_transparency_data:
        return image.convert("RGB") if image.mode != "RGB" else image.copy()
    pixels = image.convert("RGBA")
    paper = Image.new("RGBA", pixels.size, "white")
    return Image.alpha_composite(paper, pixels).convert("RGB")


def checked_format(content: bytes, name: str | None = None) -> str:
    """Return JPEG, PNG or WEBP when content and name (if any) agree on it; decodes nothing.

    Raises:
        PictureError: empty, too large, not a picture, of another format, or wrongly named.
    """
    if not content:
        raise PictureError("The file is empty (0 bytes). Copy it again from its source.")
    if len(content) > MAX_BYTES:
        raise PictureError(
            f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are accepted. "
            "Save it smaller."
        )
    found = sniffed_format(content)
    ending = PurePosixPath(name or "").suffix.lower()
    named = next((name for name, endings in ENDINGS.items() if ending in endings), None)
    if found is None:
        if named is not None:
            raise PictureError(
                f"Its name says {named}, but its content is no picture at all. "
                "Export it again, or leave it out."
            )
        kind = OTHER_PICTURE_ENDINGS.get(ending, "This is not one")
        raise PictureError(f"{ACCEPTED}. {kind}: save it as one of these.")
    if found not in ENDINGS:
        raise PictureError(f"{ACCEPTED}. It is a {found} file: save it as one of these.")
    if name is not None and named != found:
        what = f"ends in {ending}" if ending else "has no ending"
        raise PictureError(
            f"Wrongly named: it is a {found} picture, but its name {what}. "
            f"Rename it to {ENDINGS[found][0]}."
        )
    return found


def _decoded(content: bytes, image_format: str) -> Image.Image:
    """Return the picture decoded to its last pixel, upright; refuse what we cannot show well."""
    size = stated_size(content, image_format)
    if size is not None:
        _check_size(*size)
    try:
        if image_format == "PNG":  # checks the checksum of each part; needs a handle of its own
            with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
                _check_size(*image.size)
                image.verify()
        with Image.open(io.BytesIO(content), formats=[image_format]) as image:
            _check_size(*image.size)
            _check_kind(image, bits_a_channel(content, image_format))
            image.load()
            return ImageOps.exif_transpose(image)
    except (PictureError, MemoryError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureError(_too_large("hundreds of millions of")) from None
    except UnidentifiedImageError:
        raise PictureError(
            f"It starts like a {image_format} picture, but is broken. Export it again."
        ) from None
    except Exception as problem:  # decoders meet hostile bytes with errors of every type
        raise PictureError(
            f"The {image_format} picture is broken or cut short ({problem}). "
            "Copy or export it again."
        ) from problem


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise PictureError(_too_large(f"{width:,} × {height:,}"))
    if not width or not height:
        raise PictureError("The picture has no pixels. Export it again.")


def _too_large(size: str) -> str:
    return (
        f"It would unpack to {size} pixels; at most {MAX_PIXELS:,} are accepted. Save it smaller."
    )


def _check_kind(image: Image.Image, n_bits: int) -> None:
    if image.format != "MPO" and getattr(image, "is_animated", False):
        raise PictureError("It is animated. Save the one frame that shall be judged.")
    if image.mode == "CMYK":
        raise PictureError("Its colours are CMYK (for print). Convert it to RGB.")
    if n_bits > 8 or image.mode.startswith(("I", "F")):
        raise PictureError("It has 16 bits a channel. Save it with 8 bits a channel.")


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert to sRGB from the picture's own colour profile; a damaged profile is ignored."""
    if not profile:
        return image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if "sRGB" in ImageCms.getProfileDescription(source):
            return image
        target = ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(image, source, target)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image
    return converted if converted is not None else image


def _as_webp(image: Image.Image, quality: int, method: int) -> bytes:
    buffer = io.BytesIO()
    Image.frombytes("RGB", image.size, image.tobytes()).save(  # a copy without any metadata
        buffer, "WEBP", quality=quality, method=method
    )
    return buffer.getvalue()

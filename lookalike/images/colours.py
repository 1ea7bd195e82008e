"""Colours of a decoded picture in sRGB, by the profile that it brings."""

from __future__ import annotations

import io
from functools import lru_cache

import numpy as np
from PIL import Image, ImageCms


def to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Return an RGB picture in sRGB, by a profile of RGB; a damaged or other profile is ignored."""
    transform = _transform(profile, "RGB") if profile else None
    return image if transform is None else _applied(image, transform)


def from_other_space(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Return a picture of CMYK, LAB or YCbCr as RGB.

    CMYK without its printer's profile is R = (1 - C)(1 - K), as Pillow has it.
    """
    if image.mode == "LAB":
        return _applied(image, _lab_transform())
    transform = _transform(profile, image.mode) if profile else None
    return image.convert("RGB") if transform is None else _applied(image, transform)


def from_grey(image: Image.Image, profile: bytes) -> Image.Image:
    """Return a grey picture in sRGB, by a profile of grey; transparency stays."""
    transform = _transform(profile, "L")
    if transform is None:
        return image
    coloured = _applied(image.convert("L"), transform)
    if image.has_transparency_data:
        coloured.putalpha(image.convert("LA").getchannel("A"))
    return coloured


def _applied(image: Image.Image, transform: ImageCms.ImageCmsTransform) -> Image.Image:
    converted = ImageCms.applyTransform(image, transform)
    if converted is None:
        raise ValueError("its colours cannot be converted to sRGB")
    return converted


def colour_space(profile: bytes) -> str:
    """Return the colour space that a profile names: "RGB", "GRAY", "CMYK" and so on."""
    return profile[16:20].decode("latin-1").strip()


@lru_cache(maxsize=32)
def _transform(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform | None:
    """Return how colours of a profile become sRGB; None if they are, or it cannot be used."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), mode, "RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None
    return None if mode == "RGB" and _changes_nothing(transform) else transform


def _changes_nothing(transform: ImageCms.ImageCmsTransform) -> bool:
    """Whether colours all over RGB stay within 2 of 255, as those of any sRGB profile do."""
    steps = np.linspace(0, 255, 9).round().astype(np.uint8)
    colours = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(27, 27, 3)
    after = np.asarray(_applied(Image.fromarray(colours), transform)).astype(int)
    return bool(np.abs(after - colours).max() <= 2)


@lru_cache(maxsize=1)
def _lab_transform() -> ImageCms.ImageCmsTransform:
    return ImageCms.buildTransform(
        ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), "LAB", "RGB"
    )

"""Metadata leaves a picture, pixels and what displays them stay."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps, PngImagePlugin

from lookalike.images.strip import StripError, strip_metadata

SECRETS = (b"Secret-Camera", b"secret-comment", b"secret-xmp", b"secret-text", b"secret-tail")
XMP = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>secret-xmp</x:xmpmeta>"
GPS = 0x8825


def picture(mode: str = "RGB") -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 256, (24, 40, 3), np.uint8)
    return Image.fromarray(pixels).convert(mode)


def secret_exif(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "Secret-Camera"
    exif.get_ifd(GPS)[2] = (48.0, 8.0, 14.77)
    exif.get_ifd(GPS)[1] = "N"
    return exif


def saved(kind: str, orientation: int = 6) -> bytes:
    """A picture of a format with every kind of note, and a tail behind its end."""
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "secret-text")
    info.add_itxt("XML:com.adobe.xmp", XMP.decode())
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = secret_exif(orientation)
    choices: dict[str, dict[str, Any]] = {
        "JPEG": {"exif": exif, "xmp": XMP, "comment": b"secret-comment", "icc_profile": profile},
        "PNG": {"exif": exif, "pnginfo": info, "icc_profile": profile},
        "WEBP": {"exif": exif, "xmp": XMP, "icc_profile": profile, "lossless": True},
        "TIFF": {"exif": exif, "icc_profile": profile, "description": "secret-text"},
        "GIF": {"comment": b"secret-comment"},
        "BMP": {},
    }
    out = io.BytesIO()
    picture().save(out, kind, **choices[kind])
    return out.getvalue() + (b"" if kind == "TIFF" else b"secret-tail")


def upright(content: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as opened:
        return np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP"])
def test_metadata_goes_and_pixels_profile_and_orientation_stay(kind: str, orientation: int) -> None:
    content = saved(kind, orientation)
    found = strip_metadata(content)
    assert any(secret in content for secret in SECRETS)
    assert not [secret for secret in SECRETS if secret in found]
    np.testing.assert_array_equal(upright(found), upright(content))
    with Image.open(io.BytesIO(found)) as after, Image.open(io.BytesIO(content)) as before:
        assert after.info.get("icc_profile") == before.info.get("icc_profile")
        assert not after.getexif().get_ifd(GPS)
        assert after.format == kind
    assert strip_metadata(found) == found


@pytest.mark.parametrize("options", [{"progressive": True}, {"restart_marker_blocks": 2}])
def test_scans_of_a_jpeg_stay_whole(options: dict[str, object]) -> None:
    out = io.BytesIO()
    picture().save(out, "JPEG", quality=95, exif=secret_exif(1), **options)
    found = strip_metadata(out.getvalue())
    np.testing.assert_array_equal(upright(found), upright(out.getvalue()))
    assert b"Secret-Camera" not in found


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_keeps_its_frames(kind: str) -> None:
    out = io.BytesIO()
    frames = [picture().rotate(90 * turn) for turn in range(3)]
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=80, loop=0)
    with Image.open(io.BytesIO(strip_metadata(out.getvalue()))) as found:
        assert getattr(found, "n_frames", 1) == 3
        assert found.info["loop"] == 0


def test_several_pictures_in_one_jpeg_leave_with_their_notes() -> None:
    out = io.BytesIO()
    picture().save(out, "MPO", save_all=True, append_images=[picture()], exif=secret_exif(1))
    found = strip_metadata(out.getvalue())
    assert found.count(b"\xff\xd9") == 1
    assert b"Secret-Camera" not in found
    assert b"MPF" not in found


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "GIF"])
def test_a_cut_file_is_an_error_and_no_half_picture(kind: str) -> None:
    content = saved(kind)
    for n in range(16, len(content) // 2, 37):
        try:
            strip_metadata(content[:n])
        except StripError:
            continue
        assert kind in {"WEBP", "TIFF"}, n


def test_a_format_that_cannot_be_stripped_is_refused() -> None:
    out = io.BytesIO()
    picture().save(out, "AVIF")
    with pytest.raises(StripError, match="AVIF"):
        strip_metadata(out.getvalue())

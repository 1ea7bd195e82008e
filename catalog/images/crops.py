"""The part of an image that a question shows, made once and kept as a file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404
from django.http.response import HttpResponseBase

from catalog.images.blobs import read_blob
from catalog.models import Image
from lookalike.conditional.crops import DILATION, Dilation, crop_view
from lookalike.conditional.types import Box
from lookalike.core.atomic_files import write_atomically
from lookalike.images.decode import read_rgb

SIDES = {"thumb": 256, "view": 1024}


def crop_file(image: Image, box: list[float], size: str, how: Dilation = "paper") -> Path:
    """Return the file of a view, made from the original if it is not there yet.

    Args:
        box: left, top, width and height in pixels of the original.
        size: "thumb" or "view".
        how: as `lookalike.conditional.crops.crop_box`.

    Raises:
        FileNotFoundError: the original is missing.
        ValueError: the box is not in the image.
    """
    key = f"{image.sha256} {[float(number) for number in box]} {how} {DILATION} {size}"
    digest = hashlib.sha256(key.encode()).hexdigest()
    path = Path(settings.DATA_DIR) / "crops" / digest[:2] / f"{digest}.webp"
    if not path.exists():
        content = read_blob(image.sha256, "original")
        shown = crop_view(read_rgb(content), Box(*box), how)
        shown.thumbnail((SIDES[size], SIDES[size]))
        write_atomically(path, lambda file: shown.save(file, "WEBP", quality=88))
    return path


def crop_response(image: Image, box: list[float], size: str, how: Dilation) -> HttpResponseBase:
    """Return a crop's bytes; whoever calls has checked that the person may see it."""
    try:
        path = crop_file(image, box, size, how)
    except (FileNotFoundError, ValueError):
        raise Http404 from None
    response = FileResponse(path.open("rb"), content_type="image/webp")
    del response["Content-Disposition"]
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    return response

"""The part of an image that a template shows, made once and kept as a file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings

from catalog.images.blobs import read_blob
from catalog.models import Image
from conditional.models import TemplateSet
from jobs.services import JobProgress
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


def make_crops(template_set: TemplateSet, progress: JobProgress) -> int:
    """Make the pictures of all boxes, so that no page waits for them."""
    rows = [row for row in template_set.templates.order_by("position") if row.boxes]
    images = template_set.catalog.images.in_bulk(
        {pk for row in rows for pk in (row.reference_id, *row.candidates)}
    )
    progress.start(0, len(rows), "Cutting out what the templates show")
    n_crops = 0
    for n_done, row in enumerate(rows, start=1):
        for place in (None, *range(row.n_candidates)):
            box = row.box_of(place)
            pk = row.reference_id if place is None else row.candidates[place]
            if box is not None:
                for size in ("thumb", "view"):
                    crop_file(images[pk], box, size, template_set.crops)
                n_crops += 1
        progress.update(n_done, len(rows), "Cutting out what the templates show")
    return n_crops

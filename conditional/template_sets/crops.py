"""Cut out what the templates of a set show, so that no page waits for it."""

from __future__ import annotations

from catalog.images.crops import crop_file
from conditional.models import TemplateSet
from jobs.services import JobProgress


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

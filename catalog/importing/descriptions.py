"""Take products and attributes of images that are in a catalog from new metadata alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from catalog.image_names import names_of_images
from catalog.models import Catalog, Image, NearDuplicate
from jobs.services import JobError, JobProgress
from lookalike.images.metadata import Metadata, Row
from lookalike.images.problems import Problem
from lookalike.io.image_names import UnknownImageError

BATCH = 500


def describe_images(
    *, catalog: Catalog, metadata: Metadata, progress: JobProgress
) -> dict[str, Any]:
    """Give the images of a catalog the products and attributes of a table; sends no picture.

    Rows find their images as in an import, by the paths under which these were imported.

    Returns:
        The report of an import; `updated` is the number of images that changed.

    Raises:
        JobError: the catalog is empty, or was deleted meanwhile.
        JobLostError: the job was cancelled or taken over; all whole batches stay.
    """
    if not catalog.images.exists():
        raise JobError(f"The catalog “{catalog}” has no pictures yet: import some first.")
    rows, problems, warnings = _rows_by_image(catalog, metadata)
    pks, n_updated = list(rows), 0
    for start in range(0, len(pks), BATCH):
        progress.update(start, len(pks), f"Reading {metadata.name}")
        progress.check()
        n_updated += _update(catalog, {pk: rows[pk] for pk in pks[start : start + BATCH]})
    return {
        "images": len(rows),
        "products": len({row.product_id for row in rows.values()} - {""}),
        "updated": n_updated,
        "broken": [asdict(one) for one in sorted({*problems, *metadata.problems})],
        "duplicates": 0,
        "near_duplicates": NearDuplicate.objects.filter(catalog=catalog).count(),
        "files": 0,
        "skipped": 0,
        "metadata": metadata.name,
        "others": [],
        "converted": {},
        "unusual": [],
        "warnings": [asdict(one) for one in sorted([*warnings, *metadata.notes])],
        "table": metadata.report(len(rows)),
    }


def _rows_by_image(
    catalog: Catalog, metadata: Metadata
) -> tuple[dict[int, Row], list[Problem], list[Problem]]:
    """Return the row of each image, rows without an image, and remarks.

    Where several rows describe one image, the first path in alphabetical order counts.
    """
    names = names_of_images(catalog.images.all(), f"the catalog “{catalog}”")
    rows: dict[int, Row] = {}
    problems, warnings = [], []
    for row in sorted(metadata.rows.values(), key=lambda one: one.path):
        try:
            pk = names.find(row.path)
        except UnknownImageError as problem:
            reason = f"{metadata.name} row {row.number}: {problem}."
            problems.append(Problem(row.path, reason))
            continue
        used = rows.setdefault(pk, row)
        if (used.product_id, used.attributes) != (row.product_id, row.attributes):
            reason = f"It is the same image as {used.path}, whose row {used.number} is used."
            warnings.append(Problem(row.path, reason))
    return rows, problems, warnings


def _update(catalog: Catalog, rows: dict[int, Row]) -> int:
    with transaction.atomic():
        if not Catalog.objects.select_for_update().filter(pk=catalog.pk).exists():
            raise JobError(f"The catalog “{catalog}” was deleted during the import.")
        changed = []
        for image in Image.objects.filter(pk__in=rows):
            row = rows[image.pk]
            if (image.product_id, image.attributes) != (row.product_id, row.attributes):
                image.product_id, image.attributes = row.product_id, row.attributes
                changed.append(image)
        Image.objects.bulk_update(changed, ["product_id", "attributes"])
        if changed:
            Catalog.objects.filter(pk=catalog.pk).update(changed_at=timezone.now())
    return len(changed)

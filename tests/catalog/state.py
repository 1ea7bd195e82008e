"""All that a catalog is, without ids and times: to compare two ways of getting there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from catalog.models import Catalog, NearDuplicate, SourceFile


def state_of(slug: str) -> dict[str, Any]:
    catalog = Catalog.objects.get(slug=slug)
    images = catalog.images.all()
    return {
        "images": sorted(
            (
                image.sha256,
                image.product_id,
                sorted(image.attributes.items()),
                image.width,
                image.height,
                image.image_format,
                image.n_bytes,
                image.perceptual_hash,
            )
            for image in images
        ),
        "paths": sorted(
            SourceFile.objects.filter(catalog=catalog).values_list("path", "image__sha256")
        ),
        "near": sorted(
            NearDuplicate.objects.filter(catalog=catalog).values_list(
                "first__sha256", "second__sha256", "n_bits"
            )
        ),
    }


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }

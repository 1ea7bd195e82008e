"""Real pictures for the images of a world, which have none."""

from __future__ import annotations

import io
from hashlib import sha256

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Picture

from catalog.images.blobs import blob_name
from tests.worlds import World


def give_pictures(world: World) -> None:
    """Let each image be a small PNG, the same in every run."""
    rng = np.random.default_rng(3)
    for image in world.images:
        content = io.BytesIO()
        Picture.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).save(content, "PNG")
        data = content.getvalue()
        image.sha256, image.n_bytes = sha256(data).hexdigest(), len(data)
        image.save(update_fields=["sha256", "n_bytes"])
        name = blob_name(image.sha256, "original")
        if not default_storage.exists(name):
            default_storage.save(name, ContentFile(data))

"""Pictures with files behind them, as large as real ones: product-like shapes on noise."""

from __future__ import annotations

import io
import uuid
from functools import cache

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw

from catalog.images.blobs import blob_path
from catalog.models import Catalog, Image

N_DISTINCT = 24
SHAPES = [(1024, 1024), (768, 1024), (1024, 683), (512, 1024)]


@cache
def _files(number: int) -> dict[str, bytes]:
    """The two previews of picture `number`, as WebP."""
    rng = np.random.default_rng(number)
    width, height = SHAPES[number % len(SHAPES)]
    noise = rng.normal(0, 6, (height, width, 1))
    ground = np.linspace(225, 245, height)[:, None, None] + noise + rng.uniform(-8, 8, 3)
    picture = PillowImage.fromarray(np.clip(ground, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    colour = tuple(int(c) for c in rng.integers(20, 220, 3))
    box = (width * 0.2, height * 0.15, width * 0.8, height * 0.85)
    if number % 3 == 0:
        draw.ellipse(box, fill=colour)
    elif number % 3 == 1:
        draw.rounded_rectangle(box, 60, fill=colour)
    else:
        left, top, right, bottom = box
        draw.polygon([(width / 2, top), (right, bottom), (left, bottom)], fill=colour)
    for i in range(3 + number % 5):
        y = height * (0.25 + 0.12 * i)
        draw.line((width * 0.3, y, width * 0.7, y), fill=(250, 250, 250), width=4 + number % 7)
    files = {}
    for size, side in (("view", 1024), ("thumb", 256)):
        smaller = picture.copy()
        smaller.thumbnail((side, side))
        buffer = io.BytesIO()
        smaller.save(buffer, "WEBP", quality=85)
        files[size] = buffer.getvalue()
    return files


def make_images(n: int) -> list[Image]:
    """Make `n` images of a new catalog; each has addresses and files of its own."""
    slug = uuid.uuid4().hex[:12]
    catalog = Catalog.objects.create(slug=slug, name="Test pictures")
    images = []
    for i in range(n):
        sha256 = uuid.uuid4().hex * 2
        for size, content in _files(i % N_DISTINCT).items():
            path = blob_path(sha256, size)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        width, height = SHAPES[i % N_DISTINCT % len(SHAPES)]
        images.append(
            Image(
                catalog=catalog,
                sha256=sha256,
                product_id=f"secret-product-{i}",
                width=width,
                height=height,
                image_format="WEBP",
                n_bytes=1,
                perceptual_hash="0" * 16,
            )
        )
    return Image.objects.bulk_create(images)

"""Pictures with files behind them, product-like shapes on noise: half as wide as real ones.

Browsers decode those four times as fast; where that time matters, a test asks for real ones.
"""

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
SIDE, REAL_SIDE = 512, 1024  # the longer one
SHAPES = [(1.0, 1.0), (0.75, 1.0), (1.0, 2 / 3), (0.5, 1.0)]


@cache
def _files(number: int, side: int) -> dict[str, bytes]:
    """The two previews of picture `number`, as WebP."""
    rng = np.random.default_rng(number)
    width, height = _size(number, side)
    noise = rng.normal(0, 6, (height, width, 1))
    ground = np.linspace(225, 245, height)[:, None, None] + noise + rng.uniform(-8, 8, 3)
    picture = PillowImage.fromarray(np.clip(ground, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    colour = tuple(int(c) for c in rng.integers(20, 220, 3))
    box = (width * 0.2, height * 0.15, width * 0.8, height * 0.85)
    if number % 3 == 0:
        draw.ellipse(box, fill=colour)
    elif number % 3 == 1:
        draw.rounded_rectangle(box, side // 16, fill=colour)
    else:
        left, top, right, bottom = box
        draw.polygon([(width / 2, top), (right, bottom), (left, bottom)], fill=colour)
    for i in range(3 + number % 5):
        y = height * (0.25 + 0.12 * i)
        draw.line(
            (width * 0.3, y, width * 0.7, y),
            fill=(250, 250, 250),
            width=side * (4 + number % 7) // 1024,
        )
    files = {}
    for size, most in (("view", side), ("thumb", side // 4)):
        smaller = picture.copy()
        smaller.thumbnail((most, most))
        buffer = io.BytesIO()
        smaller.save(buffer, "WEBP", quality=85)
        files[size] = buffer.getvalue()
    return files


def _size(number: int, side: int) -> tuple[int, int]:
    wide, high = SHAPES[number % len(SHAPES)]
    return int(wide * side), int(high * side)


def make_images(n: int, side: int = SIDE) -> list[Image]:
    """Make `n` images of a new catalog; each has addresses and files of its own."""
    slug = uuid.uuid4().hex[:12]
    catalog = Catalog.objects.create(slug=slug, name="Test pictures")
    images = []
    for i in range(n):
        sha256 = uuid.uuid4().hex * 2
        for size, content in _files(i % N_DISTINCT, side).items():
            path = blob_path(sha256, size)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        width, height = _size(i % N_DISTINCT, side)
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

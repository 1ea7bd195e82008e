"""Renders the demo's own catalog: pictures of products whose attributes are known."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from demo.drawing.camera import Camera
from demo.drawing.canvas import Canvas
from demo.drawing.kinds import KINDS
from demo.drawing.light import LIGHTS
from demo.drawing.plan import Shot, products, shot
from demo.drawing.product import Build, Product
from demo.drawing.scene import backdrop, finished, shadow
from lookalike.core.cores import available_cores

COLUMNS: Final = (
    "path",
    "product_id",
    "category",
    "colour",
    "second_colour",
    "texture",
    "pattern_scale",
    "cut",
    "detail",
    "trim",
    "material",
    "design",
    "view",
    "background",
    "pose",
    "light",
)
OVERSAMPLING: Final = 1.5  # pictures are shaded at this many times their size
PER_WORKER = 16  # products that make a further process worth its start
PLAN, PICTURE = 0, 1  # what a random stream is for


@dataclass(frozen=True)
class RenderedImage:
    """One picture: its path inside the folder, and its row of `metadata.csv`."""

    path: str
    row: dict[str, str]


@dataclass(frozen=True)
class CatalogManifest:
    """What was rendered.

    Attributes:
        folder: where.
        metadata: the CSV file with a row per picture.
        images: all pictures, in the order of the CSV.
        n_products: how many products they show.
        seed: what they were made from.
    """

    folder: Path
    metadata: Path
    images: tuple[RenderedImage, ...]
    n_products: int
    seed: int


def cut_out(product: Product, taken: Shot, size: int) -> tuple[Canvas, float | None]:
    """Draw one product, as planned, without its background.

    Returns:
        The painted canvas, size x size pixels, and where the product stands: a share of the
        picture's height from the top, or None if it lies flat or hangs.
    """
    kind = KINDS[product.category]
    built = kind.build(Build(product, taken.posture))
    camera = Camera(taken.stand(kind, built), size)
    canvas = Canvas(camera, LIGHTS[taken.light], taken.posture.rng)
    for part in built.parts:
        canvas.paint(part)
    if built.ground is None:
        return canvas, None
    return canvas, float(camera.project(np.array([[0.0, built.ground]]))[0, 1] / size)


def render_picture(product: Product, taken: Shot, size: int) -> Image.Image:
    """Draw one product, as planned, into an RGB picture of size x size pixels."""
    light, rng = LIGHTS[taken.light], taken.posture.rng
    inner = round(size * OVERSAMPLING)
    canvas, ground = cut_out(product, taken, inner)
    picture = backdrop(taken.background, inner, ground, light, rng)
    picture *= shadow(canvas.cover, ground, light, canvas.camera.per_unit)
    picture = picture * (1.0 - canvas.cover) + canvas.light_planes
    return finished(picture, size, rng)


def render_catalog(
    folder: Path,
    *,
    n_products: int = 150,
    views_per_product: int = 4,
    seed: int = 0,
    size: int = 320,
    on_progress: Callable[[int, int], None] | None = None,
) -> CatalogManifest:
    """Render a catalog into a folder: pictures, and `metadata.csv` with their attributes.

    The same arguments give the same bytes, with the same versions of numpy and Pillow on the
    same kind of processor.
    Each picture has its own random stream, so a larger catalog begins with the same pictures
    as a smaller one.

    Args:
        folder: made if absent; files of the same names are replaced.
        n_products: at least 1.
        views_per_product: at least 1; pictures of each product.
        seed: at least 0.
        size: side of the square pictures in pixels, at least 64.
        on_progress: called for each picture that is done with (done, all).

    Returns:
        What was rendered.

    Raises:
        ValueError: if a number is out of range.
        OSError: if a file cannot be written.
    """
    _check(n_products=(n_products, 1), views_per_product=(views_per_product, 1))
    _check(seed=(seed, 0), size=(size, 64))
    folder.mkdir(parents=True, exist_ok=True)
    planned = products(n_products, np.random.default_rng([seed, PLAN]))
    images: list[RenderedImage] = []
    render = partial(_render_product, folder, views_per_product, seed, size)
    with _workers(n_products) as each:
        for found in each(render, enumerate(planned)):
            for image in found:
                images.append(image)
                if on_progress:
                    on_progress(len(images), n_products * views_per_product)
    metadata = folder / "metadata.csv"
    _write_metadata(metadata, images)
    return CatalogManifest(folder, metadata, tuple(images), n_products, seed)


def _render_product(
    folder: Path, n_views: int, seed: int, size: int, numbered: tuple[int, Product]
) -> list[RenderedImage]:
    number, product = numbered
    images = []
    for view in range(n_views):
        rng = np.random.default_rng([seed, PICTURE, number, view])
        taken = shot(KINDS[product.category], view, rng)
        path = f"{product.category}/{product.product_id}-{view + 1}{_suffix(number, view)}"
        _save(render_picture(product, taken, size), folder / path)
        images.append(RenderedImage(path, _row(path, product, taken)))
    return images


@contextmanager
def _workers(n_products: int) -> Iterator[Callable[..., Iterable[list[RenderedImage]]]]:
    """Give a `map` that draws on all cores, where there is enough to draw."""
    n_workers = min(available_cores(), n_products // PER_WORKER)
    if n_workers < 2:
        yield map
        return
    with ProcessPoolExecutor(n_workers, get_context("forkserver")) as pool:
        yield pool.map


def _check(**numbers: tuple[int, int]) -> None:
    """Refuse numbers below their least value."""
    for name, (value, least) in numbers.items():
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")


def _suffix(number: int, view: int) -> str:
    """Mostly JPEG; a PNG and a WebP now and then, as in a real folder."""
    if number % 25 == 7 and view == 0:
        return ".png"
    return ".webp" if number % 25 == 19 and view == 1 else ".jpg"


def _save(picture: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jpg":
        picture.save(path, quality=88, subsampling=0)
    elif path.suffix == ".webp":
        picture.save(path, quality=90, method=4)
    else:
        picture.save(path)


def _row(path: str, product: Product, taken: Shot) -> dict[str, str]:
    known = {name: str(getattr(product, name)) for name in COLUMNS[1:12]}
    return {
        "path": path,
        **known,
        "view": taken.view,
        "background": taken.background,
        "pose": taken.pose,
        "light": taken.light,
    }


def _write_metadata(path: Path, images: list[RenderedImage]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(image.row for image in images)

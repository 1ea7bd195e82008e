#!/usr/bin/env python3
"""Render the demo's catalog and lay it out on one page: a row for each category.

Each row shows the front of products that resemble one another, then further pictures of the
first of them. Run from the repository's root:

    .venv/bin/python script/contact_sheet.py docs/images/demo-catalog.jpg
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from demo.drawing.catalog import RenderedImage, render_catalog  # noqa: E402
from demo.drawing.kinds import KINDS  # noqa: E402

FRONTS, FURTHER, GAP = 7, 3, 4


def chosen(images: tuple[RenderedImage, ...]) -> list[list[RenderedImage]]:
    """Pick a row of pictures for each category, in the order in which categories appear."""
    fronts: dict[str, list[RenderedImage]] = defaultdict(list)
    further: dict[str, list[RenderedImage]] = defaultdict(list)
    for image in images:
        category = image.row["category"]
        if image.row["view"] == "front":
            fronts[category].append(image)
        elif image.row["product_id"] == fronts[category][0].row["product_id"]:
            further[category].append(image)
    return [fronts[name][:FRONTS] + further[name][:FURTHER] for name in fronts]


def sheet(folder: Path, rows: list[list[RenderedImage]], tile: int) -> Image.Image:
    """Paste rows of pictures onto one page."""
    step = tile + GAP
    page = Image.new("RGB", (max(map(len, rows)) * step + GAP, len(rows) * step + GAP), "#fbfbfa")
    for y, row in enumerate(rows):
        for x, image in enumerate(row):
            with Image.open(folder / image.path) as picture:
                small = picture.convert("RGB").resize((tile, tile), Image.Resampling.LANCZOS)
            page.paste(small, (GAP + x * step, GAP + y * step))
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="picture file to write")
    parser.add_argument("--tile", type=int, default=100, help="side of a picture in pixels")
    parser.add_argument("--seed", type=int, default=0, help="seed of the catalog")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        catalog = render_catalog(Path(folder), n_products=len(KINDS) * FRONTS, seed=options.seed)
        page = sheet(catalog.folder, chosen(catalog.images), options.tile)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    page.save(options.out, quality=80, optimize=True)
    sys.stdout.write(f"{options.out}: {page.width} x {page.height} pixels\n")


if __name__ == "__main__":
    main()

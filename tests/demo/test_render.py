"""The catalog's pictures: reproducible, complete, described truly, and all different."""

from __future__ import annotations

import csv
import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demo.drawing.catalog import COLUMNS, cut_out, render_catalog, render_picture
from demo.drawing.kinds import KINDS
from demo.drawing.light import LIGHTS
from demo.drawing.plan import VIEWS, shot
from demo.drawing.product import Product
from demo.drawing.scene import BACKGROUNDS

SMALL = 64


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def a_product(category: str, cut: str, detail: str) -> Product:
    return Product(
        product_id="P001",
        design="D001",
        category=category,
        colour="teal",
        second_colour="white",
        texture="plain",
        pattern_scale="none",
        cut=cut,
        detail=detail,
        trim="contrast",
        material=KINDS[category].materials[0],
        family=7,
        own=8,
    )


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        render_catalog(tmp_path / name, n_products=3, views_per_product=2, seed=seed, size=SMALL)
    a, b, c = (files(tmp_path / name) for name in "abc")
    assert len(a) == 7
    assert a == b
    assert not set(a.values()) & set(c.values())


def test_a_larger_catalog_begins_with_the_pictures_of_a_smaller_one(tmp_path):
    render_catalog(tmp_path / "small", n_products=2, views_per_product=1, size=SMALL)
    render_catalog(tmp_path / "large", n_products=4, views_per_product=2, size=SMALL)
    small, large = files(tmp_path / "small"), files(tmp_path / "large")
    del small["metadata.csv"]
    assert len(small) == 2
    assert small.items() <= large.items()


def test_the_default_catalog_holds_600_pictures_of_150_products():
    defaults = inspect.signature(render_catalog).parameters
    assert defaults["n_products"].default == 150
    assert defaults["n_products"].default * defaults["views_per_product"].default == 600


def test_the_metadata_describes_every_picture_and_each_can_be_opened(tmp_path):
    catalog = render_catalog(tmp_path, n_products=22, views_per_product=4, size=SMALL)
    with catalog.metadata.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    assert tuple(reader.fieldnames or ()) == COLUMNS
    assert [r["path"] for r in rows] == [i.path for i in catalog.images]
    on_disk = {path for path in files(tmp_path) if path != "metadata.csv"}
    assert {r["path"] for r in rows} == on_disk
    assert len(rows) == 88
    assert {Path(path).suffix for path in on_disk} == {".jpg", ".png", ".webp"}
    for row in rows:
        assert all(row.values()), row
        assert row["view"] in VIEWS
        assert row["background"] in BACKGROUNDS
        assert row["light"] in LIGHTS
        with Image.open(tmp_path / row["path"]) as picture:
            picture.load()
            assert (picture.size, picture.mode) == ((SMALL, SMALL), "RGB")


def test_progress_counts_every_picture(tmp_path):
    seen: list[tuple[int, int]] = []
    render_catalog(
        tmp_path,
        n_products=2,
        views_per_product=3,
        size=SMALL,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(n, 6) for n in range(1, 7)]


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_products", 0), ("views_per_product", 0), ("seed", -1), ("size", 63)],
)
def test_a_number_out_of_range_is_refused_by_name(tmp_path, name, value):
    arguments = {"n_products": 1, "views_per_product": 1, "seed": 0, "size": SMALL, name: value}
    with pytest.raises(ValueError, match=f"{name} must be at least"):
        render_catalog(tmp_path / "new", **arguments)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("category", list(KINDS))
def test_every_cut_and_detail_can_be_drawn_and_fits_the_picture(category):
    kind = KINDS[category]
    looks = set()
    for cut, details in kind.cuts.items():
        for detail in details:
            taken = shot(kind, 0, np.random.default_rng(1))
            cover = cut_out(a_product(category, cut, detail), taken, SMALL)[0].cover
            assert 0.08 < cover.mean() < 0.8, (cut, detail)
            rim = np.concatenate([cover[0], cover[-1], cover[:, 0], cover[:, -1]])
            assert rim.mean() < 0.02, (cut, detail)
            taken = shot(kind, 0, np.random.default_rng(1))
            looks.add(render_picture(a_product(category, cut, detail), taken, SMALL).tobytes())
    assert len(looks) == sum(len(details) for details in kind.cuts.values())


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_every_view_can_be_taken_of_every_category(number):
    for category, kind in KINDS.items():
        cut = next(iter(kind.cuts))
        taken = shot(kind, number, np.random.default_rng(number))
        product = replace(a_product(category, cut, kind.cuts[cut][0]), texture=kind.textures[-1])
        product = replace(product, pattern_scale="medium")
        pixels = np.asarray(render_picture(product, taken, SMALL), dtype=float)
        assert taken.view == VIEWS[number]
        assert pixels.std() > 5, category


def test_a_colour_shows_in_the_picture():
    kind = KINDS["shirt"]
    means = {}
    for colour in ("red", "green", "blue", "black", "white"):
        product = replace(a_product("shirt", "regular", "plain front"), colour=colour, trim="tonal")
        canvas, _ = cut_out(product, shot(kind, 0, np.random.default_rng(1)), SMALL)
        means[colour] = canvas.light_planes[:, canvas.cover > 0.99].mean(axis=1)
    assert np.argmax(means["red"]) == 0
    assert np.argmax(means["green"]) == 1
    assert np.argmax(means["blue"]) == 2
    assert means["white"].min() > 10 * means["black"].max()


def test_pictures_of_different_products_differ_visibly(tmp_path):
    catalog = render_catalog(tmp_path, n_products=60, views_per_product=1, size=SMALL)
    pixels = np.stack(
        [
            np.asarray(Image.open(tmp_path / i.path).convert("RGB"), dtype=np.float32)
            for i in catalog.images
        ]
    )
    closest = [np.abs(pixels[:n] - p).mean(axis=(1, 2, 3)).min() for n, p in enumerate(pixels) if n]
    assert min(closest) > 2.0

"""A small catalog of real picture files, people, and pools over them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Role, User
from catalog.images.blobs import blob_path
from catalog.models import Catalog, Image, SourceFile
from lookalike.images.decode import read_picture
from lookalike.pooling.query_rule import QueryRule
from pooling.models import Pool
from pooling.pools.requests import PoolRequest
from pooling.pools.services import create_pool
from tests.pictures import jpeg

MODELS = ["descriptor:colour-histogram", "descriptor:colour-layout"]
COLOURS = ("red", "green", "blue")


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """A data folder of this test's own, for pictures and vectors."""
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def catalog_of(db: None, data_dir: Path) -> Callable[..., Catalog]:
    """Make catalogs whose files lie in this test's own data folder."""
    return catalog_of_photos


def catalog_of_photos(n: int, slug: str = "shoes", first_seed: int = 0) -> Catalog:
    """Make a catalog of so many small photos: two of each product, colours in turn."""
    catalog = Catalog.objects.create(slug=slug, name=slug.title())
    for number in range(n):
        add_photo(catalog, number, jpeg(seed=first_seed + number))
    return catalog


def add_photo(catalog: Catalog, number: int, content: bytes) -> Image:
    """Put one photo into a catalog, as an import does."""
    name = f"photos/{number:03d}.jpg"
    picture = read_picture(content, name)
    sha256 = hashlib.sha256(content).hexdigest()
    path = blob_path(sha256, "original")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    image = Image.objects.create(
        catalog=catalog,
        sha256=sha256,
        product_id=f"product-{number // 2}",
        attributes={"colour": COLOURS[number % len(COLOURS)], "view": str(number % 2)},
        width=picture.width,
        height=picture.height,
        image_format=picture.image_format,
        n_bytes=len(content),
        perceptual_hash=picture.perceptual_hash,
    )
    SourceFile.objects.create(catalog=catalog, image=image, path=name)
    return image


@pytest.fixture
def request_of(catalog_of: Callable[..., Catalog]) -> Callable[..., PoolRequest]:
    """Ask for a pool of three queries over twelve photos, unless told otherwise."""

    def make(**changes: Any) -> PoolRequest:
        catalog = changes.pop("catalog", None) or catalog_of(12)
        return PoolRequest(
            **{
                "name": "First pool",
                "catalog": catalog,
                "specs": MODELS,
                "k": 3,
                "rule": QueryRule(n=3),
                **changes,
            }
        )

    return make


@pytest.fixture
def pool_of(request_of: Callable[..., PoolRequest]) -> Callable[..., Pool]:
    """Create such a pool; nothing is started."""

    def make(**changes: Any) -> Pool:
        return create_pool(request=request_of(**changes), created_by=None)

    return make


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("ada", password="x", role=Role.ADMIN)


@pytest.fixture
def researcher(db: None) -> User:
    return User.objects.create_user("rosa", password="x", role=Role.RESEARCHER)


@pytest.fixture
def annotators(db: None) -> list[User]:
    names = ("anna", "ben", "cleo")
    return [User.objects.create_user(name, password="x", role=Role.ANNOTATOR) for name in names]

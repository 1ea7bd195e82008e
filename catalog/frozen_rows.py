"""What a release freezes of catalogs, as it was at one moment."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from jobs.work.snapshot import Snapshot

IMAGES = """
select i.id, i.sha256, i.catalog_id as catalog,
       coalesce((select min(path collate "C") from catalog_sourcefile f where f.image_id = i.id),
                i.sha256) as path,
       i.product_id as product, i.width, i.height, i.image_format as format, i.n_bytes,
       i.perceptual_hash, i.attributes::text
from catalog_image i where i.catalog_id = any(%s) order by i.sha256 collate "C", i.id
"""
NEAR_DUPLICATES = """
select first_id as first, second_id as second from catalog_nearduplicate where catalog_id = any(%s)
"""


class FrozenImage(NamedTuple):
    """An image; `path` is the first under which it was imported, `attributes` is JSON."""

    id: int
    sha256: str
    catalog: int
    path: str
    product: str
    width: int
    height: int
    format: str
    n_bytes: int
    perceptual_hash: str
    attributes: str


class NearDuplicates(NamedTuple):
    """Two images that look almost the same, by id."""

    first: int
    second: int


def frozen_images(view: Snapshot, catalogs: Collection[int]) -> list[FrozenImage]:
    """Return the images of catalogs by SHA-256."""
    return view.rows(FrozenImage, IMAGES, [sorted(catalogs)])


def near_duplicates(view: Snapshot, catalogs: Collection[int]) -> list[NearDuplicates]:
    """Return the pairs of near duplicates within catalogs."""
    return view.rows(NearDuplicates, NEAR_DUPLICATES, [sorted(catalogs)])


class CatalogName(NamedTuple):
    """A catalog by id and slug."""

    id: int
    slug: str


def catalog_slugs(view: Snapshot, catalogs: Collection[int]) -> dict[int, str]:
    """Return the slug of each catalog by its id."""
    statement = "select id, slug from catalog_catalog where id = any(%s)"
    return dict(view.rows(CatalogName, statement, [sorted(catalogs)]))


def catalogs_holding(view: Snapshot, images: Collection[int]) -> set[int]:
    """Return the ids of the catalogs that hold some images."""
    statement = "select distinct catalog_id from catalog_image where id = any(%s)"
    return set(view.values(statement, [list(images)]))

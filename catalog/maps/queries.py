"""Read maps of catalogs: where each image lies, and which lie in an area."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from numpy.typing import NDArray

from catalog.browsing.filters import Area
from catalog.maps.services import FULL
from catalog.models import Catalog, CatalogMap
from catalog.vectors.embeddings import vectors_sha256

GONE = UUID(int=0)
UIDS = """
select string_agg(uuid_send(coalesce(i.uid, %s)), ''::bytea order by place)
from unnest(%s::bigint[]) with ordinality as given (id, place)
left join catalog_image i on i.id = given.id
"""


def map_points(drawn: CatalogMap) -> NDArray[np.uint16]:
    """Return where each image of a map lies, shape (n, 2), from 0 to `FULL`."""
    return np.frombuffer(bytes(drawn.points), "<u2").reshape(-1, 2)


def map_uids(drawn: CatalogMap) -> bytes:
    """Return the uid of each image of a map, 16 bytes each; zeros for one deleted since."""
    with connection.cursor() as cursor:
        cursor.execute(UIDS, [GONE, drawn.image_ids])
        [(uids,)] = cursor.fetchall()
    return bytes(uids or b"")


def find_map(catalog: Catalog, pk: int) -> CatalogMap | None:
    """Return a map of a catalog by its id; None where it was drawn again since, or never was."""
    return _maps(catalog).filter(pk=pk).first()


def has_map(catalog: Catalog, pk: int) -> bool:
    """Whether a catalog has the map of an id still."""
    return _maps(catalog).filter(pk=pk).exists()


def _maps(catalog: Catalog) -> QuerySet[CatalogMap]:
    return CatalogMap.objects.filter(embedding_set__catalog=catalog)


def images_in(drawn: CatalogMap, area: Area) -> list[int]:
    """Return the ids of the images in an area of a map, its edges included."""
    points = map_points(drawn)
    low = np.floor(np.array([area.left, area.top]) * FULL)
    high = np.ceil(np.array([area.right, area.bottom]) * FULL)
    inside = ((points >= low) & (points <= high)).all(axis=1)
    return [drawn.image_ids[row] for row in np.flatnonzero(inside)]


def is_up_to_date(drawn: CatalogMap) -> bool:
    """Whether a map shows the vectors that its set has now."""
    return drawn.vectors_sha256 == vectors_sha256(drawn.embedding_set)

"""What the page of a map draws: points and names of images, and the pairs of a pool among them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
from django.db.models import Q, QuerySet

from catalog.maps.queries import map_points
from catalog.models import Catalog, CatalogMap, Image
from pooling.models import Pool
from pooling.pools.queries import judged_pairs, pool_pairs

NOWHERE = -1  # the row of an image that is not on the map
GONE = uuid.UUID(int=0)  # of an image that was deleted since the map was drawn


def points_file(drawn: CatalogMap) -> bytes:
    """Return a map for the browser: x and y of all images as uint16, then the uid of each.

    All little-endian, 4 and 16 bytes an image, in one order.
    """
    uid_of = dict(Image.objects.filter(pk__in=drawn.image_ids).values_list("pk", "uid").iterator())
    uids = b"".join(uid_of.get(pk, GONE).bytes for pk in drawn.image_ids)
    return map_points(drawn).tobytes() + uids


def pairs_file(drawn: CatalogMap, pool: Pool) -> bytes:
    """Return the pairs of a pool for the browser, by the places of their images on a map.

    Int32, little-endian: how many queries, the place of each, then query, candidate and 1 or 0
    for judged or not, of each pair. What is on another catalog's map is at `NOWHERE`.
    """
    row_of = {pk: row for row, pk in enumerate(drawn.image_ids)}
    queries = [row_of.get(pk, NOWHERE) for pk in pool.query_ids.tolist()]
    judged = judged_pairs(pool)
    pairs = [
        (row_of.get(query, NOWHERE), row_of.get(candidate, NOWHERE), (query, candidate) in judged)
        for query, candidate in pool_pairs(pool)
    ]
    return b"".join(_int32(part) for part in ([len(queries)], queries, pairs))


def _int32(values: Sequence[object]) -> bytes:
    return np.array(values, "<i4").tobytes()


def pools_on(catalog: Catalog) -> QuerySet[Pool]:
    """Return the pools that ask about images of a catalog, or propose them, newest first."""
    here = Q(catalog=catalog) | Q(query_catalog=catalog)
    return Pool.objects.filter(here, sources__done_at__isnull=False).distinct().order_by("-pk")

"""What the page of a map draws: points and names of images, and the pairs of a pool among them."""

from __future__ import annotations

import numpy as np
from django.db.models import Q, QuerySet

from annotation.queries.asked_pairs import answered_pairs
from annotation.queries.labels import distinct_pairs
from annotation.queries.prepared import columns_of
from catalog.maps.queries import map_points, map_uids
from catalog.models import Catalog, CatalogMap
from lookalike.core.arrays import Ints
from pooling.models import Pool

NOWHERE = -1  # the row of an image that is not on the map
PAIRS = """
select distinct q.position, p.query_id, p.candidate_id
from pooling_proposal p
join pooling_poolquery q on q.pool_id = p.pool_id and q.image_id = p.query_id
join pooling_poolsource s on s.id = p.source_id
where p.pool_id = %s and s.done_at is not null
"""


def points_file(drawn: CatalogMap) -> bytes:
    """Return a map for the browser: x and y of all images as uint16, then the uid of each.

    All little-endian, 4 and 16 bytes an image, in one order.
    """
    return map_points(drawn).tobytes() + map_uids(drawn)


def pairs_file(drawn: CatalogMap, pool: Pool) -> bytes:
    """Return the pairs of a pool for the browser, by the places of their images on a map.

    Int32, little-endian: how many queries, the place of each, then query, candidate and 1 or 0
    for judged or not, of each pair. What is on another catalog's map is at `NOWHERE`.
    """
    on_map = np.array(drawn.image_ids, np.int64)
    campaigns = list(pool.campaign_links.values_list("campaign_id", flat=True))
    asked = _asked(pool)
    _, pair = distinct_pairs(np.concatenate([asked[:, 1:], answered_pairs(campaigns)]))
    is_judged = np.isin(pair[: len(asked)], pair[len(asked) :])
    columns = [*(_rows_of(on_map, column) for column in asked[:, 1:].T), is_judged]
    in_order = np.stack(columns, axis=1)[np.lexsort((asked[:, 2], asked[:, 0]))]
    queries = _rows_of(on_map, pool.query_ids)
    return b"".join(
        part.astype("<i4").tobytes() for part in (np.array([queries.size]), queries, in_order)
    )


def _asked(pool: Pool) -> Ints:
    """Return a pair in each row: where its query stands, query and candidate, by image id."""
    kinds = {"position": ">i4", "query": ">i8", "candidate": ">i8"}
    return np.stack(list(columns_of(PAIRS, kinds, pool.pk).values()), axis=1).astype(np.int64)


def _rows_of(ids: Ints, wanted: Ints) -> Ints:
    """Return where each of some ids stands among others, `NOWHERE` where it does not."""
    if not ids.size:
        return np.full(wanted.size, NOWHERE)
    order = np.argsort(ids)
    at = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), ids.size - 1)]
    return np.where(ids[at] == wanted, at, NOWHERE)


def pools_on(catalog: Catalog) -> QuerySet[Pool]:
    """Return the pools that ask about images of a catalog, or propose them, newest first."""
    here = Q(catalog=catalog) | Q(query_catalog=catalog)
    return Pool.objects.filter(here, sources__done_at__isnull=False).distinct().order_by("-pk")

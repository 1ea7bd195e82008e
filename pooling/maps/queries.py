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
PROPOSED = """
select p.query_id, p.candidate_id from pooling_proposal p
where p.pool_id = %s and p.source_id = any(%s::bigint[])
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
    on_map, query_ids = np.array(drawn.image_ids, np.int64), np.array(pool.query_ids, np.int64)
    proposed = _proposed(pool)
    campaigns = list(pool.campaign_links.values_list("campaign_id", flat=True))
    answered = answered_pairs(campaigns)
    pairs, at = distinct_pairs(np.concatenate([proposed, answered]))
    is_asked, is_judged = np.zeros((2, pairs[0].size), np.bool_)
    is_asked[at[: len(proposed)]] = True
    is_judged[at[len(proposed) :]] = True
    queries, candidates = (column[is_asked] for column in pairs)
    in_order = np.lexsort((candidates, _rows_of(query_ids, queries)))
    columns = (_rows_of(on_map, queries), _rows_of(on_map, candidates), is_judged[is_asked])
    parts = np.array([query_ids.size]), _rows_of(on_map, query_ids), np.stack(columns, 1)[in_order]
    return b"".join(part.astype("<i4").tobytes() for part in parts)


def _proposed(pool: Pool) -> Ints:
    """Return what the sources of a pool that are done propose, shape (n, 2), by image id."""
    done = list(pool.sources.filter(done_at__isnull=False).values_list("pk", flat=True))
    kinds = {"query": ">i8", "candidate": ">i8"}
    return np.stack(list(columns_of(PROPOSED, kinds, pool.pk, done).values()), axis=1)


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

"""Who may answer whom: a pool's rules as the filters that every search applies inside.

No torch here: pages count with these too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.curation.services import omitted_ids
from catalog.models import Catalog, Image, NearDuplicate
from jobs.services import JobError
from lookalike.core.arrays import Ints
from lookalike.core.products import number_products
from lookalike.images.near_duplicates import NEAR_BITS
from lookalike.search.collapse_duplicates import one_of_each
from lookalike.search.filters import Filters, Keys
from lookalike.search.scored import admissible
from pooling.models import Pool
from pooling.pools.products import Rules, product_key_of

NO_KEY = -1
BLOCK = 64  # queries whose hashes are compared with the catalog's at once


def make_filters(rules: Rules, query_ids: Ints, candidate_ids: Ints) -> Filters:
    """Return who may not answer whom.

    Args:
        rules: a pool, or a request for one.
        query_ids, candidate_ids: image ids.

    Raises:
        JobError: a query of the same catalog is not among the candidates.
    """
    apart: list[Keys] = []
    omitted = _omitted(rules, query_ids, candidate_ids)
    own = None
    if rules.query_catalog is not None:
        apart.append(_contents(rules.catalog, query_ids, candidate_ids))
    else:
        own = find_rows(query_ids, candidate_ids)
    products_apart = [*_products(rules, query_ids, candidate_ids), *omitted]
    apart += products_apart
    if not rules.candidates:
        return Filters(own=own, apart=apart)
    further = _further(rules, query_ids, candidate_ids, products_apart)
    return Filters(own=own, apart=[*apart, *further.apart], alike=further.alike)


def _omitted(rules: Rules, query_ids: Ints, candidate_ids: Ints) -> list[Keys]:
    """Return keys that keep images left out from every query; of a pool, as it was made."""
    made_at = rules.created_at if isinstance(rules, Pool) and rules.pk else None
    omitted = omitted_ids(rules.catalog, made_at)
    if not omitted:
        return []
    is_omitted = np.isin(candidate_ids, np.array(sorted(omitted), np.int64))
    return [Keys(queries=np.zeros_like(query_ids), catalog=np.where(is_omitted, 0, NO_KEY))]


def n_admissible(rules: Rules, query_ids: Ints) -> Ints:
    """Return how many candidates each query has to choose from, shape (n_queries,)."""
    images = rules.catalog.images.order_by("sha256")
    candidate_ids = np.array(list(images.values_list("pk", flat=True)), np.int64)
    arrays = make_filters(rules, query_ids, candidate_ids).arrays(
        len(query_ids), len(candidate_ids)
    )
    return np.array([admissible(arrays, at).sum() for at in range(len(query_ids))], np.int64)


def find_rows(wanted: Ints, image_ids: Ints) -> Ints:
    """Return the row of each wanted image id.

    Args:
        wanted: shape (n,), image ids.
        image_ids: shape (m,), distinct, in any order.

    Raises:
        JobError: an image has no vector.
    """
    order = np.argsort(image_ids)
    places = np.searchsorted(image_ids, wanted, sorter=order)
    rows = order[np.minimum(places, len(order) - 1)] if len(order) else np.zeros_like(wanted)
    if len(wanted) and (len(order) == 0 or (image_ids[rows] != wanted).any()):
        raise JobError("A query has no vector: images were removed while the pool was filled.")
    return rows


def _further(
    rules: Rules, query_ids: Ints, candidate_ids: Ints, products_apart: list[Keys]
) -> Filters:
    """Return the filters of the rule on candidates, beside the one on products."""
    rule = rules.candidates
    asked, offered = _facts(query_ids), _facts(candidate_ids)
    keys = {name: _values(name, asked, offered) for name in rule.attributes}
    apart = [keys[name] for name in rule.different]
    alike = [keys[name] for name in rule.same]
    if rule.one_of_alike:
        groups = _groups(rules.catalog, candidate_ids)
        units = _units(groups, [keys[name].catalog for name in rule.same])
        by_content = np.argsort(np.array([sha256 for sha256, _, _ in offered]), kind="stable")
        stands, other_standins = one_of_each(units, by_content, [*products_apart, *apart])
        apart += _like_the_query(rules, query_ids, candidate_ids, groups) + other_standins
        alike.append(Keys(queries=np.ones_like(query_ids), catalog=stands))
    return Filters(apart=apart, alike=alike)


def _facts(image_ids: Ints) -> list[tuple[str, dict[str, Any], str]]:
    """Return content hash, attributes and perceptual hash of each image."""
    facts = {
        row[0]: row[1:]
        for row in Image.objects.filter(pk__in=image_ids.tolist()).values_list(
            "pk", "sha256", "attributes", "perceptual_hash"
        )
    }
    return [facts[pk] for pk in image_ids.tolist()]


def _values(name: str, asked: list[Any], offered: list[Any]) -> Keys:
    """Return a number for each value of an attribute; NO_KEY where an image has none."""
    numbers: dict[str, int] = {"": NO_KEY}

    def of(facts: list[Any]) -> Ints:
        texts = [str(attributes.get(name) or "") for _, attributes, _ in facts]
        return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)

    return Keys(queries=of(asked), catalog=of(offered))


def _groups(catalog: Catalog, image_ids: Ints) -> Ints:
    """Return the group of each image: those that near-duplicates connect, or it alone."""
    from scipy.sparse import coo_array  # noqa: PLC0415  # slow to load
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    pairs = np.array(
        list(NearDuplicate.objects.filter(catalog=catalog).values_list("first_id", "second_id")),
        np.int64,
    ).reshape(-1, 2)
    pairs = pairs[np.isin(pairs, image_ids).all(axis=1)]
    ends = find_rows(pairs.ravel(), image_ids).reshape(-1, 2)
    n = len(image_ids)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    _, groups = connected_components(graph, directed=False)
    return np.asarray(groups, np.int64)


def _like_the_query(rules: Rules, query_ids: Ints, candidate_ids: Ints, groups: Ints) -> list[Keys]:
    """Return keys that leave out each query's own near-duplicates, with their whole groups."""
    if rules.query_catalog is None:
        own = find_rows(query_ids, candidate_ids)
        return [Keys(queries=groups[own], catalog=groups)]
    asked, offered = _hashes(query_ids), _hashes(candidate_ids)
    near: list[Ints] = []
    for start in range(0, len(asked), BLOCK):
        bits = np.bitwise_count(asked[start : start + BLOCK, None] ^ offered[None])
        near += [np.unique(groups[row <= NEAR_BITS]) for row in bits]
    most = max((len(found) for found in near), default=0)
    columns = np.full((most, len(near)), NO_KEY, np.int64)
    for query, found in enumerate(near):
        columns[: len(found), query] = found
    return [Keys(queries=column, catalog=groups) for column in columns]


def _hashes(image_ids: Ints) -> NDArray[np.uint64]:
    return np.array([int(bits, 16) for _, _, bits in _facts(image_ids)], np.uint64)


def _units(groups: Ints, same: list[Ints]) -> Ints:
    """Return a number for each group, divided by what candidates must share with the query."""
    _, units = np.unique(np.stack([groups, *same], axis=1), axis=0, return_inverse=True)
    return np.asarray(units.reshape(-1), np.int64)


def _products(rules: Rules, query_ids: Ints, candidate_ids: Ints) -> list[Keys]:
    """Return the products of queries and candidates, nothing where they have none in common."""
    held = Image.objects.filter(catalog__in={rules.catalog, rules.asking})
    key_of = product_key_of(rules, held)
    asked, offered = ([key_of[pk] for pk in ids.tolist()] for ids in (query_ids, candidate_ids))
    if not {*asked} & {*offered} - {""}:
        return []
    return [Keys(*number_products(asked, offered))]


def _contents(catalog: Catalog, query_ids: Ints, candidate_ids: Ints) -> Keys:
    """Return keys that keep a query from being answered with the same file in the catalog."""
    asked = dict(Image.objects.filter(pk__in=query_ids.tolist()).values_list("pk", "sha256"))
    number = {sha256: place for place, sha256 in enumerate(sorted(set(asked.values())))}
    same = Image.objects.filter(catalog=catalog, sha256__in=number)
    key_of = {pk: number[sha256] for pk, sha256 in same.values_list("pk", "sha256")}
    return Keys(
        queries=np.array([number[asked[int(pk)]] for pk in query_ids], np.int64),
        catalog=np.array([key_of.get(int(pk), NO_KEY) for pk in candidate_ids], np.int64),
    )

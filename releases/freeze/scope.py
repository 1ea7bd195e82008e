"""What a freeze is about: campaigns, pools, catalogs, images and queries, at one moment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.release.errors import ReleaseError
from releases.freeze.holdout import hidden_queries, require_enough, splits_before
from releases.freeze.requests import FreezeRequest
from releases.freeze.snapshot import Row, Snapshot

SHORTEST = 16

CAMPAIGNS = """
select id, slug, name, tie_rule, serving, k, seed, guideline_version, is_simulated, n_questions,
       state, asking_order
from annotation_campaign where slug = any(%s) order by slug
"""
POOLS = """
select p.id, p.slug, p.name, p.k, p.seed, p.query_rule::text, p.exclude_same_product, p.catalog_id,
       coalesce(p.query_catalog_id, p.catalog_id),
       (select count(*) from pooling_poolquery q where q.pool_id = p.id), p.candidate_rule::text
from pooling_pool p
where p.id in (select pool_id from pooling_poolcampaign where campaign_id = any(%s))
order by p.slug
"""
CATALOGS = """
select distinct i.catalog_id from catalog_image i
where i.id in (select query_id from annotation_question where campaign_id = any(%s)
               union select candidate_id from annotation_question where campaign_id = any(%s))
"""
IMAGES = """
select i.id, i.sha256, i.catalog_id,
       coalesce((select min(path collate "C") from catalog_sourcefile f where f.image_id = i.id),
                i.sha256),
       i.product_id, i.width, i.height, i.image_format, i.n_bytes, i.perceptual_hash,
       i.attributes::text
from catalog_image i where i.catalog_id = any(%s) order by i.sha256 collate "C", i.id
"""
NEAR = """
select first_id, second_id from catalog_nearduplicate where catalog_id = any(%s)
"""
QUERIES = """
select q.image_id from pooling_poolquery q join pooling_pool p on p.id = q.pool_id
where q.pool_id = any(%s) order by p.slug, q.position
"""
ASKED = """
select distinct query_id from annotation_question where campaign_id = any(%s) and kind = 'pair'
"""
OVERLAP = """
select count(*) from (select query_id, candidate_id from annotation_question
    where campaign_id = any(%s) and kind = 'pair'
    group by query_id, candidate_id having count(*) > 1) twice
"""


@dataclass(frozen=True)
class PoolRow:
    """A pool as a release describes it."""

    pk: int
    slug: str
    name: str
    k: int
    seed: int
    rule: dict[str, Any]
    excludes: bool
    catalog: int
    asking: int
    n_queries: int
    candidates: dict[str, Any]


@dataclass(frozen=True)
class Images:
    """All images of the benchmark, by database id and by name.

    Attributes:
        names: distinct names in the release, ascending; prefixes of `sha256`, so codes sort as
            hashes do.
        sha256: of each name.
        ids: ascending database ids; a picture in two catalogs has two.
        codes: shape (n_ids,), positions in `names`.
        first_row: shape (n_names,), the row of `rows` that describes each name.
        rows: as IMAGES gives them.
    """

    names: tuple[str, ...]
    sha256: list[str]
    ids: Ints
    codes: Ints
    first_row: Ints
    rows: list[tuple[Any, ...]]

    def code(self, image_ids: Sequence[int] | Ints) -> Ints:
        """Return the positions in `names` of database ids, all of which must be known."""
        wanted = np.asarray(image_ids, np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), max(self.ids.size - 1, 0))
        if wanted.size and (self.ids[at] != wanted).any():
            raise ReleaseError("A judged or proposed image is in none of the catalogs.")
        return self.codes[at]


@dataclass(frozen=True)
class Subjects:
    """All that a freeze starts from.

    Attributes:
        campaigns: rows of CAMPAIGNS as dicts, by slug.
        pools: pools that the campaigns judge, by slug.
        tie_rule: of all campaigns.
        excludes: whether other images of a query's product are no candidates.
        images: of the catalogs of all pairs.
        ranked: catalog ids whose images models rank.
        queries: codes of the queries, in the order in which they were drawn.
        hidden: codes of the queries whose labels are kept back.
    """

    campaigns: list[dict[str, Any]]
    pools: list[PoolRow]
    tie_rule: str
    excludes: bool
    images: Images
    ranked: set[int]
    queries: Ints
    hidden: Ints

    @property
    def campaign_ids(self) -> list[int]:
        """Database ids of the campaigns."""
        return [one["id"] for one in self.campaigns]

    @property
    def slugs(self) -> dict[int, str]:
        """Slug of each campaign by database id."""
        return {one["id"]: one["slug"] for one in self.campaigns}

    @property
    def pool_ids(self) -> list[int]:
        """Database ids of the pools."""
        return [pool.pk for pool in self.pools]


def read_subjects(view: Snapshot, request: FreezeRequest) -> Subjects:
    """Read what a request names.

    Raises:
        ReleaseError: a campaign that does not exist or is a draft, campaigns that do not go
            together, or queries that cannot be hidden.
    """
    campaigns = _campaigns(view, request)
    ids = [one["id"] for one in campaigns]
    pools = [_pool(row) for row in view.rows(POOLS, [ids])]
    if len({(pool.catalog, pool.asking, pool.excludes) for pool in pools}) > 1:
        raise ReleaseError("The campaigns’ pools search different catalogs; release them apart.")
    if view.rows(OVERLAP, [ids])[0][0]:
        raise ReleaseError("Two of the campaigns ask the same pair; release them apart.")
    catalogs = {row[0] for row in view.rows(CATALOGS, [ids, ids])}
    ranked = {pool.catalog for pool in pools} or set(catalogs)
    catalogs |= ranked | {pool.asking for pool in pools}
    images = _images(view, sorted(catalogs))
    queries = _queries(view, images, ids, [pool.pk for pool in pools])
    return Subjects(
        campaigns=campaigns,
        pools=pools,
        tie_rule=campaigns[0]["tie_rule"],
        excludes=pools[0].excludes if pools else True,
        images=images,
        ranked=ranked,
        queries=queries,
        hidden=_hidden(queries, images, request),
    )


def _campaigns(view: Snapshot, request: FreezeRequest) -> list[dict[str, Any]]:
    names = ("id", "slug", "name", "tie_rule", "serving", "k", "seed", "guideline_version",
             "is_simulated", "n_questions", "state", "asking_order")  # fmt: skip
    found = [
        dict(zip(names, row, strict=True))
        for row in view.rows(CAMPAIGNS, [list(request.campaigns)])
    ]
    missing = sorted(set(request.campaigns) - {one["slug"] for one in found})
    if missing:
        raise ReleaseError(f"There is no campaign “{missing[0]}”.")
    drafts = [one["slug"] for one in found if one["state"] == "draft"]
    if drafts:
        raise ReleaseError(f"“{drafts[0]}” is a draft: nothing of it is judged yet.")
    if len({one["tie_rule"] for one in found}) > 1:
        raise ReleaseError("The campaigns decide ties differently; release them apart.")
    return found


def _pool(row: Row) -> PoolRow:
    pk, slug, name, k, seed, rule, excludes, catalog, asking, n_queries, candidates = row
    return PoolRow(
        pk, slug, name, k, seed, json.loads(rule), excludes, catalog, asking, n_queries,
        json.loads(candidates),
    )  # fmt: skip


def _images(view: Snapshot, catalogs: list[int]) -> Images:
    rows = view.rows(IMAGES, [catalogs])
    hashes = [row[1] for row in rows]
    sha256 = sorted(set(hashes))
    n = shortest_prefix(sha256)
    place = {name: code for code, name in enumerate(sha256)}
    codes = np.array([place[name] for name in hashes], np.int64)
    ids = np.array([row[0] for row in rows], np.int64)
    _, first = np.unique(codes, return_index=True)
    order = np.argsort(ids)
    names = tuple(name[:n] for name in sha256)
    return Images(names, sha256, ids[order], codes[order], first, rows)


def shortest_prefix(names: Sequence[str], shortest: int = SHORTEST) -> int:
    """Return how many characters tell sorted distinct names apart, at least `shortest`."""
    n = shortest
    for one, other in pairwise(names):
        while one[:n] == other[:n]:
            n += 1
    return n


def _queries(view: Snapshot, images: Images, campaigns: list[int], pools: list[int]) -> Ints:
    asked = images.code([row[0] for row in view.rows(ASKED, [campaigns])])
    drawn = images.code([row[0] for row in view.rows(QUERIES, [pools])])
    all_of_them = [*drawn.tolist(), *sorted(set(asked.tolist()) - set(drawn.tolist()))]
    return np.array(list(dict.fromkeys(all_of_them)), np.int64)


def _hidden(queries: Ints, images: Images, request: FreezeRequest) -> Ints:
    sha256 = {images.sha256[code]: code for code in queries.tolist()}
    before = splits_before(request, list(sha256))
    found = hidden_queries(list(sha256), request.hidden_percent, request.seed, *before)
    if request.hidden_percent or found:
        require_enough(len(found))
    return np.array(sorted(sha256[name] for name in found), np.int64)

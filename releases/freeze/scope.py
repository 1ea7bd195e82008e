"""What a freeze is about: campaigns, pools, catalogs, images and queries, at one moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from annotation.queries.frozen_rows import (
    FrozenCampaign,
    ask_a_pair_twice,
    frozen_campaigns,
    images_asked_about,
    queries_asked,
)
from catalog.frozen_rows import FrozenImage, catalog_slugs, catalogs_holding, frozen_images
from jobs.work.snapshot import Snapshot
from lookalike.agreement.grades import Scale
from lookalike.core.arrays import Ints
from lookalike.release.errors import ReleaseError
from pooling.models import Pool
from pooling.pools.frozen_rows import FrozenPool, frozen_pools, queries_drawn
from pooling.pools.queries import left_out_ids
from releases.blindness.pairs import known_queries
from releases.freeze.hidden_labels import hide_queries
from releases.freeze.requests import FreezeRequest

SHORTEST = 16


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
        rows: by SHA-256.
    """

    names: tuple[str, ...]
    sha256: list[str]
    ids: Ints
    codes: Ints
    first_row: Ints
    rows: list[FrozenImage]

    def code(self, image_ids: Sequence[int] | Ints) -> Ints:
        """Return the positions in `names` of database ids, all of which must be known."""
        wanted = np.asarray(image_ids, np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), max(self.ids.size - 1, 0))
        if wanted.size and (self.ids[at] != wanted).any():
            raise ReleaseError("A judged or proposed image is in none of the catalogs.")
        return self.codes[at]

    def names_of(self, image_ids: Sequence[int]) -> list[str]:
        """Return the names of database ids, all of which must be known."""
        return [self.names[code] for code in self.code(image_ids).tolist()]

    @property
    def catalogs(self) -> set[int]:
        """Database ids of the catalogs that hold images."""
        return {row.catalog for row in self.rows}


@dataclass(frozen=True)
class Scope:
    """All that a freeze starts from.

    Attributes:
        campaigns: by slug.
        pools: pools that the campaigns judge, by slug.
        tie_rule: of all campaigns.
        excludes: whether other images of a query's product are no candidates.
        images: of the catalogs of all pairs.
        ranked: catalog ids whose images models rank.
        queries: codes of the queries, in the order in which they were drawn.
        hidden: codes of the queries whose labels are hidden.
        scale: of all campaigns, None where a pair is similar or different.
        prefixes: what product ids begin with in the release, by catalog id; without one they are
            as in the catalog.
    """

    campaigns: list[FrozenCampaign]
    pools: list[FrozenPool]
    tie_rule: str
    excludes: bool
    images: Images
    ranked: set[int]
    queries: Ints
    hidden: Ints
    scale: Scale | None = None
    prefixes: dict[int, str] = field(default_factory=dict)

    @property
    def campaign_ids(self) -> list[int]:
        """Database ids of the campaigns."""
        return [campaign.id for campaign in self.campaigns]

    @property
    def slugs(self) -> dict[int, str]:
        """Slug of each campaign by database id."""
        return {campaign.id: campaign.slug for campaign in self.campaigns}

    @property
    def query_prefix(self) -> str | None:
        """What product ids of the queries' own catalog begin with; None where ids are shared."""
        return self.prefixes.get(self.pools[0].query_catalog) if self.pools else None

    def product_of(self, row: FrozenImage) -> str:
        """Return the product of an image as the release says it."""
        prefix = self.prefixes.get(row.catalog)
        return row.product if prefix is None else f"{prefix}{row.product}" if row.product else ""

    @property
    def pool_ids(self) -> list[int]:
        """Database ids of the pools."""
        return [pool.id for pool in self.pools]


def unranked_ids(scope: Scope) -> set[int]:
    """Return the ids of images that no model ranks: left out of every pool of the scope."""
    pools = Pool.objects.filter(pk__in=scope.pool_ids)
    of_pools = [left_out_ids(pool) for pool in pools]
    return set.intersection(*of_pools) if of_pools else set()


def read_scope(view: Snapshot, request: FreezeRequest) -> Scope:
    """Read what a request names.

    Raises:
        ReleaseError: a campaign that does not exist or is a draft, campaigns that do not go
            together, or queries that cannot be hidden.
    """
    campaigns = _campaigns(view, request)
    ids = [campaign.id for campaign in campaigns]
    pools = frozen_pools(view, ids)
    if len({pool.comparison for pool in pools}) > 1:
        raise ReleaseError(
            "The campaigns’ pools search different catalogs, or differ in whose products they "
            "leave out; release them apart."
        )
    if ask_a_pair_twice(view, ids):
        raise ReleaseError("Two of the campaigns ask the same pair; release them apart.")
    catalogs = catalogs_holding(view, images_asked_about(view, ids))
    ranked = {pool.catalog for pool in pools} or set(catalogs)
    catalogs |= ranked | {pool.query_catalog for pool in pools}
    images = _images(view, catalogs, ranked)
    queries = _queries(view, images, ids, [pool.id for pool in pools])
    code_of = {images.sha256[code]: code for code in queries.tolist()}
    hidden = hide_queries(list(code_of), known_queries(view, ids), request)
    return Scope(
        campaigns=campaigns,
        pools=pools,
        tie_rule=campaigns[0].tie_rule,
        excludes=pools[0].exclude_same_product if pools else True,
        images=images,
        ranked=ranked,
        queries=queries,
        hidden=np.array(sorted(code_of[name] for name in hidden), np.int64),
        scale=campaigns[0].scale,
        prefixes=_product_prefixes(view, pools, catalogs),
    )


def _campaigns(view: Snapshot, request: FreezeRequest) -> list[FrozenCampaign]:
    campaigns = frozen_campaigns(view, request.campaigns)
    missing = sorted(set(request.campaigns) - {campaign.slug for campaign in campaigns})
    if missing:
        raise ReleaseError(f"There is no campaign “{missing[0]}”.")
    drafts = [campaign.slug for campaign in campaigns if campaign.state == "draft"]
    if drafts:
        raise ReleaseError(f"“{drafts[0]}” is a draft: nothing of it is judged yet.")
    if len({campaign.tie_rule for campaign in campaigns}) > 1:
        raise ReleaseError("The campaigns decide ties differently; release them apart.")
    if len({campaign.scale for campaign in campaigns}) > 1:
        raise ReleaseError("The campaigns have different grades; release them apart.")
    notions = sorted({campaign.notion for campaign in campaigns})
    if len(notions) > 1:
        told = " and ".join(f"in {name}" if name else "as a whole" for name in notions)
        raise ReleaseError(f"The campaigns ask what is similar {told}; release them apart.")
    return campaigns


def _product_prefixes(
    view: Snapshot, pools: Sequence[FrozenPool], catalogs: Collection[int]
) -> dict[int, str]:
    """Return what product ids begin with, by catalog: a product belongs to its catalog."""
    if pools and (pools[0].shared_product_ids or pools[0].catalog == pools[0].query_catalog):
        return {}
    if len(catalogs) == 1:
        return {}
    candidates = {pool.catalog for pool in pools}
    slugs = catalog_slugs(view, catalogs)
    return {pk: f"{slug}:" for pk, slug in slugs.items() if pk not in candidates}


def _images(view: Snapshot, catalogs: Collection[int], ranked: Collection[int]) -> Images:
    """Read all images; one that is in several catalogs is described as a candidate."""
    rows = sorted(frozen_images(view, catalogs), key=lambda row: row.catalog not in ranked)
    sha256 = sorted({row.sha256 for row in rows})
    n = shortest_prefix(sha256)
    place = {name: code for code, name in enumerate(sha256)}
    codes = np.array([place[row.sha256] for row in rows], np.int64)
    ids = np.array([row.id for row in rows], np.int64)
    _, first = np.unique(codes, return_index=True)
    order = np.argsort(ids)
    names = tuple(name[:n] for name in sha256)
    return Images(names, sha256, ids[order], codes[order], first, rows)


def shortest_prefix(names: Sequence[str], shortest: int = SHORTEST) -> int:
    """Return how many characters tell sorted distinct names apart, at least `shortest`."""
    n = shortest
    for name, following in pairwise(names):
        while name[:n] == following[:n]:
            n += 1
    return n


def _queries(view: Snapshot, images: Images, campaigns: list[int], pools: list[int]) -> Ints:
    drawn = images.code(queries_drawn(view, pools)).tolist()
    asked = np.unique(images.code(queries_asked(view, campaigns))).tolist()
    return np.array(list(dict.fromkeys([*drawn, *asked])), np.int64)

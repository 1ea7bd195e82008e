"""A campaign as the measures want it: labels, votes, proposals, products, by image hash.

Images are named by their SHA-256, which means the same everywhere and holds no white space.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from annotation.models import Campaign, PanelMember, QuestionKind
from annotation.queries.labels import LabelTable, labels, votes
from annotation.queries.labels import VoteTable as Votes
from catalog.models import EmbeddingSet, Image
from catalog.vectors.projections import parent_spec
from evaluation.below_pool.pairs import drawn_beside_pool, without_pairs
from lookalike.backbones.spec import backbone_family
from lookalike.bias.evidence.files import Proposals, VoteTable
from lookalike.core.arrays import Ints
from lookalike.core.products import Products
from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, sorted_names
from lookalike.pooling import eds
from lookalike.stats.units import Units
from pooling.models import Pool, PoolSource
from pooling.pools.products import product_keys
from pooling.pools.queries import pool_of, stored_proposals


@dataclass(frozen=True)
class ImageTable:
    """The images that a campaign can meet, in ascending order of id.

    Attributes:
        ids: shape (n_images,), database ids.
        names: SHA-256 of each.
        products: product id of each, "" where unknown.
        catalogs: catalog id of each.
        attributes: attributes of each.
    """

    ids: Ints
    names: list[str]
    products: list[str]
    attributes: list[dict[str, str]]
    catalogs: list[int]

    @classmethod
    def of(cls, catalog_ids: Iterable[int]) -> ImageTable:
        """Read all images of some catalogs."""
        rows = list(
            Image.objects.filter(catalog_id__in=set(catalog_ids))
            .order_by("id")
            .values_list("id", "sha256", "product_id", "attributes", "catalog_id")
        )
        ids, *columns = zip(*rows, strict=True) if rows else ([],) * 5
        return cls(np.array(ids, np.int64), *map(list, columns))

    def rows(self, image_ids: Ints) -> Ints:
        """Return where images stand in the table; all of them must be in it."""
        at = np.searchsorted(self.ids, image_ids)
        if at.size and (at.max() >= self.ids.size or (self.ids[at] != image_ids).any()):
            raise InputError("a judged image is in none of the campaign's catalogs")
        return at

    def product_keys(self, pool: Pool | None) -> list[str]:
        """Return the key of each image's product by the rule of a pool."""
        return product_keys(pool, zip(self.catalogs, self.products, strict=True))

    def products_apart(
        self, pool: Pool | None, asking: Collection[int] = (), offering: Collection[int] = ()
    ) -> Mapping[str, str] | None:
        """Return the product of each image, None where a pool admits the query's own product.

        Args:
            pool: whose rule holds; its catalogs say what an image that is in both shows.
            asking, offering: catalogs of queries and of candidates, where there is no pool.
        """
        if pool is not None and not pool.exclude_same_product:
            return None
        keys = self.product_keys(pool)
        if len(set(self.catalogs)) == 1:
            return dict(zip(self.names, keys, strict=True))
        if pool is not None:
            asking, offering = {pool.asking.pk}, {pool.catalog_id}
        return Products(self.prefer(keys, offering), self.prefer(keys, asking))

    def prefer(self, keys: Sequence[str], catalogs: Collection[int]) -> dict[str, str]:
        """Return keys by name; an image of several catalogs has its key in one of those given."""
        rows = zip(self.names, keys, self.catalogs, strict=True)
        ordered = sorted(rows, key=lambda row: row[2] in catalogs)
        return {name: key for name, key, _ in ordered}

    def find(self, names: Iterable[str], catalog: int) -> Ints:
        """Return the ids of images of a catalog by name."""
        rows = zip(self.names, self.catalogs, self.ids.tolist(), strict=True)
        id_of = {name: pk for name, of, pk in rows if of == catalog}
        return np.array([id_of[name] for name in names], np.int64)

    def named(self, image_ids: Ints) -> list[str]:
        """Return the names of images."""
        return [self.names[row] for row in self.rows(image_ids).tolist()]


@dataclass(frozen=True)
class EvaluationInputs:
    """All that an evaluation of a campaign starts from.

    Attributes:
        campaign: it.
        pool: the pool that it judges, None for a campaign without one.
        table: votes and labels, without the pairs drawn below the pool: they would be judged
            candidates that no model proposed.
        all_labels: votes and labels with them.
        images: of the catalogs of queries and candidates.
        qrels: the decided labels.
        proposals: of the pool; None without one.
        sources: the pool's sources that are done, in the order of `proposals.generators`.
        vote_table: the single votes, judges by number.
        hashes: SHA-256 of each input by name.
    """

    campaign: Campaign
    pool: Pool | None
    table: LabelTable
    all_labels: LabelTable
    images: ImageTable
    qrels: Qrels
    proposals: Proposals | None
    sources: list[PoolSource]
    vote_table: VoteTable
    hashes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def asked(self) -> Qrels:
        """Every pair put to the judges, judged or not, as if it were labelled."""
        pairs = self.campaign.questions.filter(kind=QuestionKind.PAIR)
        ids = np.array(list(pairs.values_list("query_id", "candidate_id")), np.int64)
        named = [self.images.named(column) for column in ids.reshape(-1, 2).T]
        return Qrels.of((query, candidate, 0) for query, candidate in zip(*named, strict=True))

    @cached_property
    def below_pool(self) -> set[tuple[str, str]]:
        """The pairs drawn below the pool that no model has proposed since."""
        ids = np.array(sorted(drawn_beside_pool(self.campaign)), np.int64)
        queries, candidates = (self.images.named(column) for column in ids.reshape(-1, 2).T)
        return set(zip(queries, candidates, strict=True))

    @cached_property
    def product_of(self) -> dict[str, str]:
        """Product of each image, as a query where it is in two catalogs; "" where unknown."""
        asking = {self.pool.asking.pk} if self.pool else set(self.images.catalogs)
        return self.images.prefer(self.images.products, asking)

    @cached_property
    def units(self) -> Units:
        """The product of each labelled query: queries of one product are not independent."""
        return Units.of(self.qrels.query_ids, self.product_of)

    @cached_property
    def products(self) -> Mapping[str, str] | None:
        """Product of each image, or None where the pool admits the query's own product."""
        return products_of(self.images, self.campaign, self.pool)


def products_of(
    images: ImageTable, campaign: Campaign, pool: Pool | None
) -> Mapping[str, str] | None:
    """Return the products that a campaign keeps apart, as `ImageTable.products_apart`."""
    if pool is not None:
        return images.products_apart(pool)
    asked = list(
        campaign.questions.order_by()
        .values_list("query__catalog_id", "candidate__catalog_id")
        .distinct()
    )
    return images.products_apart(None, {query for query, _ in asked}, {other for _, other in asked})


def read_inputs(campaign: Campaign, *, without: PanelMember | None = None) -> EvaluationInputs:
    """Read a campaign's labels, votes and pool, the votes of one judge left out if wanted.

    Raises:
        InputError: no pair has a decided label yet.
    """
    pool = pool_of(campaign)
    all_labels = labels(campaign, without=without)
    table = without_pairs(all_labels, drawn_beside_pool(campaign))
    if not table.is_decided.any():
        raise InputError(
            f"no pair of “{campaign}” has a label yet; evaluate it once judges have answered"
        )
    asked = campaign.questions.values_list("query__catalog_id", "candidate__catalog_id")
    catalogs = {catalog for pair in asked.order_by().distinct() for catalog in pair}
    if pool is not None:
        catalogs |= {pool.catalog_id, pool.asking.pk}
    images = ImageTable.of(catalogs)
    sources, stored = stored_proposals(pool) if pool else ([], None)
    cast = votes(campaign, without=without)
    return EvaluationInputs(
        campaign=campaign,
        pool=pool,
        table=table,
        all_labels=all_labels,
        images=images,
        qrels=_qrels(table, images),
        proposals=_proposals(pool, sources, stored, images) if pool and stored else None,
        sources=sources,
        vote_table=_vote_table(campaign, cast, images),
        hashes={
            "labels": label_digest(table),
            "votes": _digest(
                cast.query_ids, cast.candidate_ids, cast.annotator_ids, cast.is_similar
            ),
            "all labels": label_digest(all_labels),
            **({"pool": _digest(stored.model, stored.query, stored.candidate, stored.rank)}
               if stored else {}),
        },
    )  # fmt: skip


def label_digest(table: LabelTable) -> str:
    """Return the SHA-256 of labels: another one where any has changed."""
    grades = () if table.grades is None else (table.grades,)
    return _digest(
        table.query_ids, table.candidate_ids, table.is_similar, table.is_decided, *grades
    )


def _digest(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _qrels(table: LabelTable, images: ImageTable) -> Qrels:
    kept = table.is_decided
    query_ids, queries = _named(table.query_ids[kept], images)
    candidate_ids, candidates = _named(table.candidate_ids[kept], images)
    labels = table.is_similar[kept].astype(np.int8)
    grades = None if table.grades is None else table.grades[kept]
    return Qrels(query_ids, candidate_ids, queries, candidates, labels, grades)


def _proposals(
    pool: Pool, sources: list[PoolSource], stored: eds.Proposals, images: ImageTable
) -> Proposals:
    """Name the pool's proposals; ids ascend, as everywhere in measures."""
    query_ids, queries = sorted_names(images.named(pool.query_ids), stored.query)
    candidate_ids, candidates = _named(stored.candidate, images)
    return Proposals(
        query_ids=query_ids,
        candidate_ids=candidate_ids,
        generators=tuple(source.spec for source in sources),
        queries=queries,
        candidates=candidates,
        models=stored.model,
        ranks=stored.rank + 1,
    )


def _named(image_ids: Ints, images: ImageTable) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct names of images, ascending, and the place of each image's among them."""
    distinct, at = np.unique(image_ids, return_inverse=True)
    return sorted_names(images.named(distinct), at)


def _vote_table(campaign: Campaign, given: Votes, images: ImageTable) -> VoteTable:
    """Name the judges by their places on the panel, never by who they are."""
    place = dict(campaign.panel.values_list("annotator_id", "number"))
    numbers, who = np.unique([place[i] for i in given.annotator_ids.tolist()], return_inverse=True)
    return VoteTable(
        annotators=tuple(f"judge {number}" for number in numbers),
        rows=tuple(
            zip(
                images.named(given.query_ids),
                images.named(given.candidate_ids),
                who.tolist(),
                given.is_similar.astype(int).tolist(),
                strict=True,
            )
        ),
    )


@dataclass(frozen=True)
class EmbeddedModel:
    """A model with vectors for queries and images."""

    name: str
    images: EmbeddingSet
    queries: EmbeddingSet


def models_on(
    pool: Pool, sources: Sequence[PoolSource], notions: Collection[str] = ()
) -> list[EmbeddedModel]:
    """Return every model with complete vectors of a pool's catalogs: sources, then outsiders.

    A learned model that proposed nothing takes part only where it is asked about: each text
    space has vectors of its catalog for its own pages, and would stand on every board.

    Args:
        pool: which.
        sources: of it.
        notions: specs of the learned models that campaigns ask about.
    """
    models: dict[str, EmbeddedModel] = {}
    for source in sources:
        if source.embedding_set is not None:
            queries = source.query_embedding_set or source.embedding_set
            models[source.spec] = EmbeddedModel(source.spec, source.embedding_set, queries)
    used = {model.images.pk for model in models.values()}
    others = EmbeddingSet.objects.filter(catalog=pool.catalog, is_complete=True)
    asking = {
        row.fingerprint: row
        for row in EmbeddingSet.objects.filter(catalog=pool.asking, is_complete=True)
    }
    for row in others.exclude(pk__in=used).order_by("spec", "id"):
        is_asked = not row.spec.startswith("learned:") or row.spec in notions
        if row.fingerprint in asking and is_asked:
            name = row.spec if row.spec not in models else f"{row.spec} #{row.fingerprint[:8]}"
            models[name] = EmbeddedModel(name, row, asking[row.fingerprint])
    return list(models.values())


def model_family(spec: str) -> str:
    """Return the family of a model: its kind and architecture without size or number.

    A model learned from a backbone's vectors belongs to the backbone's family: it proposes what
    they bring near. Other models: see `backbone_family`.
    """
    if spec.startswith("learned:"):
        parent = parent_spec(spec)
        return model_family(parent) if parent else spec.partition("#")[0]
    return backbone_family(spec)

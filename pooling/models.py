"""Pools: which queries, which sources proposed which candidates, and how that work stands."""

from __future__ import annotations

import numpy as np
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone

from annotation.models import Campaign
from catalog.models import Catalog, EmbeddingSet, Image
from jobs.models import Job, JobState
from lookalike.core.arrays import Ints
from lookalike.pooling.candidate_rule import CandidateRule
from lookalike.pooling.query_rule import QueryRule
from lookalike.pooling.source_spec import SourceKind, source_kind


class PoolState(models.TextChoices):
    """Where a pool stands; derived from its sources, never stored."""

    FILLING = "filling", "Filling"
    COMPLETE = "complete", "Complete"
    PARTIAL = "partial", "Complete without some models"
    FAILED = "failed", "Failed"


class SourceState(models.TextChoices):
    """Where one source of a pool stands; derived from its job and its proposals."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class Index(models.TextChoices):
    """How a pool finds the nearest vectors."""

    EXACT = "exact", "Exact: every vector is compared"
    IVF = "ivf", "Approximate: an inverted-file index (faiss IVF), its recall measured"


STATE_OF_JOB = {
    JobState.QUEUED: SourceState.QUEUED,
    JobState.RUNNING: SourceState.RUNNING,
    JobState.FAILED: SourceState.FAILED,
    JobState.CANCELLED: SourceState.CANCELLED,
    # its proposals are gone although its job ended well
    JobState.SUCCEEDED: SourceState.FAILED,
}
OPEN_SOURCE_STATES = (SourceState.QUEUED, SourceState.RUNNING)


class Pool(models.Model):
    """The candidates that several sources propose for a fixed list of queries.

    A pair of the pool is a distinct (query, candidate) among its proposals.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    catalog = models.ForeignKey(
        Catalog, on_delete=models.PROTECT, related_name="pools", help_text="Candidates."
    )
    query_catalog = models.ForeignKey(
        Catalog,
        on_delete=models.PROTECT,
        related_name="pools_asking",
        null=True,
        blank=True,
        help_text="Where the queries come from, if not from the same catalog (“wild” queries).",
    )
    k = models.PositiveIntegerField(validators=[MinValueValidator(1)], help_text="Depth.")
    seed = models.PositiveBigIntegerField(default=0, help_text="Of the sampling of queries.")
    query_rule = models.JSONField(
        default=dict, help_text="How the queries were chosen: sample, filters, or a list."
    )
    exclude_same_product = models.BooleanField(
        default=True, help_text="Other images of a query's own product are no candidates."
    )
    shared_product_ids = models.BooleanField(
        default=False,
        help_text="A product id means the same product in the catalogs of queries and candidates.",
    )
    candidate_rule = models.JSONField(
        default=dict, blank=True, help_text="Which further images are no candidates."
    )
    index = models.CharField(
        max_length=10,
        choices=Index,
        default=Index.EXACT,
        help_text="How the nearest vectors are found.",
    )
    stats = models.JSONField(default=dict, help_text="Of the sources that it names.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def asking(self) -> Catalog:
        """The catalog that the queries come from."""
        return self.query_catalog or self.catalog

    @property
    def query_ids(self) -> Ints:
        """Image ids of the queries, in the order in which they were drawn."""
        listed = self.queries.order_by("position").values_list("image_id", flat=True)
        return np.array(listed, np.int64)

    @property
    def has_own_depths(self) -> bool:
        """Whether a source proposes to another depth than the pool's."""
        return any(source.k != self.k for source in self.sources.all())

    @property
    def rule(self) -> QueryRule:
        """How the queries were chosen."""
        return QueryRule.from_json(self.query_rule)

    @property
    def candidates(self) -> CandidateRule:
        """Which images may answer a query, beside the rule on products."""
        return CandidateRule.from_json(self.candidate_rule)

    @property
    def state(self) -> PoolState:
        """Where the pool stands, from its sources."""
        states = [source.state for source in self.sources.all()]
        if any(state in OPEN_SOURCE_STATES for state in states):
            return PoolState.FILLING
        if all(source.done_at is None for source in self.sources.all()):
            return PoolState.FAILED
        n_done = states.count(SourceState.DONE)
        return PoolState.COMPLETE if n_done == len(states) else PoolState.PARTIAL

    @property
    def has_ended(self) -> bool:
        """Whether every source has ended and at least one of them proposed."""
        return self.state in {PoolState.COMPLETE, PoolState.PARTIAL}


class PoolQuery(models.Model):
    """A query of a pool, in the order in which it was drawn."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="queries")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["pool", "position"]
        constraints = [
            models.UniqueConstraint(fields=["pool", "image"], name="one_query_per_image"),
            models.UniqueConstraint(fields=["pool", "position"], name="one_query_per_position"),
        ]


class PoolChange(models.Model):
    """What was asked of a pool at one time: its first sources, one more, or a greater depth.

    `outcome` and the counters are written when the last source concerned has ended; they say
    what was found then, and are facts of that time.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="changes")
    number = models.PositiveIntegerField(help_text="From 1, the making of the pool.")
    steps = models.JSONField(help_text="For each source: spec, k_before (0 for a new one) and k.")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(null=True, blank=True)
    n_proposals = models.PositiveBigIntegerField(default=0)
    n_pairs_before = models.PositiveBigIntegerField(default=0)
    n_new_pairs = models.PositiveBigIntegerField(default=0)
    n_opened = models.PositiveBigIntegerField(
        default=0, help_text="Of the new pairs, put to the panels of campaigns at work."
    )
    outcome = models.JSONField(default=dict, help_text="The difference that it made, by source.")

    class Meta:
        ordering = ["pool", "number"]
        constraints = [
            models.UniqueConstraint(fields=["pool", "number"], name="one_change_per_number")
        ]

    def __str__(self) -> str:
        return f"Change {self.number} of {self.pool}"

    @property
    def n_pairs_after(self) -> int:
        """Pairs of the pool with this change, once it is settled."""
        return self.n_pairs_before + self.n_new_pairs


class PoolSource(models.Model):
    """Something that proposes candidates for a pool, named by its spec.

    `done_at` is set in the transaction that stores the proposals, so a source that is done has
    all of them and one that is not has none. A source that shall go deeper keeps what it has
    proposed, and counts with it, until the further ranks are stored as a whole.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="sources")
    position = models.PositiveIntegerField()
    spec = models.CharField(max_length=300)
    k = models.PositiveIntegerField(validators=[MinValueValidator(1)], help_text="Its own depth.")
    wanted_k = models.PositiveIntegerField(
        null=True, blank=True, help_text="A greater depth that was asked for and is not reached."
    )
    file_name = models.CharField(max_length=255, blank=True, help_text="Of an upload, as given.")
    file_sha256 = models.CharField(max_length=64, blank=True, help_text="Of an upload.")
    ids_sha256 = models.CharField(max_length=64, blank=True, help_text="Of a .npy's list of ids.")
    version = models.CharField(
        max_length=200, blank=True, help_text="What a plug-in said of itself when it proposed."
    )
    embedding_set = models.ForeignKey(
        EmbeddingSet, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    query_embedding_set = models.ForeignKey(
        EmbeddingSet, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL)
    recall = models.JSONField(
        default=dict, blank=True, help_text="Of an approximate index, against the exact search."
    )
    n_proposals = models.PositiveBigIntegerField(default=0)
    done_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pool", "position"]
        constraints = [
            models.UniqueConstraint(fields=["pool", "spec"], name="one_source_per_spec"),
            models.UniqueConstraint(fields=["pool", "position"], name="one_source_per_position"),
        ]

    def __str__(self) -> str:
        return self.spec

    @property
    def state(self) -> SourceState:
        """Where the source stands; without a job it has not been started."""
        if self.done_at is not None and self.wanted_k is None:
            return SourceState.DONE
        return SourceState.QUEUED if self.job is None else STATE_OF_JOB[JobState(self.job.state)]

    @property
    def kind(self) -> SourceKind:
        """What kind of source it is."""
        return source_kind(self.spec)

    @property
    def provenance(self) -> str:
        """What fixes its proposals: a fingerprint, the hash of its file, or its version."""
        fingerprint = self.embedding_set.fingerprint if self.embedding_set else ""
        return self.file_sha256 or fingerprint or self.version

    @property
    def error(self) -> str:
        """What went wrong, for people; empty when nothing did."""
        if self.state != SourceState.FAILED or self.job is None:
            return ""
        return self.job.error or "Its proposals are missing; run it again."


class Proposal(models.Model):
    """A source put a candidate among its k nearest to a query. Written by COPY, never changed."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="proposals")
    source = models.ForeignKey(PoolSource, on_delete=models.CASCADE, related_name="proposals")
    query = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+", db_index=False)
    candidate = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    rank = models.PositiveIntegerField(help_text="From 0, the nearest, to k - 1.")
    score = models.FloatField(help_text="The source's own similarity; may be negative.")

    class Meta:
        ordering = ["source", "query", "rank"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "query", "rank"], name="one_proposal_per_rank"
            ),
            models.UniqueConstraint(
                fields=["source", "query", "candidate"], name="one_proposal_per_candidate"
            ),
        ]
        indexes = [models.Index(fields=["pool", "query", "candidate"], name="proposal_pair")]


class PoolCampaign(models.Model):
    """Which campaign judges which pool. Kept on this side: judging knows no pool."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="campaign_links")
    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="+")
    in_rounds = models.BooleanField(
        default=False, db_default=False, help_text="It asks what rounds draw, not the whole pool."
    )
    opened_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.campaign} of {self.pool}"


class PlannedShard(models.Model):
    """A block of images still to be embedded, and the job holding it.

    The plan of an embedding set is made in one transaction before the first image is read, so
    the same images meet in the same batches however often the work is interrupted. A row goes
    in the transaction that stores its EmbeddingShard. A claim holds as long as its job runs
    under a live lease; the shards of a lost job are anybody's.
    """

    embedding_set = models.ForeignKey(
        EmbeddingSet, on_delete=models.CASCADE, related_name="planned_shards"
    )
    position = models.PositiveIntegerField()
    image_ids = ArrayField(models.BigIntegerField())
    holder = models.ForeignKey(
        Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["embedding_set", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["embedding_set", "position"], name="one_plan_per_position"
            )
        ]

    def __str__(self) -> str:
        return f"{self.embedding_set}, shard {self.position}"

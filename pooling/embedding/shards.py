"""Plan, claim and store the shards of an embedding set.

Every image of a catalog is in one shard, stored or planned. A claim holds as long as the
claimer's job has a live lease; a shard's row is written after its file lies whole on disk, in
the transaction that ends the claim.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from django.db import transaction
from django.db.models import F, Func, IntegerField, Max, Q, QuerySet, Sum
from django.utils import timezone
from numpy.typing import NDArray

from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image
from catalog.vectors.embeddings import damaged_shards, shard_path, write_shard
from jobs.models import Job, JobState
from lookalike.backbones.protocol import Backbone
from pooling.models import PlannedShard

SHARD_SIZE = 256


def replan_damaged(*, embedding_set: EmbeddingSet) -> int:
    """Plan anew the shards whose files are missing or damaged; return how many.

    The same images meet in the same shard again, so the vectors come out the same.
    """
    damaged = damaged_shards(embedding_set)
    with transaction.atomic():
        for shard in damaged:
            n_gone, _ = EmbeddingShard.objects.filter(pk=shard.pk).delete()
            if n_gone:
                shard_path(shard.sha256).unlink(missing_ok=True)
                PlannedShard.objects.create(
                    embedding_set=embedding_set, position=shard.position, image_ids=shard.image_ids
                )
        if damaged:
            EmbeddingSet.objects.filter(pk=embedding_set.pk).update(is_complete=False)
    return len(damaged)


def plan_shards(*, catalog: Catalog, backbone: Backbone) -> EmbeddingSet:
    """Return the backbone's embedding set with every image in a shard, stored or planned.

    Images are taken by content hash, so that the plan does not depend on who imported what
    when. Two callers at once make one plan.
    """
    with transaction.atomic():
        found, _ = EmbeddingSet.objects.get_or_create(
            catalog=catalog,
            fingerprint=backbone.fingerprint,
            defaults={
                "spec": backbone.spec,
                "card": dict(backbone.card),
                "dim": backbone.dim,
            },
        )
        embedding_set = EmbeddingSet.objects.select_for_update().get(pk=found.pk)
        image_ids = unplanned_images(embedding_set)
        first = _next_position(embedding_set)
        PlannedShard.objects.bulk_create(
            PlannedShard(
                embedding_set=embedding_set,
                position=first + number,
                image_ids=image_ids[start : start + SHARD_SIZE],
            )
            for number, start in enumerate(range(0, len(image_ids), SHARD_SIZE))
        )
        if image_ids and embedding_set.is_complete:
            embedding_set.is_complete = False
            embedding_set.save(update_fields=["is_complete"])
    return embedding_set


def unplanned_images(embedding_set: EmbeddingSet) -> list[int]:
    """Return the ids of the images that are in no shard, by content hash."""
    in_shards = {
        pk
        for shards in (embedding_set.shards, embedding_set.planned_shards)
        for image_ids in shards.values_list("image_ids", flat=True).iterator()
        for pk in image_ids
    }
    images = Image.objects.filter(catalog=embedding_set.catalog_id).order_by("sha256")
    return [pk for pk in images.values_list("pk", flat=True).iterator() if pk not in in_shards]


def _next_position(embedding_set: EmbeddingSet) -> int:
    last = [
        rows.aggregate(last=Max("position"))["last"]
        for rows in (embedding_set.shards.all(), embedding_set.planned_shards.all())
    ]
    return max((position + 1 for position in last if position is not None), default=0)


def n_images(shards: QuerySet[EmbeddingShard] | QuerySet[PlannedShard]) -> int:
    """Return how many images meet in shards."""
    size = Func(F("image_ids"), function="cardinality", output_field=IntegerField())
    return shards.aggregate(n=Sum(size))["n"] or 0


def claim_shard(
    *, embedding_set: EmbeddingSet, job: Job, besides: Collection[int] = ()
) -> PlannedShard | None:
    """Take the first planned shard that no live job holds; None when there is none now.

    Args:
        embedding_set: of which set.
        job: for whom; what it took on an earlier attempt it may take again.
        besides: primary keys of those that it has in hand already.
    """
    is_lost = ~Q(holder__state=JobState.RUNNING) | Q(holder__lease_until__lt=timezone.now())
    with transaction.atomic():
        planned = (
            PlannedShard.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(Q(holder__isnull=True) | Q(holder=job) | is_lost, embedding_set=embedding_set)
            .exclude(pk__in=besides)
            .order_by("position")
            .first()
        )
        if planned is not None:
            planned.holder = job
            planned.save(update_fields=["holder"])
    return planned


def store_shard(*, planned: PlannedShard, vectors: NDArray[np.floating]) -> None:
    """Store a shard's vectors and strike it from the plan; harmless if it was done already."""
    sha256 = write_shard(vectors)
    with transaction.atomic():
        n_struck, _ = PlannedShard.objects.filter(pk=planned.pk).delete()
        if n_struck:
            EmbeddingShard.objects.create(
                embedding_set_id=planned.embedding_set_id,
                position=planned.position,
                image_ids=planned.image_ids,
                sha256=sha256,
                dtype=str(vectors.dtype),
            )

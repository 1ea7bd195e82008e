"""Embed a catalog shard by shard, so that any number of workers can share it and any may die.

The plan (which images meet in which shard) is stored before the first image is read. A worker
claims one shard at a time; a claim holds as long as the worker's job has a live lease. A shard's
row is written after its file lies whole on disk, in the transaction that ends the claim.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, Func, IntegerField, Max, OuterRef, Q, QuerySet, Sum
from django.utils import timezone
from numpy.typing import NDArray

from catalog.blobs import blob_name, read_blob
from catalog.embeddings import damaged_shards, shard_path, write_shard
from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image
from jobs.models import Job, JobState
from jobs.services import JobError, PassingError, Progress
from pooling.backbones.errors import BackboneError
from pooling.backbones.loading import load_backbone
from pooling.backbones.memory import is_out_of_memory
from pooling.backbones.protocol import Backbone, OutOfMemoryError, stored_dtype
from pooling.embed import PictureProblem, embed_images
from pooling.models import PlannedShard
from pooling.services_help import ask_for_help, end_help

SHARD_SIZE = 256
WAIT_SECONDS = 0.5


def embed_as_asked(*, catalog_id: int, spec: str, progress: Progress) -> dict[str, Any]:
    """Embed a catalog by the backbone that a spec names; may run twice.

    Raises:
        JobError: as `ready_backbone` and `embed_catalog`, or the catalog was deleted.
        JobLostError: the job was cancelled or taken over.
    """
    catalog = Catalog.objects.filter(pk=catalog_id).first()
    if catalog is None:
        raise JobError("The catalog was deleted.")
    backbone = ready_backbone(spec, progress)
    embedding_set = embed_catalog(catalog=catalog, backbone=backbone, progress=progress)
    return {
        "model": embedding_set.spec,
        "images": catalog.images.count(),
        "dim": embedding_set.dim,
        "fingerprint": embedding_set.fingerprint,
    }


def help_embed(*, embedding_set_id: int, progress: Progress) -> dict[str, Any]:
    """Embed shards of a set that another worker is at, until none is open; may run twice.

    Raises:
        JobError: as `ready_backbone`; an image cannot be read; or this worker's weights or
            libraries are not those that the set was begun with.
        JobLostError: the other worker has called it off.
    """
    embedding_set = EmbeddingSet.objects.filter(pk=embedding_set_id).first()
    if embedding_set is None or not embedding_set.planned_shards.exists():
        return {"images": 0}
    backbone = ready_backbone(embedding_set.spec, progress)
    if backbone.fingerprint != embedding_set.fingerprint:
        raise JobError(
            f"{embedding_set.spec}: this worker would make other vectors than those there are; "
            "give it the same weights and library versions."
        )
    progress.start(0, None, f"{embedding_set.spec}: helping with “{embedding_set.catalog}”")
    n_done = 0
    while (planned := claim_shard(embedding_set=embedding_set, job=progress.job)) is not None:
        _embed_shard(planned, backbone, partial(_report, progress, n_done, None))
        n_done += len(planned.image_ids)
    return {"images": n_done}


def ready_backbone(spec: str, progress: Progress) -> Backbone:
    """Return a model loaded on this worker's device.

    Raises:
        JobError: there is no such model, or its weights are missing, damaged or do not fit.
        PassingError: the memory is full.
    """
    progress.start(0, None, f"{spec}: loading the model", is_long=True)
    try:
        return load_backbone(spec, settings.WORKER_DEVICE or None)
    except BackboneError as problem:
        raise JobError(str(problem)) from problem
    except (RuntimeError, MemoryError) as problem:
        if not is_out_of_memory(problem):
            raise
        raise PassingError(f"{spec}: no memory to load it: {problem or 'full'}") from problem


def embed_catalog(*, catalog: Catalog, backbone: Backbone, progress: Progress) -> EmbeddingSet:
    """Return the complete embedding set of a catalog by a backbone, making what is missing.

    May run twice, at once or after a kill: shards that exist are kept, and the result is the
    same bit for bit as that of an undisturbed run.

    Raises:
        JobError: an image cannot be read; the message names it.
        JobLostError: the job was cancelled or taken over.
    """
    embedding_set = plan_shards(catalog=catalog, backbone=backbone)
    embed_planned_shards(embedding_set=embedding_set, backbone=backbone, progress=progress)
    while replan_damaged(embedding_set=embedding_set):
        embed_planned_shards(embedding_set=embedding_set, backbone=backbone, progress=progress)
    return embedding_set


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
        image_ids = _unplanned(embedding_set)
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


def _unplanned(embedding_set: EmbeddingSet) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM catalog_image WHERE catalog_id = %(catalog)s AND id NOT IN ("
            "SELECT unnest(image_ids) FROM catalog_embeddingshard WHERE embedding_set_id = %(set)s "
            "UNION ALL "
            "SELECT unnest(image_ids) FROM pooling_plannedshard WHERE embedding_set_id = %(set)s"
            ") ORDER BY sha256",
            {"catalog": embedding_set.catalog_id, "set": embedding_set.pk},
        )
        return [row[0] for row in cursor.fetchall()]


def _next_position(embedding_set: EmbeddingSet) -> int:
    last = [
        rows.aggregate(last=Max("position"))["last"]
        for rows in (embedding_set.shards.all(), embedding_set.planned_shards.all())
    ]
    return max((position + 1 for position in last if position is not None), default=0)


def embed_planned_shards(
    *, embedding_set: EmbeddingSet, backbone: Backbone, progress: Progress
) -> None:
    """Claim and embed shard after shard until none is left, neither open nor with others.

    Raises:
        JobError: an image cannot be read or turned into a vector; the message names it.
        JobLostError: the job was cancelled or taken over.
    """
    n_total = _n_images(embedding_set.shards.all()) + _n_images(embedding_set.planned_shards.all())
    note = f"{embedding_set.spec}: embedding “{embedding_set.catalog}”"
    progress.start(_n_images(embedding_set.shards.all()), n_total, note)
    ask_for_help(embedding_set=embedding_set, job=progress.job)
    try:
        while (n_left := _n_images(embedding_set.planned_shards.all())) > 0:
            planned = claim_shard(embedding_set=embedding_set, job=progress.job)
            if planned is None:
                waiting = f"{note}; the rest is with other workers"
                progress.update(n_total - n_left, n_total, waiting)
                time.sleep(WAIT_SECONDS)
                continue
            progress.job.note = note
            _embed_shard(planned, backbone, partial(_report, progress, n_total - n_left, n_total))
    except BaseException:
        end_help(embedding_set=embedding_set, in_the_middle=True)
        raise
    end_help(embedding_set=embedding_set)
    progress.update(n_total, n_total, note)
    open_plans = PlannedShard.objects.filter(embedding_set=OuterRef("pk"))
    EmbeddingSet.objects.filter(~Exists(open_plans), pk=embedding_set.pk).update(is_complete=True)
    embedding_set.refresh_from_db()


def _report(progress: Progress, n_before: int, n_total: int | None, n_of_shard: int) -> None:
    progress.update(n_before + n_of_shard, n_total)


def _embed_shard(
    planned: PlannedShard, backbone: Backbone, on_batch: Callable[[int], None]
) -> None:
    """Embed the images of a claimed shard that are still in the catalog, and store them."""
    found = Image.objects.in_bulk(planned.image_ids)
    images = [found[pk] for pk in planned.image_ids if pk in found]
    planned.image_ids = [image.pk for image in images]
    try:
        vectors = embed_images(backbone, [_Original(image) for image in images], on_batch=on_batch)
    except OutOfMemoryError as problem:
        raise PassingError(f"{backbone.spec}: {problem}") from problem
    except (PictureProblem, ValueError) as problem:
        raise JobError(f"{backbone.spec}: {_by_name(str(problem), images)}") from problem
    store_shard(planned=planned, vectors=vectors.astype(stored_dtype(backbone.card), copy=False))


class _Original:
    """Opens an image's original, from wherever it is stored."""

    def __init__(self, image: Image) -> None:
        self._sha256 = image.sha256
        self.__name__ = blob_name(image.sha256, "original")

    def __call__(self) -> BinaryIO:
        return io.BytesIO(read_blob(self._sha256, "original"))


def _by_name(message: str, images: Sequence[Image]) -> str:
    """Return a message about stored files with the names under which people know them."""
    for image in images:
        path = blob_name(image.sha256, "original")
        if path in message:
            source = image.source_files.first()
            name = source.path if source else str(image.uid)
            message = message.replace(path, f"{name} (stored as {path})")
    return message


def _n_images(shards: QuerySet[EmbeddingShard] | QuerySet[PlannedShard]) -> int:
    size = Func(F("image_ids"), function="cardinality", output_field=IntegerField())
    return shards.aggregate(n=Sum(size))["n"] or 0


def claim_shard(*, embedding_set: EmbeddingSet, job: Job) -> PlannedShard | None:
    """Take the first planned shard that no live job holds; None when there is none now."""
    is_lost = ~Q(holder__state=JobState.RUNNING) | Q(holder__lease_until__lt=timezone.now())
    with transaction.atomic():
        planned = (
            PlannedShard.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(Q(holder__isnull=True) | Q(holder=job) | is_lost, embedding_set=embedding_set)
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

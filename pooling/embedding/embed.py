"""Embed a catalog shard by shard, so that any number of workers can share it and any may die.

The plan (which images meet in which shard) is stored before the first image is read. A worker
claims a shard, and the next one when it can begin to decode it; a claim holds as long as the
worker's job has a live lease. A shard's row is written after its file lies whole on disk, in the
transaction that ends the claim.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef

from catalog.models import Catalog, EmbeddingSet
from catalog.vectors.embeddings import damaged_shards
from catalog.vectors.projections import derive_set, find_projection
from jobs.services import JobError, JobProgress, PassingError
from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import load_backbone
from lookalike.backbones.protocol import Backbone
from lookalike.core.memory import is_out_of_memory
from lookalike.pooling.source_spec import SourceKind, source_kind
from pooling.embedding.recruit import ask_for_help, end_help
from pooling.embedding.shard_work import ShardWork
from pooling.embedding.shards import (
    n_images,
    plan_shards,
    replan_damaged,
    unplanned_images,
)
from pooling.models import PlannedShard

WAIT_SECONDS = 0.5


def embed_as_asked(*, catalog_id: int, spec: str, progress: JobProgress) -> dict[str, Any]:
    """Embed a catalog by the model that a spec names; may run twice.

    Raises:
        JobError: as `embed_by`, or the catalog was deleted.
        JobLostError: the job was cancelled or taken over.
    """
    catalog = Catalog.objects.filter(pk=catalog_id).first()
    if catalog is None:
        raise JobError("The catalog was deleted.")
    (embedding_set,) = embed_by(spec, [catalog], progress)
    return {
        "model": embedding_set.spec,
        "images": catalog.images.count(),
        "dim": embedding_set.dim,
        "fingerprint": embedding_set.fingerprint,
    }


def embed_by(spec: str, catalogs: Sequence[Catalog], progress: JobProgress) -> list[EmbeddingSet]:
    """Return the complete embedding set of each catalog by a model, making what is missing.

    A learned model maps the vectors of its parent; where these are there, no picture is read.

    Raises:
        Refused: there is no such learned model.
        JobError: as `ready_backbone` and `embed_catalog`; or this worker's weights are not those
            that the learned model was made for.
        JobLostError: the job was cancelled or taken over.
    """
    if source_kind(spec) != SourceKind.LEARNED:
        backbone = ready_backbone(spec, progress)
        return [
            embed_catalog(catalog=one, backbone=backbone, progress=progress) for one in catalogs
        ]
    projection = find_projection(spec)
    parents = [_whole_set(one, projection.parent_fingerprint) for one in catalogs]
    if None in parents:
        backbone = ready_backbone(projection.parent_spec, progress)
        parents = [
            embed_catalog(catalog=one, backbone=backbone, progress=progress) for one in catalogs
        ]
    return [
        derive_set(parent=parent, projection=projection, progress=progress)
        for parent in parents
        if parent is not None
    ]


def _whole_set(catalog: Catalog, fingerprint: str) -> EmbeddingSet | None:
    """Return a catalog's set of a fingerprint if it holds every image and is undamaged."""
    found = EmbeddingSet.objects.filter(catalog=catalog, fingerprint=fingerprint).first()
    if found is None or not found.is_complete:
        return None
    return None if unplanned_images(found) or damaged_shards(found) else found


def help_embed(*, embedding_set_id: int, progress: JobProgress) -> dict[str, Any]:
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
    note = f"{embedding_set.spec}: helping with “{embedding_set.catalog}”"
    progress.start(0, None, note)
    return {"images": ShardWork(embedding_set, backbone, progress).go(note)}


def ready_backbone(spec: str, progress: JobProgress) -> Backbone:
    """Return a model loaded on this worker's device.

    Raises:
        JobError: there is no such model, or its weights are missing, damaged or do not fit.
        PassingError: the memory is full.
    """

    def say(what: str) -> None:
        progress.start(0, None, f"{spec}: {what}", is_long=True)

    say("loading the model")
    try:
        return load_backbone(
            spec,
            settings.WORKER_DEVICE or None,
            engines=settings.DATA_DIR / "engines",
            on_trial=lambda: say("finding out, once, what runs it fastest on this machine"),
        )
    except BackboneError as problem:
        raise JobError(str(problem)) from problem
    except (RuntimeError, MemoryError) as problem:
        if not is_out_of_memory(problem):
            raise
        raise PassingError(f"{spec}: no memory to load it: {problem or 'full'}") from problem


def embed_catalog(*, catalog: Catalog, backbone: Backbone, progress: JobProgress) -> EmbeddingSet:
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


def embed_planned_shards(
    *, embedding_set: EmbeddingSet, backbone: Backbone, progress: JobProgress
) -> None:
    """Claim and embed shard after shard until none is left, neither open nor with others.

    Raises:
        JobError: an image cannot be read or turned into a vector; the message names it.
        JobLostError: the job was cancelled or taken over.
    """
    n_total = n_images(embedding_set.shards.all()) + n_images(embedding_set.planned_shards.all())
    note = f"{embedding_set.spec}: embedding “{embedding_set.catalog}”"
    progress.start(n_images(embedding_set.shards.all()), n_total, note)
    ask_for_help(embedding_set=embedding_set, job=progress.job)
    try:
        while True:
            ShardWork(embedding_set, backbone, progress, n_total).go(note)
            n_left = n_images(embedding_set.planned_shards.all())
            if n_left == 0:
                break
            waiting = f"{note}; the rest is with other workers"
            progress.update(n_total - n_left, n_total, waiting)
            time.sleep(WAIT_SECONDS)
    except BaseException:
        end_help(embedding_set=embedding_set, in_the_middle=True)
        raise
    end_help(embedding_set=embedding_set)
    progress.update(n_total, n_total, note)
    open_plans = PlannedShard.objects.filter(embedding_set=OuterRef("pk"))
    EmbeddingSet.objects.filter(~Exists(open_plans), pk=embedding_set.pk).update(is_complete=True)
    embedding_set.refresh_from_db()

"""Embed a catalog shard by shard, so that any number of workers can share it and any may die.

The plan (which images meet in which shard) is stored before the first image is read. A worker
claims a shard, and the next one when it can begin to decode it; a claim holds as long as the
worker's job has a live lease. A shard's row is written after its file lies whole on disk, in the
transaction that ends the claim.
"""

from __future__ import annotations

import io
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, BinaryIO

from django.conf import settings
from django.db.models import Exists, OuterRef

from catalog.embeddings import damaged_shards
from catalog.images.blobs import blob_name, read_blob
from catalog.models import Catalog, EmbeddingSet, Image
from catalog.projections import derive_set, find_projection
from jobs.models import Job
from jobs.services import JobError, JobProgress, PassingError
from lookalike.backbones.embed import Opener, PictureProblem, embed_in_turn
from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import load_backbone
from lookalike.backbones.protocol import Backbone, OutOfMemoryError, Vectors, stored_dtype
from lookalike.core.memory import is_out_of_memory
from lookalike.pooling.source_spec import SourceKind, source_kind
from pooling.embedding.recruit import ask_for_help, end_help
from pooling.embedding.shards import (
    claim_shard,
    n_images,
    plan_shards,
    replan_damaged,
    store_shard,
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
    return {"images": _embed_open_shards(embedding_set, backbone, progress, note)}


def ready_backbone(spec: str, progress: JobProgress) -> Backbone:
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
            _embed_open_shards(embedding_set, backbone, progress, note, n_total)
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


@dataclass(frozen=True)
class _Shard:
    """A claimed shard and those of its images that are still in the catalog."""

    planned: PlannedShard
    images: list[Image]


def _embed_open_shards(
    embedding_set: EmbeddingSet,
    backbone: Backbone,
    progress: JobProgress,
    note: str,
    n_total: int | None = None,
) -> int:
    """Claim, embed and store shards until none is open; return how many images that were.

    The next shard is claimed, and its pictures are decoded, while the present one is computed.
    Given `n_total`, the images of the set, progress counts what other workers have done, too.
    """
    in_hand: deque[_Shard] = deque()
    n_mine = n_before = 0

    def claimed() -> Iterator[list[Opener]]:
        while (shard := _next_shard(embedding_set, progress.job, in_hand)) is not None:
            in_hand.append(shard)
            yield [_Original(image) for image in shard.images]

    def report(n_of_shard: int) -> None:
        progress.update(n_before + n_of_shard, n_total, note)

    with closing(embed_in_turn(backbone, claimed(), on_batch=report)) as found:
        while True:
            n_left = n_images(embedding_set.planned_shards.all())
            n_before = n_mine if n_total is None else n_total - n_left
            vectors = _next_vectors(found, backbone, in_hand)
            if vectors is None:
                return n_mine
            shard = in_hand.popleft()
            progress.hold()
            store_shard(
                planned=shard.planned,
                vectors=vectors.astype(stored_dtype(backbone.card), copy=False),
            )
            n_mine += len(shard.images)


def _next_shard(embedding_set: EmbeddingSet, job: Job, in_hand: Iterable[_Shard]) -> _Shard | None:
    held = [shard.planned.pk for shard in in_hand]
    planned = claim_shard(embedding_set=embedding_set, job=job, besides=held)
    if planned is None:
        return None
    found = Image.objects.in_bulk(planned.image_ids)
    images = [found[pk] for pk in planned.image_ids if pk in found]
    planned.image_ids = [image.pk for image in images]
    return _Shard(planned, images)


def _next_vectors(
    found: Iterator[Vectors], backbone: Backbone, in_hand: Sequence[_Shard]
) -> Vectors | None:
    """Return the vectors of the first shard in hand, None after the last."""
    try:
        return next(found, None)
    except OutOfMemoryError as problem:
        raise PassingError(f"{backbone.spec}: {problem}") from problem
    except (PictureProblem, ValueError) as problem:
        images = in_hand[0].images if in_hand else []
        raise JobError(f"{backbone.spec}: {_by_name(str(problem), images)}") from problem


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

"""Have maps drawn, and draw them. The layout itself loads only in workers and commands."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from django.db import transaction

from accounts.models import User
from catalog.models import CatalogMap, EmbeddingSet
from catalog.vectors.embeddings import load_vectors, vectors_sha256
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue

MAP_TASK = "catalog.draw_map"
FULL = 2**16 - 1  # the far end of an axis, as it is stored
SEED = 0


def map_subject(embedding_set: EmbeddingSet) -> str:
    """Return what a map's job is about, so that each set has one at a time."""
    return f"map of embedding set {embedding_set.pk}"


def start_map(*, embedding_set: EmbeddingSet, owner: User) -> Job:
    """Queue the drawing of a set's map.

    Raises:
        JobConflictError: it is being drawn, or the person has too many jobs waiting.
    """
    return enqueue(
        task=MAP_TASK,
        subject=map_subject(embedding_set),
        title=f"Map of {embedding_set}",
        arguments={"set_id": embedding_set.pk},
        owner=owner,
    )


def draw_map(*, set_id: int, progress: JobProgress) -> dict[str, Any]:
    """Lay a set's images out and store the map; a map that is up to date is kept.

    Raises:
        JobError: the set was deleted, is not whole, or its vectors are missing or damaged.
    """
    found = EmbeddingSet.objects.filter(pk=set_id, is_complete=True).first()
    if found is None:
        raise JobError("The vectors were deleted, or are not complete any more.")
    layout = import_module("lookalike.search.planar_map")  # loads numba
    sha256, card = vectors_sha256(found), layout.map_card(SEED)
    drawn = CatalogMap.objects.filter(embedding_set=found).first()
    if drawn is None or (drawn.vectors_sha256, drawn.card) != (sha256, card):
        image_ids, vectors = load_vectors(found)
        points = layout.planar_map(vectors, seed=SEED, progress=progress)
        stored = np.round(points * FULL).astype("<u2")
        drawn = _store(found, sha256, card, image_ids.tolist(), stored.tobytes())
    n = len(drawn.image_ids)
    progress.start(n, n, "Drawn")
    return {"map": drawn.pk, "n_images": n}


@transaction.atomic
def _store(
    embedding_set: EmbeddingSet,
    sha256: str,
    card: dict[str, object],
    image_ids: list[int],
    points: bytes,
) -> CatalogMap:
    held = EmbeddingSet.objects.select_for_update().filter(pk=embedding_set.pk).first()
    if held is None:
        raise JobError("The vectors were deleted meanwhile.")
    CatalogMap.objects.filter(embedding_set=held).delete()
    return CatalogMap.objects.create(
        embedding_set=held, vectors_sha256=sha256, card=card, image_ids=image_ids, points=points
    )

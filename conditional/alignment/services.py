"""Match the conditions of a triplet set with embedding sets (WS-CSL), and keep what comes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.utils import timezone

from accounts.models import User
from catalog.models import EmbeddingSet
from catalog.vectors.embeddings import EmbeddingError
from conditional.models import TripletAlignment, TripletSet
from conditional.triplets.scoring import stored_table, vectors_of_images
from conditional.triplets.services import BATCH
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue
from lookalike.conditional.criterion import measure, seen_by
from lookalike.conditional.formats.tables import AccuracyMatrix
from lookalike.conditional.triplet_scores import Metric
from lookalike.core.errors import Refused

ALIGN_TASK = "conditional.tasks.align"


def request_alignment(
    *,
    triplet_set: TripletSet,
    embedding_sets: Sequence[EmbeddingSet],
    metric: Metric,
    seed: int,
    owner: User | None,
) -> Job:
    """Queue the matching of conditions with embedding sets.

    Raises:
        Refused: as `check_alignment`.
        JobConflictError: the set is being matched.
    """
    check_alignment(triplet_set, embedding_sets, seed)
    return enqueue(**alignment_job(triplet_set, embedding_sets, metric, seed), owner=owner)


def job_subject(triplet_set: TripletSet) -> str:
    """Return what jobs say that match the conditions of a set."""
    return f"conditions of {triplet_set.slug}"


def alignment_job(
    triplet_set: TripletSet, embedding_sets: Sequence[EmbeddingSet], metric: Metric, seed: int
) -> dict[str, Any]:
    """Return what names a job that matches; its arguments are those of `align_set`."""
    return {
        "task": ALIGN_TASK,
        "subject": job_subject(triplet_set),
        "title": f"Match conditions of “{triplet_set.name[:120]}”",
        "arguments": {
            "triplet_set_id": triplet_set.pk,
            "embedding_set_ids": [one.pk for one in embedding_sets],
            "metric": metric,
            "seed": seed,
        },
    }


def check_alignment(
    triplet_set: TripletSet, embedding_sets: Sequence[EmbeddingSet], seed: int
) -> None:
    """Refuse what cannot be matched.

    Raises:
        Refused: fewer than two conditions or embedding sets, one that is not complete
            or of another catalog, two of one spec, or a seed below 0.
    """
    if len(triplet_set.figures.get("conditions", {})) < 2:
        raise Refused("set", f"“{triplet_set}” has no answers under two conditions.")
    if len(embedding_sets) < 2 or len({one.spec for one in embedding_sets}) < len(embedding_sets):
        raise Refused("embeddings", "choose at least two embedding sets, each once.")
    for one in embedding_sets:
        if one.catalog_id != triplet_set.catalog_id or not one.is_complete:
            raise Refused(
                "embeddings", f"{one.spec} is not a complete set of “{triplet_set.catalog}”."
            )
    if seed < 0:
        raise Refused("seed", "the seed is a whole number from 0.")


def align_set(
    *,
    triplet_set_id: int,
    embedding_set_ids: Sequence[int],
    metric: Metric,
    seed: int,
    progress: JobProgress,
) -> dict[str, Any]:
    """Match, and keep the result; the same inputs again replace it.

    Returns:
        What the job's row and the command say: as `Criterion.as_json`, with set and uid.

    Raises:
        JobError: the triplets or an embedding set were deleted.
        Refused: as `check_alignment`, an image has no vector, or vectors are missing,
            damaged or of length zero.
    """
    triplet_set = TripletSet.objects.filter(pk=triplet_set_id).first()
    rows = EmbeddingSet.objects.in_bulk(list(embedding_set_ids))
    if triplet_set is None or len(rows) < len(embedding_set_ids):
        raise JobError("The triplets or an embedding set were deleted.")
    chosen = [rows[pk] for pk in embedding_set_ids]
    check_alignment(triplet_set, chosen, seed)
    n_total = len(chosen) + 1
    progress.start(0, n_total, "Reading the triplets")
    table = stored_table(triplet_set)
    inputs = read_inputs(triplet_set, chosen, metric, seed)
    seen = []
    for n_done, one in enumerate(chosen):
        progress.update(n_done, n_total, f"Comparing candidates by {one.spec}")
        try:
            seen.append(seen_by(table, one.spec, vectors_of_images(one, table), metric))
        except (EmbeddingError, ValueError) as problem:
            raise Refused("embeddings", f"{one.spec}: {problem}") from problem
    progress.update(len(chosen), n_total, "Matching conditions with embeddings")
    result = measure(table, seen, seed).as_json()
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    kept, _ = TripletAlignment.objects.update_or_create(
        triplet_set=triplet_set,
        inputs_sha256=digest,
        defaults={
            "metric": metric,
            "seed": seed,
            "inputs": inputs,
            "result": result,
            "scored_at": timezone.now(),
        },
    )
    progress.update(n_total, n_total, "Stored")
    return {"set": triplet_set.slug, "uid": str(kept.uid), **result}


def read_inputs(
    triplet_set: TripletSet, embedding_sets: Sequence[EmbeddingSet], metric: Metric, seed: int
) -> dict[str, Any]:
    """Return what a result depends on: hashes of the answers and of all vectors, and settings."""
    embeddings = [
        {
            "spec": one.spec,
            "fingerprint": one.fingerprint,
            "shards": list(one.shards.order_by("position").values_list("sha256", flat=True)),
        }
        for one in embedding_sets
    ]
    answers = hashlib.sha256()  # of a line of JSON for each; images by content hash
    fields = ("anchor__sha256", "closer__sha256", "farther__sha256", "condition", "is_swapped")
    rows = triplet_set.triplets.order_by("position").values_list(*fields)
    for row in rows.iterator(chunk_size=BATCH):
        answers.update(f"{json.dumps(row)}\n".encode())
    return {
        "triplets": answers.hexdigest(), "embeddings": embeddings, "metric": metric, "seed": seed
    }  # fmt: skip


def accuracy_matrix(result: dict[str, Any], part: str) -> AccuracyMatrix:
    """Return one part's matrix of a result."""
    return AccuracyMatrix(
        tuple(result["conditions"]),
        tuple(result["embeddings"]),
        np.array(result[part]["accuracy"]),
    )

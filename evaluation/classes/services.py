"""Ask for the class measures of an embedding set, compute them, and keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from accounts.models import User
from catalog.models import EmbeddingSet, Image
from catalog.vectors.embeddings import load_vectors
from evaluation.models import ClassScore
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from lookalike.metrics.class_tables import score_classes

TASK = "evaluation.tasks.score_classes"
PRODUCT = "product_id"


def classes_subject(embedding_set: EmbeddingSet) -> str:
    """Return what the jobs that score an embedding set are about."""
    return f"{catalog_subject(embedding_set.catalog_id)}{embedding_set.pk}"


def catalog_subject(catalog_id: int) -> str:
    """Return how the subjects of such jobs about a catalog begin."""
    return f"classes:{catalog_id}:"


def request_classes(
    *, embedding_set: EmbeddingSet, columns: Sequence[str], owner: User | None
) -> Job:
    """Queue the scoring of an embedding set on columns of its catalog.

    Args:
        embedding_set: a complete one.
        columns: names of attributes, or `PRODUCT`.

    Raises:
        JobConflictError: it is being scored.
    """
    return enqueue(
        task=TASK,
        subject=classes_subject(embedding_set),
        title=f"Class measures of {embedding_set.spec}",
        arguments={"embedding_set": embedding_set.pk, "columns": list(columns)},
        owner=owner,
    )


def score_embedding_set(progress: JobProgress) -> dict[str, Any]:
    """Score what a job names, column by column; called again, it goes on where it was.

    Raises:
        JobError: the set was deleted, or a column cannot be scored.
    """
    arguments = progress.job.arguments
    embedding_set = EmbeddingSet.objects.filter(pk=arguments["embedding_set"]).first()
    if embedding_set is None:
        raise JobError("The embedding set was deleted.")
    progress.start(0, None, f"{embedding_set.spec}: reading the vectors")
    image_ids, vectors = load_vectors(embedding_set)
    known = _described(embedding_set)
    done = ClassScore.objects.filter(
        embedding_set=embedding_set, scored_at__gte=progress.job.created_at
    )
    scored = {row.column: row.figures for row in done}
    for column in arguments["columns"]:
        if column in scored:
            continue
        labels = [known.get(pk, {}).get(column, "") for pk in image_ids.tolist()]
        try:
            found = score_classes(vectors, labels, column=column, progress=progress)
        except Refused as problem:
            raise JobError(f"{column}: {problem.message}.") from problem
        progress.check()
        row, _ = ClassScore.objects.update_or_create(
            embedding_set=embedding_set,
            column=column,
            defaults={"figures": as_json(found), "scored_at": timezone.now()},
        )
        scored[column] = row.figures
    return {"model": embedding_set.spec, "columns": scored}


def _described(embedding_set: EmbeddingSet) -> dict[int, dict[str, str]]:
    """Return the columns of every image of the set's catalog, by its id."""
    rows = Image.objects.filter(catalog=embedding_set.catalog_id)
    columns = rows.values_list("pk", "product_id", "attributes").iterator(chunk_size=5000)
    return {pk: {**attributes, PRODUCT: product} for pk, product, attributes in columns}

"""Take in files as sources, and store the vectors of uploaded embeddings."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from catalog.models import Catalog, EmbeddingSet, EmbeddingShard
from catalog.vectors.embeddings import write_shard
from lookalike.backbones.spec import SpecError
from lookalike.core.arrays import Ints
from lookalike.core.errors import Refused
from lookalike.core.unit_vectors import unit_rows
from lookalike.io.errors import InputError
from lookalike.pooling.source_spec import SourceKind, uploaded_spec
from pooling.models import PoolSource
from pooling.sources.ranking_task import RankingTask
from pooling.sources.upload_files import Arriving, Upload, keep_checked
from pooling.sources.upload_readers import NamedVectors, read_embeddings, read_ranking

SHARD_ROWS = 4096


def keep_embeddings(
    *, name: str, file: Arriving, ids: Arriving | None, task: RankingTask
) -> Upload:
    """Check uploaded embeddings against what a pool asks, and keep them.

    Raises:
        Refused: of the field `embeddings`: the file, row and reason.
    """

    def check(path: Path, ids_path: Path | None) -> object:
        return read_embeddings(path, ids_path, task)

    try:
        return keep_checked(uploaded_spec(SourceKind.EMBEDDINGS, name), file, ids, check)
    except (InputError, SpecError) as problem:
        raise Refused("embeddings", str(problem)) from problem


def keep_ranking(*, name: str, file: Arriving, task: RankingTask) -> Upload:
    """Check an uploaded ranking against what a pool asks, and keep it.

    Raises:
        Refused: of the field `ranking`: the file, line and reason.
    """

    def check(path: Path, _: Path | None) -> object:
        return read_ranking(path, task)

    try:
        return keep_checked(uploaded_spec(SourceKind.RANKING, name), file, None, check)
    except (InputError, SpecError) as problem:
        raise Refused("ranking", str(problem)) from problem


def stored_embeddings(
    *, source: PoolSource, given: NamedVectors
) -> tuple[EmbeddingSet, EmbeddingSet]:
    """Return the embedding sets of the candidates and the queries, stored if they were not.

    The set is fixed by the hash of the uploaded files, so the same upload is stored once.
    """
    pool = source.pool
    of_catalog = partial(_stored_set, source, given)
    candidates = of_catalog(pool.catalog)
    return candidates, candidates if pool.query_catalog is None else of_catalog(pool.query_catalog)


def _stored_set(source: PoolSource, given: NamedVectors, catalog: Catalog) -> EmbeddingSet:
    image_ids = np.array(list(catalog.images.order_by("sha256").values_list("pk", flat=True)))
    held = image_ids[np.isin(image_ids, given.image_ids)]
    of_images = given.vectors[np.searchsorted(given.image_ids, held)]
    unit = np.asarray(unit_rows(of_images), np.float32)
    hashes = f"{source.file_sha256} {source.ids_sha256}"
    with transaction.atomic():
        embedding_set, _ = EmbeddingSet.objects.get_or_create(
            catalog=catalog,
            fingerprint=hashlib.sha256(hashes.encode()).hexdigest(),
            defaults={
                "spec": source.spec,
                "dim": unit.shape[1],
                "card": {
                    "source": "upload",
                    "file": source.file_name,
                    "sha256": source.file_sha256,
                    "ids_sha256": source.ids_sha256,
                    "stored_as": "float32, scaled to length 1",
                },
            },
        )
        stored = EmbeddingSet.objects.select_for_update().get(pk=embedding_set.pk)
        _store_missing(stored, held, unit)
        stored.is_complete = len(held) == len(image_ids)
        stored.save(update_fields=["is_complete"])
    return stored


def _store_missing(stored: EmbeddingSet, image_ids: Ints, unit: NDArray[np.float32]) -> None:
    """Store the vectors of the images that have none in the set yet."""
    shards = list(stored.shards.order_by("position"))
    known = np.array([pk for shard in shards for pk in shard.image_ids], np.int64)
    missing = np.flatnonzero(~np.isin(image_ids, known))
    first = shards[-1].position + 1 if shards else 0
    for number, begin in enumerate(range(0, len(missing), SHARD_ROWS)):
        rows = missing[begin : begin + SHARD_ROWS]
        EmbeddingShard.objects.create(
            embedding_set=stored,
            position=first + number,
            image_ids=image_ids[rows].tolist(),
            sha256=write_shard(unit[rows]),
            dtype="float32",
        )

"""Learn an embedding. Only tasks and commands import this: it loads torch."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction

from audit.actions import Action
from audit.services import record
from catalog.models import Catalog, EmbeddingSet, Projection
from catalog.vectors.embeddings import load_vectors
from catalog.vectors.projections import derive_set, store_projection
from jobs.services import JobError, JobProgress
from learning.embeddings.services import is_as_asked
from learning.material import Material, material_of
from learning.reading import full_memory_named, ready_encoder
from lookalike.core.arrays import Floats
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.core.errors import Refused
from lookalike.learning.embeddings.learn import KnownImages, LearntEmbedding
from lookalike.learning.embeddings.learn import learn_embedding as learn
from lookalike.learning.embeddings.recipe import PSEUDOLABELS, EmbeddingRecipe
from lookalike.learning.language.encoders import SENTENCE
from lookalike.learning.language.imagenet import as_probabilities
from pooling.embedding.embed import embed_by

CLASSIFIER = "timm:tf_efficientnet_lite0@classes"


@full_memory_named()
def learn_embedding(
    *, catalog_id: int, slug: str, name: str, parent: str, recipe: dict[str, Any],
    progress: JobProgress,
) -> dict[str, Any]:  # fmt: skip
    """Learn an embedding and store it as a model, with the catalog's vectors; may run twice.

    Raises:
        JobError: the catalog was deleted or cannot be embedded.
        Refused: there is nothing to learn, or another model of that name.
        JobLostError: the job was cancelled or taken over.
    """
    catalog = Catalog.objects.filter(pk=catalog_id).first()
    if catalog is None:
        raise JobError("The catalog was deleted.")
    (vectors,) = embed_by(parent, [catalog], progress)
    found = Projection.objects.filter(slug=slug, head="").first()
    if found is not None and not is_as_asked(found, parent, recipe):
        raise Refused("name", f"there is another learned model “{slug}”.")
    if found is None:
        folder = Path(settings.DATA_DIR) / "learning" / f"embedding-{slug}"
        material = material_of(vectors)
        learnt = _learnt(material, from_json(EmbeddingRecipe, recipe), folder, progress)
        with transaction.atomic():
            progress.hold()
            found = store_projection(
                slug=slug, name=name, layers=learnt.projection, parent=vectors,
                seen_image_ids=material.ids[learnt.seen].tolist(),
            )  # fmt: skip
            record(None, Action.EMBEDDING_MADE, found, spec=found.spec)
        shutil.rmtree(folder, ignore_errors=True)
    derive_set(parent=vectors, projection=found, progress=progress)
    return {"model": found.spec, "dim": found.dim, "card": found.card}


def _learnt(
    material: Material, recipe: EmbeddingRecipe, folder: Path, progress: JobProgress
) -> LearntEmbedding:
    encoder = ready_encoder(SENTENCE) if recipe.words else None
    probabilities = None
    if recipe.words == PSEUDOLABELS:
        (seen,) = embed_by(CLASSIFIER, [material.parent.catalog], progress)
        probabilities = _probabilities(material, seen)
    images = KnownImages(
        material.vectors, material.rows, material.products, material.parent.fingerprint
    )
    asked = json.dumps([material.sha256, as_json(recipe)], sort_keys=True)
    key = hashlib.sha256(asked.encode()).hexdigest()  # newer data begin anew
    return learn(
        images, recipe, folder / key[:16], language=encoder, probabilities=probabilities,
        on_checkpoint=progress.forgive, progress=progress,
    )  # fmt: skip


def _probabilities(material: Material, seen: EmbeddingSet) -> Floats:
    """Return for which classes of ImageNet each picture is taken."""
    ids, vectors = load_vectors(seen)
    row_of = {pk: row for row, pk in enumerate(ids.tolist())}
    rows = [row_of[pk] for pk in material.ids.tolist()]
    return as_probabilities(np.asarray(vectors[rows], np.float32))

"""Learn an embedding. Only tasks and commands import this: it loads torch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.utils.text import slugify

from audit.actions import Action
from audit.services import record
from catalog.models import EmbeddingSet
from catalog.vectors.embeddings import load_vectors
from learning.embeddings.recipes import CatalogEmbedding
from learning.material import Material
from learning.runs.work import RunWork
from learning.text_vectors import ready_encoder
from lookalike.core.arrays import Floats
from lookalike.core.dataclass_json import from_json
from lookalike.learning.embeddings.learn import KnownImages, LearntEmbedding
from lookalike.learning.embeddings.learn import learn_embedding as learn
from lookalike.learning.embeddings.recipe import GUESSED, PSEUDOLABELS
from lookalike.learning.language.encoders import SENTENCE
from lookalike.learning.language.imagenet import as_probabilities
from pooling.embedding.embed import embed_by

CLASSIFIER = "timm:tf_efficientnet_lite0@classes"


def learn_embedding(work: RunWork, material: Material) -> None:
    """Learn an embedding, or go on with it, and store it with a head for each condition.

    Raises:
        Refused: there is nothing to learn, or a loss is no number.
        JobError: pictures cannot be embedded.
        JobLostError: the job was cancelled or taken over.
    """
    recipe = from_json(CatalogEmbedding, work.run.recipe)
    learnt = _learnt(recipe, work, material)
    figures = {
        "n_seen": len(learnt.seen), "n_held_out": learnt.held_out.n_images,
        "held_out": learnt.held_out.as_json(), "held_out_words": learnt.held_out.words,
        "n_left_out": learnt.n_small,
        "found": {name: list(values) for name, values in learnt.found.items()},
        **({"best_heads": dict(learnt.best_heads)} if recipe.method in GUESSED else {}),
    }  # fmt: skip
    seen = material.ids[learnt.seen].tolist()
    with work.stored(figures):
        made = work.store(learnt.projection, material, seen)
        for name, head in learnt.heads.items():
            title = _title(name, learnt.best_heads)
            work.store(head, material, seen, head=slugify(name), name=title)
        record(None, Action.EMBEDDING_MADE, made, spec=made.spec)


def _title(head: str, best_heads: Mapping[str, str]) -> str:
    """Return a head's name for people: one that has a number says which attributes it is best at.

    >>> _title("colour", {"colour": "colour"})
    'Colour'
    >>> _title("condition-2", {"colour": "condition-2", "cut": "condition-2"})
    'Condition 2 (colour, cut)'
    """
    columns = [column for column, best in best_heads.items() if best == head]
    if columns == [head]:
        return head.capitalize()
    best_at = f" ({', '.join(columns)})" if columns else ""
    return f"{head.capitalize().replace('-', ' ')}{best_at}"


def _learnt(recipe: CatalogEmbedding, work: RunWork, material: Material) -> LearntEmbedding:
    encoder = ready_encoder(SENTENCE) if recipe.words else None
    probabilities = None
    if recipe.words == PSEUDOLABELS:
        (seen,) = embed_by(CLASSIFIER, [material.parent.catalog], work.progress)
        probabilities = _probabilities(material, seen)
    images = KnownImages(
        material.vectors, material.rows, material.products, material.parent.fingerprint
    )
    return learn(
        images, recipe, work.folder, language=encoder, probabilities=probabilities,
        on_checkpoint=work.at_checkpoint, progress=work.progress,
    )  # fmt: skip


def _probabilities(material: Material, seen: EmbeddingSet) -> Floats:
    """Return for which classes of ImageNet each picture is taken."""
    ids, vectors = load_vectors(seen)
    row_of = {pk: row for row, pk in enumerate(ids.tolist())}
    rows = [row_of[pk] for pk in material.ids.tolist()]
    return as_probabilities(np.asarray(vectors[rows], np.float32))

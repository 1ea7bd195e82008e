"""Score embedding sets on triplets and keep the figures."""

from __future__ import annotations

import numpy as np
from django.utils import timezone

from catalog.models import EmbeddingSet
from catalog.vectors.embeddings import EmbeddingError, load_vectors
from conditional.models import TripletScore, TripletSet
from conditional.triplets.services import BATCH, agreement_figures, known
from lookalike.conditional.triplet_scores import Metric, score_triplets
from lookalike.conditional.triplets import TripletTable, Vectors
from lookalike.conditional.types import Triplet
from lookalike.core.errors import Refused


def score_set(
    *, triplet_set: TripletSet, embedding_set: EmbeddingSet, metric: Metric
) -> TripletScore:
    """Score an embedding set on triplets and keep the figures; again replaces them.

    Raises:
        Refused: it is of another catalog, an image has no vector, or vectors are
            missing, damaged or of length zero.
    """
    if embedding_set.catalog_id != triplet_set.catalog_id:
        raise Refused("embeddings", f"{embedding_set} is not of the triplets' catalog.")
    table = stored_table(triplet_set)
    try:
        score = score_triplets(table, vectors_of_images(embedding_set, table), metric)
    except (EmbeddingError, ValueError) as problem:
        raise Refused("embeddings", str(problem)) from problem
    figures = {
        "votes": agreement_figures(score.votes),
        "majority": agreement_figures(score.majority),
        "n_human_ties": score.n_human_ties,
        "ceiling": known(score.ceiling),
        "macro": known(score.macro),
        "by_condition": {name: agreement_figures(one) for name, one in score.by_condition.items()},
    }
    kept, _ = TripletScore.objects.update_or_create(
        triplet_set=triplet_set,
        embedding_set=embedding_set,
        metric=metric,
        defaults={"figures": figures, "scored_at": timezone.now()},
    )
    return kept


def stored_table(triplet_set: TripletSet) -> TripletTable:
    """Return the answers of a set; images are named by row id.

    Raises:
        Refused: it has questions only.
    """
    rows = triplet_set.triplets.order_by("position")
    stored = rows.values_list("anchor_id", "closer_id", "farther_id", "condition", "is_swapped")
    answers = list(stored.iterator(chunk_size=BATCH))
    if not answers:
        raise Refused("set", f"“{triplet_set}” has no answers yet.")
    triplets = [Triplet(str(a), str(c), str(f), condition) for a, c, f, condition, _ in answers]
    return TripletTable.of(triplets, [swapped for *_, swapped in answers])


def vectors_of_images(embedding_set: EmbeddingSet, table: TripletTable) -> Vectors:
    """Return the vectors of a table's images, in its order.

    Raises:
        Refused: an image has no vector.
        EmbeddingError: vectors are missing or damaged.
    """
    image_ids, vectors = load_vectors(embedding_set)
    row_of = {int(pk): row for row, pk in enumerate(image_ids)}
    missing = [name for name in table.images if int(name) not in row_of]
    if missing:
        raise Refused(
            "embeddings",
            f"{len(missing):,} images of the triplets have no vector of {embedding_set.spec}.",
        )
    return np.array([vectors[row_of[int(name)]] for name in table.images], np.float32)

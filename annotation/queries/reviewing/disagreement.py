"""What the pairs have in common on which judges disagree: attributes, or looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, Question, QuestionKind
from annotation.queries.kept import kept
from annotation.queries.labels import labels
from catalog.models import Catalog, Image
from catalog.queries import usable_embedding_sets
from catalog.vectors.embeddings import EmbeddingError, load_vectors
from lookalike.agreement.disagreement import Group, disagreement_groups
from lookalike.core.arrays import Float32s, Ints

SHOWN, MOST_GROUPS, MOST_VALUES = 3, 8, 40


@dataclass(frozen=True)
class DisagreementGroup:
    """A kind of pairs that is contested more often than others.

    Attributes:
        words, passage: what it is, and what the guidelines should say of it.
        n_pairs: judged.
        share, elsewhere: of its pairs and of all others, that are contested.
        examples: contested pairs of it.
    """

    words: str
    passage: str
    n_pairs: int
    share: float
    elsewhere: float
    examples: list[Question]


def contested_groups(campaign: Campaign) -> list[DisagreementGroup]:
    """Return the groups of a campaign, counted anew when judging has gone on."""
    groups = kept(campaign, "disagreement", lambda: _groups(campaign))
    pairs = [pair for _, examples in groups for pair in examples]
    questions = Question.objects.filter(
        campaign=campaign, kind=QuestionKind.PAIR, query__in={query for query, _ in pairs}
    ).select_related("query", "candidate")
    at = {(one.query_id, one.candidate_id): one for one in questions}
    return [
        DisagreementGroup(
            words=group.relation.words,
            passage=group.relation.passage,
            n_pairs=group.n_pairs,
            share=100 * group.share,
            elsewhere=100 * group.elsewhere,
            examples=[at[pair] for pair in examples],
        )
        for group, examples in groups
    ]


def _groups(campaign: Campaign) -> list[tuple[Group, list[tuple[int, int]]]]:
    """Return the groups and the first contested pairs of each, by ids of images."""
    table = labels(campaign)
    kept_rows = table.n_similar + table.n_different > 1
    queries, candidates = table.query_ids[kept_rows], table.candidate_ids[kept_rows]
    is_contested = ((table.n_similar > 0) & (table.n_different > 0))[kept_rows]
    if not is_contested.any():
        return []
    catalog = Catalog.objects.get(images=int(queries[0]))
    groups = disagreement_groups(
        is_contested, _values(queries, candidates), _vectors(catalog, queries, candidates)
    )
    return [
        (one, [(int(queries[i]), int(candidates[i])) for i in one.contested[:SHOWN]])
        for one in groups[:MOST_GROUPS]
    ]


def _values(queries: Ints, candidates: Ints) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
    """Return the attributes of both images of each pair, those of few values."""
    ids = np.union1d(queries, candidates).tolist()
    of_image = dict(Image.objects.filter(pk__in=ids).values_list("pk", "attributes"))
    names = sorted({name for attributes in of_image.values() for name in attributes})
    found: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    for name in names:
        value_of = {pk: attributes.get(name, "") for pk, attributes in of_image.items()}
        if 1 < len(set(value_of.values()) - {""}) <= MOST_VALUES:
            first, second = (
                [value_of[pk] for pk in side.tolist()] for side in (queries, candidates)
            )
            found[name] = (first, second)
    return found


def _vectors(catalog: Catalog, queries: Ints, candidates: Ints) -> tuple[Float32s, Float32s] | None:
    """Return vectors of both images of each pair; None where no embedding set knows them all."""
    for embedding_set in usable_embedding_sets(catalog):
        try:
            ids, vectors = load_vectors(embedding_set)
        except EmbeddingError:
            continue
        order = np.argsort(ids)
        places = [np.searchsorted(ids[order], side) for side in (queries, candidates)]
        rows = [order[np.minimum(at, ids.size - 1)] for at in places]
        if all(
            np.array_equal(ids[row], side)
            for row, side in zip(rows, (queries, candidates), strict=True)
        ):
            first, second = (np.asarray(vectors[row], np.float32) for row in rows)
            return first, second
    return None

"""Queries as pictures: the query, what a model shows for it, and what the judges say of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catalog.models import Image
from evaluation.results.details import Details
from lookalike.core.arrays import Ints

WORDS = {1: ("similar", "is-similar"), 0: ("different", "is-different"), None: ("not judged", "")}


@dataclass(frozen=True)
class Answer:
    """One candidate at the top of a list."""

    image: Image
    word: str
    css_class: str


@dataclass(frozen=True)
class QueryRow:
    """One query with the value of a model, or the values of two, and the heads of their lists."""

    query: Image
    values: tuple[float, ...]
    heads: tuple[list[Answer], ...]

    @property
    def difference(self) -> float:
        """The first value less the last."""
        return self.values[0] - self.values[-1]


def query_rows(
    details: Details,
    queries: Sequence[int],
    models: Sequence[int],
    values: Sequence[Sequence[float]],
) -> list[QueryRow]:
    """Return rows for some queries; an image that has been deleted since is left out.

    Args:
        details: of the result.
        queries: positions in `details.query_ids`.
        models: positions in `details.models`.
        values: per model, one value per query of the result.
    """  # fmt: skip
    label_of = details.labels_of(queries)
    heads = {(m, q): details.heads[m, q].tolist() for m in models for q in queries}
    wanted = {int(details.query_ids[q]) for q in queries}
    wanted |= {image for head in heads.values() for image in head if image}
    images = images_by_id(wanted)
    rows = []
    for q in queries:
        query = images.get(int(details.query_ids[q]))
        if query is None:
            continue
        answers = tuple(
            [
                Answer(images[image], *WORDS[label_of.get((q, image))])
                for image in heads[m, q]
                if image in images
            ]
            for m in models
        )
        rows.append(QueryRow(query, tuple(row[q] for row in values), answers))
    return rows


@dataclass(frozen=True)
class Pair:
    """Two images."""

    query: Image
    candidate: Image


def pair_rows(details: Details, pairs: Ints) -> list[Pair]:
    """Return labelled pairs as images."""
    queries = details.query_ids[details.pair_queries[pairs]].tolist()
    candidates = details.pair_candidates[pairs].tolist()
    images = images_by_id({*queries, *candidates})
    return [
        Pair(images[q], images[c])
        for q, c in zip(queries, candidates, strict=True)
        if q in images and c in images
    ]


def images_by_id(ids: Iterable[int]) -> dict[int, Image]:
    """Return images with their catalogs, for addresses."""
    return Image.objects.select_related("catalog").in_bulk(list(ids))

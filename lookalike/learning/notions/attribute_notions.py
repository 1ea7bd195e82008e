"""The table of InDiReCT's paper for images that have attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lookalike.core.arrays import Bools, Float32s, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.held_out import held_out_groups
from lookalike.learning.language.encoders import TextEncoder, encode_prompts
from lookalike.learning.lit.captions import UNKNOWN, Attributes, read_attributes
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.notions.defaults import PUBLISHED_DIM
from lookalike.learning.notions.scoring import (
    MEASURES,
    METHODS,
    NotionScores,
    Task,
    score_notion,
    sweep_dims,
    sweep_prompts,
)
from lookalike.stats.text_tables import TEXT

HEADER = ("notion", "prompts", "method", "dim", *MEASURES)


@dataclass(frozen=True)
class DescribedImages:
    """Vectors of images, what is known of them, and what reads texts beside them.

    Attributes:
        vectors: shape (n, d).
        rows: attributes of each.
        products: of each, "" where it is not known.
        encoder: of texts.
        space: None where the encoder's texts are where the vectors are.
    """

    vectors: Float32s
    rows: Sequence[Mapping[str, str]]
    products: Sequence[str]
    encoder: TextEncoder
    space: TextSpace | None


@dataclass(frozen=True)
class Scoring:
    """What is scored, and how often.

    Attributes:
        columns: attributes; all if empty.
        captions: what the prompts of an attribute say, {} for its value.
        methods: of METHODS; all if empty.
        dim: r'.
        n_repetitions, seed: as `score_notion`.
        dims: InDiReCT at these r', too.
        counts: InDiReCT with so many of the prompts, too.
        all_images: also those that the space has learned from.
        other_products: whether a picture's neighbours show other products alone.
    """

    columns: Sequence[str] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
    methods: Sequence[str] = ()
    dim: int = PUBLISHED_DIM
    n_repetitions: int = 5
    seed: int = 0
    dims: Sequence[int] = ()
    counts: Sequence[int] = ()
    all_images: bool = False
    other_products: bool = False


@dataclass(frozen=True)
class AttributeScores:
    """The rows of the table.

    Attributes:
        n_images: that were asked about.
        rows: by attribute and method.
    """

    n_images: int
    rows: list[NotionScores]

    @property
    def shown(self) -> list[list[str]]:
        """The cells below HEADER: means and population standard deviations, in percent."""
        return [[*_named(row), *(_percent(row, m) for m in MEASURES)] for row in self.rows]


def score_attributes(
    images: DescribedImages, scoring: Scoring, progress: Progress = SILENT
) -> AttributeScores:
    """Fit a notion to the values of each attribute and say how well images are told apart by it.

    Raises:
        Refused: columns, captions or numbers that cannot be used.
    """
    if min([scoring.dim, *scoring.dims]) < 1:
        raise Refused("dim", "a notion needs at least one direction")
    attributes = _attributes(images, scoring)
    asked = _asked(images, scoring)
    found: list[NotionScores] = []
    for place in range(len(attributes.columns)):
        task = _task(images, attributes, place, asked)
        if scoring.other_products:
            task = replace(task, groups=_groups(images, attributes, place, asked))
        n, seed = scoring.n_repetitions, scoring.seed
        found += score_notion(
            task, scoring.dim, methods=scoring.methods or tuple(METHODS), n_repetitions=n,
            seed=seed, progress=progress,
        )  # fmt: skip
        found += sweep_dims(task, scoring.dims, n_repetitions=n, seed=seed)
        found += sweep_prompts(task, scoring.counts, scoring.dim, n_repetitions=n, seed=seed)
    return AttributeScores(int(asked.sum()), found)


def attribute_tasks(
    images: DescribedImages, scoring: Scoring
) -> tuple[list[Task], dict[str, Ints], Bools]:
    """Return a task of all images for each attribute, the values, and which images are asked.

    Raises:
        Refused: columns or captions that cannot be used.
    """
    attributes = _attributes(images, scoring)
    codes = {name: attributes.codes[:, n] for n, name in enumerate(attributes.columns)}
    vectors = images.space.images.apply(images.vectors) if images.space else images.vectors
    tasks = [
        Task(name, vectors, codes[name], _prompts(images, attributes, place))
        for place, name in enumerate(attributes.columns)
    ]
    return tasks, codes, _asked(images, scoring)


def _attributes(images: DescribedImages, scoring: Scoring) -> Attributes:
    captions = dict(images.space.card.get("templates", {})) if images.space else {}
    known = read_attributes(images.rows, scoring.columns).columns
    captions = {name: text for name, text in captions.items() if name in known}
    return read_attributes(images.rows, known, captions | dict(scoring.captions))


def _asked(images: DescribedImages, scoring: Scoring) -> Bools:
    """Return which images are scored."""
    if images.space is None or scoring.all_images or "seed" not in images.space.card:
        return np.ones(len(images.rows), bool)
    return held_out_groups(images.products, int(images.space.card["seed"]))


def _task(images: DescribedImages, attributes: Attributes, place: int, asked: Bools) -> Task:
    rows = np.flatnonzero(asked & (attributes.codes[:, place] != UNKNOWN))
    vectors = images.vectors[rows]
    if images.space is not None:
        vectors = images.space.images.apply(vectors)
    prompts = _prompts(images, attributes, place)
    return Task(attributes.columns[place], vectors, attributes.codes[rows, place], prompts)


def _groups(images: DescribedImages, attributes: Attributes, place: int, asked: Bools) -> Ints:
    """Return the product of each image of a task; one without a product is one of its own."""
    rows = np.flatnonzero(asked & (attributes.codes[:, place] != UNKNOWN))
    names = [images.products[row] or f"image {row}" for row in rows.tolist()]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _prompts(images: DescribedImages, attributes: Attributes, place: int) -> Float32s:
    prompts = encode_prompts(images.encoder, attributes.texts(place))
    return prompts if images.space is None else images.space.texts.apply(prompts)


def _named(row: NotionScores) -> list[str]:
    return [row.notion, str(row.n_prompts), row.method, str(row.dim)]


def _percent(row: NotionScores, measure: str) -> str:
    score = row.scores[measure]
    mean = TEXT.number(100 * score.mean, 1)
    spread = f"{100 * score.std:.1f}"
    return mean if spread == "0.0" else f"{mean} ± {spread}"

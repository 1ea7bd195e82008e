"""Learn an embedding of a catalog, and measure it on images that were held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Bools, Float32s, Floats, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.embeddings.conditions import ConditionMaps
from lookalike.learning.embeddings.recipe import (
    BY_TRIPLETS,
    FINE_TUNING,
    NAMES,
    PRODUCT,
    EmbeddingRecipe,
)
from lookalike.learning.engine.loop import train
from lookalike.learning.finetune.training import FinetuneLearner, FinetuneSettings
from lookalike.learning.held_out import HeldOut, describe, split_images
from lookalike.learning.language.sources import LanguageSource
from lookalike.learning.metric.classes import Classes, rows_of_pairs
from lookalike.learning.metric.language import Language, name_language, pseudolabel_language
from lookalike.learning.metric.training import Guidance, MetricLearner, MetricSettings, Objective
from lookalike.learning.projection import Layers
from lookalike.metrics.classes import class_retrieval
from lookalike.stats.defined_values import mean_defined

MOST_CLASSES = 56  # in a batch, two images of each
BATCH = 128  # of fine-tuning
N_PSEUDOLABELS = 5
EVERY = 20  # steps between checkpoints


@dataclass(frozen=True)
class KnownImages:
    """Images and what is known of them.

    Attributes:
        vectors: by the backbone, shape (n, d).
        rows: attributes of each.
        products: of each, "" where it is not known.
        parent: fingerprint of the backbone, or of the vectors' file.
    """

    vectors: Float32s
    rows: Sequence[Mapping[str, str]]
    products: Sequence[str]
    parent: str


@dataclass(frozen=True)
class LearntEmbedding:
    """What came of it.

    Attributes:
        projection: the map; its card says what follows, too.
        heads: a map for each condition; their cards likewise.
        best_heads: by sort of label, the head that says most of it; empty without heads.
        seen: rows of the images that it learnt from.
        held_out: what was held out, and what of it was learned from nevertheless.
        n_small: classes of one image, which were left out.
        found: by sort of label, how often the nearest image held out has the same, by the
            vectors as they are and by the embedding, or by the sort's best head; None where that
            is never asked. It shows another product, but where products are what is learnt.
    """

    projection: Layers
    heads: Mapping[str, Layers]
    best_heads: Mapping[str, str]
    seen: Ints
    held_out: HeldOut
    n_small: int
    found: Mapping[str, tuple[float | None, float | None]]


def learn_embedding(
    images: KnownImages,
    recipe: EmbeddingRecipe,
    folder: Path,
    *,
    language: LanguageSource | None = None,
    probabilities: Floats | None = None,
    on_checkpoint: Callable[[], None] = lambda: None,
    progress: Progress = SILENT,
) -> LearntEmbedding:
    """Learn an embedding, or go on with it.

    Args:
        images: of the catalog; a fifth of the products, classes or images is held out.
        recipe: what is learnt, and how.
        folder: of this run alone, for its checkpoint and its curve.
        language: reads the words that guide.
        probabilities: of ImageNet's classes, for pseudolabels, shape (n, 1000).
        on_checkpoint: called when one lies on disk.
        progress: told the steps.

    Raises:
        Refused: labels or vectors that cannot be learnt from, nothing to hold out as the recipe
            says, words without what reads them, a loss that is no number, or a folder of another
            run.
        OSError: the disk is full.
    """
    labels = recipe.labels(images.rows, images.products)
    split = split_images(labels, images.products, recipe.hold_out, seed=recipe.seed)
    rows, n_small = rows_of_pairs(list(labels.values()), split.may_learn)
    if not len(rows):
        raise Refused("columns", "no class has two images to learn from")
    classes = {name: Classes.of([of[row] for row in rows]) for name, of in labels.items()}
    some = None if probabilities is None else probabilities[rows]
    learner, n_steps = _learner(images.vectors[rows], classes, recipe, language, some)
    progress.start(0, n_steps, f"Learning from {len(rows):,} images")
    train(learner, folder, n_steps=n_steps, every=EVERY, on_checkpoint=on_checkpoint,
          progress=progress)  # fmt: skip
    best = learner.best_heads() if isinstance(learner, ConditionMaps) else {}
    heads, shared = _heads(learner, {}), learner.projection()
    maps = {name: heads[best[name]] if best else shared for name in labels}
    found = {
        name: (
            share_right(images.vectors, values, images.products, asked, name),
            share_right(maps[name].apply(images.vectors), values, images.products, asked, name),
        )
        for (name, values), asked in zip(labels.items(), split.asked.values(), strict=True)
    }
    held_out = describe(split, labels, images.products, rows)
    card = {
        "recipe": {**asdict(recipe), "columns": list(recipe.columns)}, "parent": images.parent,
        "language": language.spec if language else None, "held_out": held_out.as_json(),
        "n_classes_left_out": n_small, **({"best_heads": best} if best else {}),
        "found_on_held_out": {name: list(values) for name, values in found.items()},
    }  # fmt: skip
    return LearntEmbedding(
        learner.projection(card), _heads(learner, card), best, rows, held_out, n_small,
        found,
    )  # fmt: skip


def _learner(
    vectors: Float32s,
    classes: Mapping[str, Classes],
    recipe: EmbeddingRecipe,
    source: LanguageSource | None,
    probabilities: Floats | None,
) -> tuple[FinetuneLearner | MetricLearner | ConditionMaps, int]:
    """Return what learns, and in how many steps."""
    if recipe.method == FINE_TUNING:
        return _fine_tuning(vectors, classes, recipe)
    if recipe.method in BY_TRIPLETS:
        maps = ConditionMaps(vectors, classes, recipe)
        return maps, maps.n_steps
    (of,) = classes.values()
    return _metric(vectors, of, recipe, words_that_guide(recipe.words, of, source, probabilities))


def _heads(
    learner: FinetuneLearner | MetricLearner | ConditionMaps, card: Mapping[str, Any]
) -> dict[str, Layers]:
    return learner.heads(card) if isinstance(learner, ConditionMaps) else {}


def _fine_tuning(
    vectors: Float32s, classes: Mapping[str, Classes], recipe: EmbeddingRecipe
) -> tuple[FinetuneLearner, int]:
    widths = tuple(width for width in (recipe.hidden, recipe.dim) if width)
    how = FinetuneSettings(widths, recipe.epochs, BATCH, seed=recipe.seed)
    learner = FinetuneLearner(vectors, classes, how)
    return learner, learner.n_steps


def _metric(
    vectors: Float32s, classes: Classes, recipe: EmbeddingRecipe, language: Language | None
) -> tuple[MetricLearner, int]:
    n_classes = min(MOST_CLASSES, len(classes.names))
    n_steps = max(1, round(recipe.epochs * len(vectors) / (2 * n_classes)))
    how = MetricSettings(
        objective=cast("Objective", recipe.method), dim=recipe.dim or vectors.shape[1],
        hidden=recipe.hidden, steps=n_steps, n_classes=n_classes, seed=recipe.seed,
    )  # fmt: skip
    return MetricLearner(vectors, classes, how, language, Guidance(recipe.weight)), n_steps


def words_that_guide(
    words: str, classes: Classes, source: LanguageSource | None, probabilities: Floats | None
) -> Language | None:
    """Return how alike classes are by words.

    Args:
        words: of WORDS; "" for None.
        classes: of the images to learn from.
        source: reads the words.
        probabilities: of ImageNet's classes for the same images, where words are pseudolabels.

    Raises:
        Refused: something is missing for these words, or no source knows one.
    """
    if not words:
        return None
    if source is None:
        raise Refused("words", "nothing reads them: there is no language")
    if words == NAMES:
        return name_language(classes.names, source)
    if probabilities is None:
        raise Refused("words", "pseudolabels need a classifier of the pictures")
    return pseudolabel_language(probabilities, classes.codes, source, N_PSEUDOLABELS)


def share_right(
    vectors: Float32s, labels: Sequence[str], products: Sequence[str], held_out: Bools, name: str
) -> float | None:
    """Return how often the nearest of the images held out has an image's label.

    Args:
        vectors: of all images, shape (n, d).
        labels: of them, "" where one is not known.
        products: of them, likewise; images of one product do not count for each other.
        held_out: which are asked about, and answer.
        name: of the labels; where products are asked for, their own images count.

    Returns:
        From 0 to 1; None where nothing can be asked.
    """
    asked = [row for row in np.flatnonzero(held_out).tolist() if labels[row]]
    if len(asked) < 2:
        return None
    groups: Any = [products[row] or f"image {row}" for row in asked]
    found = class_retrieval(
        unit_rows(vectors[asked]), [labels[row] for row in asked],
        groups=None if name == PRODUCT else groups,
    )  # fmt: skip
    mean, n = mean_defined(found.precision_at_1)
    return float(mean) if n else None

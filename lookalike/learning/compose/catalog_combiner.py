"""Learn a Combiner from what a catalog says of its images, and say what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lookalike.conditional.template_scores import baseline_queries, unit
from lookalike.core.arrays import Bools, Float32s, Floats, Ints
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.compose.catalog_captions import (
    Phrases,
    catalog_rows,
    mined_triplets,
    same_value_triplets,
)
from lookalike.learning.compose.combiner import METHOD, TrainedCombiner, Widths
from lookalike.learning.compose.recipe import CombinerRecipe
from lookalike.learning.compose.training import (
    CombinerLearner,
    CombinerTraining,
    ComposedTriplets,
)
from lookalike.learning.engine.determinism import stream
from lookalike.learning.engine.loop import train
from lookalike.learning.lit.captions import UNKNOWN, Attributes

PHRASES = Phrases()
EVERY = 20  # steps between checkpoints
MOST_ASKED = 500  # references of a column
Read = Callable[[Sequence[str]], Float32s]  # from texts to vectors, shape (n, dim)


@dataclass(frozen=True)
class ComposedImages:
    """Images in a text space, and what is known of them.

    Attributes:
        vectors: in the space, shape (n, dim).
        attributes: of each, the subject among them.
        products: of each, "" where it is not known.
        held_out: which are asked about and not learnt from.
        read: returns the vectors of texts in the space.
    """

    vectors: Float32s
    attributes: Attributes
    products: Sequence[str]
    held_out: Bools
    read: Read


@dataclass(frozen=True)
class LearntCombiner:
    """What came of it.

    Attributes:
        combiner: trained.
        conditions: {column: vector of “of the same COLUMN”}.
        seen: rows of the images that it learnt from.
        found: {what is asked: share of the references held out whose nearest other product is
            right, by half of image and text each, and by the Combiner}.
    """

    combiner: TrainedCombiner
    conditions: Mapping[str, Float32s]
    seen: Ints
    found: Mapping[str, tuple[float, float]]


def condition_text(phrase: str) -> str:
    """Return what is read for a condition."""
    return PHRASES.text.format(phrase)


def said_condition(condition: str, values: Mapping[str, Sequence[str]]) -> str:
    """Return a template's condition as captions say it; other words stay as they are.

    >>> said_condition("Colour", {"colour": ["red"]}), said_condition("red", {"colour": ["red"]})
    ('of the same colour', 'whose colour is red')

    Args:
        condition: a column's name, one of its values, or anything.
        values: of each column.
    """
    columns = {name.casefold(): name for name in values}
    if (name := columns.get(condition.casefold())) is not None:
        return PHRASES.same.format(name)
    for name, known in values.items():
        if condition.casefold() in {value.casefold() for value in known}:
            return PHRASES.value.format(name, condition)
    return condition


def learn_combiner(
    images: ComposedImages,
    recipe: CombinerRecipe,
    folder: Path,
    *,
    on_checkpoint: Callable[[], None] = lambda: None,
    progress: Progress = SILENT,
) -> LearntCombiner:
    """Learn a Combiner, or go on with it.

    Args:
        images: of the catalog.
        recipe: what is learnt, and how.
        folder: of this run alone, for its checkpoint and its curve.
        on_checkpoint: called when one lies on disk.
        progress: told the steps.

    Raises:
        Refused: captions without a relation or without a triplet, a loss that is no number, or a
            folder of another run.
        OSError: the disk is full.
    """
    progress.note("Drawing triplets")
    rows = catalog_rows(images.attributes, recipe.subject, ~images.held_out, PHRASES)
    named, _ = mined_triplets(rows, recipe.n_triplets, recipe.seed)
    if recipe.same_values:
        named += same_value_triplets(
            rows, images.attributes.columns, recipe.n_triplets // 2, recipe.seed, PHRASES
        )
    triplets = ComposedTriplets.of(named, {str(row): row for row in range(len(images.vectors))})
    texts = images.read([condition_text(one) for one in triplets.conditions])
    widths = Widths(images.vectors.shape[1], recipe.projection, recipe.hidden, recipe.dropout)
    training = CombinerTraining(recipe.epochs, recipe.batch, recipe.rate, recipe.scale, recipe.seed)
    learner = CombinerLearner(images.vectors, texts, triplets, widths, training)
    progress.start(0, learner.n_steps, f"Learning from {len(named):,} triplets")
    train(learner, folder, n_steps=learner.n_steps, every=EVERY, on_checkpoint=on_checkpoint,
          progress=progress)  # fmt: skip
    card = {"method": METHOD, **asdict(recipe), "columns": list(recipe.columns),
            "n_images": int((~images.held_out).sum()), "data_sha256": learner.fingerprint,
            "n_learnt": len(named)}  # fmt: skip
    combiner = TrainedCombiner(learner.network.eval(), card)
    same = [PHRASES.same.format(name) for name in recipe.columns]
    conditions = dict(
        zip(recipe.columns, images.read([condition_text(one) for one in same]), strict=True)
    )
    seen = np.unique(triplets.rows[:, :2])
    return LearntCombiner(combiner, conditions, seen, _found(images, combiner, recipe))


def _found(
    images: ComposedImages, combiner: TrainedCombiner, recipe: CombinerRecipe
) -> dict[str, tuple[float, float]]:
    found = {}
    for name in recipe.columns:
        for is_same in (True, False):
            shares = _shares(images, combiner, recipe, name, is_same)
            if shares is not None:
                found[f"{'same' if is_same else 'other'} {name}"] = shares
    return found


def _shares(
    images: ComposedImages, combiner: TrainedCombiner, recipe: CombinerRecipe, name: str,
    is_same: bool,
) -> tuple[float, float] | None:  # fmt: skip
    """Return how often the nearest image of another product is right; None if never asked.

    Right is the subject of the reference with the value that is asked for: its own, or another
    one that is drawn of those that there are.
    """
    attributes, rows = images.attributes, np.flatnonzero(images.held_out)
    columns = [attributes.columns.index(one) for one in (recipe.subject, name)]
    codes = attributes.codes[rows][:, columns]
    products = np.array([images.products[row] or f"image {row}" for row in rows.tolist()])
    rng = stream(recipe.seed, f"asked about {name}")
    asked, conditions, rights = [], [], []
    for place in rng.permutation(np.flatnonzero((codes != UNKNOWN).all(axis=1)))[:MOST_ASKED]:
        others = (codes[:, 0] == codes[place, 0]) & (products != products[place])
        if not is_same:
            others &= (codes[:, 1] != codes[place, 1]) & (codes[:, 1] != UNKNOWN)
            value = rng.choice(codes[others, 1]) if others.any() else UNKNOWN
        else:
            value = codes[place, 1]
        right = others & (codes[:, 1] == value)
        if right.any():
            asked.append(place)
            said = attributes.values[columns[1]][value]
            conditions.append(
                PHRASES.same.format(name) if is_same else PHRASES.value.format(name, said)
            )
            rights.append(right)
    if not asked:
        return None
    distinct, at = np.unique(np.array(conditions), return_inverse=True)
    texts = images.read([condition_text(one) for one in distinct.tolist()])[at]
    references = images.vectors[rows[asked]]
    candidates = unit(images.vectors[rows])

    def share(queries: Floats | Float32s) -> float:
        scores = queries @ candidates.T
        scores[products[asked][:, None] == products[None]] = -np.inf
        return float(
            np.mean([right[row.argmax()] for right, row in zip(rights, scores, strict=True)])
        )

    before = share(baseline_queries(references, texts, "image_text"))
    return before, share(combiner.queries(references, texts))

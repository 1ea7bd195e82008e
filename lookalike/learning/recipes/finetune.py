"""Fine-tuning on identity and category, by what it does to either question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.backbones.errors import BackboneError
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.io.errors import InputError
from lookalike.learning.engine.fitting import fit
from lookalike.learning.finetune.attribute_truth import SimilarityRule
from lookalike.learning.finetune.scores import Truth, identity_scores, similarity_scores
from lookalike.learning.finetune.training import FinetuneLearner, FinetuneSettings
from lookalike.learning.held_out import held_out_groups
from lookalike.learning.metric.classes import Classes
from lookalike.learning.recipes.recipe import Recipe
from lookalike.learning.recipes.repetitions import Repetitions
from lookalike.learning.recipes.runners import Made, Run
from lookalike.learning.recipes.vectors import picture_vectors

UNTUNED = "vectors as they are"
LABELS = {
    UNTUNED: (),
    "ID": ("identity",),
    "CAT": ("category",),
    "ID+C": ("identity", "category"),
}


@dataclass(frozen=True)
class _World:
    """Images, their labels, and what is true of them."""

    vectors: Float32s
    products: list[str]
    categories: list[str]
    truth: Truth


def make(recipe: Recipe, run: Run, progress: Progress) -> Made:
    """Return both questions' measures of each fine-tuning, on products that were held out.

    Raises:
        Refused: settings or data that cannot be used.
        InputError: a file or a model that cannot be used.
    """
    said = recipe.settings
    names = list(run.methods) or list(LABELS)
    if unknown := [name for name in names if name not in LABELS]:
        raise Refused("methods", f"{unknown[0]!r} is none of {', '.join(LABELS)}")
    if run.model and run.vectors:
        raise Refused("model", "the vectors are made already; leave out either")
    world = _world(said, run, progress)
    n_repetitions = run.repetitions or said["repetitions"]
    rows = run.rows or recipe.rows
    found = Repetitions()
    n_asked = []
    for seed in range(run.seed, run.seed + n_repetitions):
        held_out = held_out_groups(world.products, seed)
        asked, learnt = np.flatnonzero(held_out), np.flatnonzero(~held_out)
        n_asked.append(len(asked))
        for row in rows:
            for name in names:
                progress.note(f"{name}, {row}, seed {seed}")
                settings = FinetuneSettings(
                    **{**said["rows"][row], "widths": tuple(said["rows"][row]["widths"])}, seed=seed
                )
                vectors = _tuned(world, name, learnt, settings)
                scores = {
                    **identity_scores(vectors, world.truth, asked),
                    **similarity_scores(vectors, world.truth, asked),
                }
                found.add(row, name, scores)
    n_products = len(world.truth.similar)
    notes = [
        f"{len(world.products):,} images of {n_products:,} products; about {np.mean(n_asked):.0f} "
        f"of products held out ask, all are found; {n_repetitions} repetitions, each with other "
        "products held out",
        f"a product has {world.truth.similar.sum() / n_products:.1f} true lookalikes on average",
    ]
    return Made(found.percent(), notes, is_comparable=False)


def _tuned(
    world: _World, name: str, learnt: np.ndarray[Any, Any], settings: FinetuneSettings
) -> Float32s:
    if not LABELS[name]:
        return world.vectors
    of = {"identity": world.products, "category": world.categories}
    labels = {sort: Classes.of([of[sort][row] for row in learnt]) for sort in LABELS[name]}
    learner = FinetuneLearner(world.vectors[learnt], labels, settings)
    fit(learner, learner.n_steps)
    return learner.projection().apply(world.vectors)


def _world(said: Mapping[str, Any], run: Run, progress: Progress) -> _World:
    path = run.folder / "metadata.csv"
    try:
        known = read_metadata(path.read_bytes(), path.name, with_products=True).rows
        vectors = picture_vectors(
            list(known), lambda name: (run.folder / name).read_bytes(), run.model or said["model"],
            run, progress,
        )  # fmt: skip
    except (BackboneError, MetadataError) as problem:
        raise InputError(str(problem)) from problem
    products = Classes.of([row.product_id for row in known.values()])
    first = np.unique(products.codes, return_index=True)[1]
    attributes = [row.attributes for row in known.values()]
    rule = SimilarityRule.of(said["similar"])
    categories = Classes.of([of.get(said["category"], "") for of in attributes])
    truth = Truth(
        list(known), products.codes, rule.similar([attributes[row] for row in first]),
        categories.codes,
    )  # fmt: skip
    named = [categories.names[code] for code in categories.codes]
    return _World(vectors, [row.product_id for row in known.values()], named, truth)

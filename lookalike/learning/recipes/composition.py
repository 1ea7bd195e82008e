"""Templates of a catalog answered by an image and a text, with a Combiner and without."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lookalike.backbones.errors import BackboneError
from lookalike.conditional.builders.attribute_table import AttributeTable
from lookalike.conditional.builders.attributes import build_change_attribute, build_focus_attribute
from lookalike.conditional.builders.catalog_rows import CatalogRow, Column, catalog_instances
from lookalike.conditional.builders.turns import Limits
from lookalike.conditional.types import RetrievalTemplate, Task
from lookalike.core.arrays import Bools, Float32s
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.io.errors import InputError
from lookalike.learning.compose.catalog_captions import (
    Phrases,
    catalog_rows,
    mined_triplets,
    same_value_triplets,
)
from lookalike.learning.compose.combiner import TrainedCombiner, Widths
from lookalike.learning.compose.composers import (
    BaselineComposer,
    CombinerComposer,
    ObjectComposer,
    ValueComposer,
)
from lookalike.learning.compose.training import (
    CombinerLearner,
    CombinerTraining,
    ComposedTriplets,
    fit_combiner,
)
from lookalike.learning.conditions.composer import Composer, score_composer
from lookalike.learning.held_out import held_out_groups
from lookalike.learning.language.encoders import TextEncoder, load_encoder
from lookalike.learning.lit.captions import Attributes, read_attributes
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.recipes.recipe import Published, Recipe
from lookalike.learning.recipes.runners import Made, Run
from lookalike.learning.recipes.vectors import picture_vectors

PHRASES = Phrases()
FOCUS, CHANGE, AVERAGE = "focus attribute", "change attribute", "average"
TASKS = {FOCUS: Task.FOCUS_ATTRIBUTE, CHANGE: Task.CHANGE_ATTRIBUTE}
IMAGE, TEXT, BOTH = "image only", "text only", "image + text"
SPECIFIC = "specific solution"
COMBINER, WITH_SAME = "Combiner", "Combiner, same values too"
METHODS = (SPECIFIC, IMAGE, TEXT, BOTH, COMBINER, WITH_SAME)


@dataclass(frozen=True)
class _World:
    """Images in a text space, what is known of them, and what reads texts.

    Attributes:
        rows: what a catalog says of each.
        attributes: the same as numbers.
        vectors: in the space, shape (n, dim).
        held_out: which images the space has not read of.
        space: the text space.
        encoder: of texts.
    """

    rows: tuple[CatalogRow, ...]
    attributes: Attributes
    vectors: Float32s
    held_out: Bools
    space: TextSpace
    encoder: TextEncoder

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each path."""
        return {one.image: row for row, one in enumerate(self.rows)}

    def read(self, texts: Sequence[str]) -> Float32s:
        """Return the vectors of texts in the space."""
        return self.space.texts.apply(self.encoder.encode(texts))


def make(recipe: Recipe, run: Run, progress: Progress) -> Made:
    """Return each method's recall, over repetitions with another seed each.

    Raises:
        Refused: settings or data that cannot be used.
        InputError: a file or a model that cannot be used.
    """
    said = recipe.settings
    names = list(run.methods) or list(METHODS)
    if unknown := [name for name in names if name not in METHODS]:
        raise Refused("methods", f"{unknown[0]!r} is none of {', '.join(METHODS)}")
    if run.space is None:
        raise Refused("space", "images and texts have to meet: give --space, see learn text-space")
    if run.model and run.vectors:
        raise Refused("model", "the vectors are made already; leave out either")
    world = _world(said, run, progress)
    n_repetitions = run.repetitions or said["repetitions"]
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for seed in range(run.seed, run.seed + n_repetitions):
        for key, value in _repetition(world, said, names, seed, progress).items():
            found[key].append(100 * value)
    values: dict[str, dict[str, dict[str, Published]]] = defaultdict(lambda: defaultdict(dict))
    for (row, name, measure), of in found.items():
        if not run.rows or row in run.rows:
            values[row][name][measure] = Published(float(np.mean(of)), float(np.std(of)))
    notes = [f"{int((~world.held_out).sum()):,} images learnt from, {int(world.held_out.sum()):,} "
             f"others asked about; {n_repetitions} repetitions"]  # fmt: skip
    return Made(values, [*notes, *_gains(found, list(values))], is_comparable=False)


def _gains(found: Mapping[tuple[str, str, str], Sequence[float]], rows: Sequence[str]) -> list[str]:
    """Say by how much a Combiner is better than image + text, on the same templates each time."""
    notes = []
    for row in rows:
        for name in (COMBINER, WITH_SAME):
            ours, theirs = (found.get((row, one, "R@1"), ()) for one in (name, BOTH))
            if not theirs or len(ours) < 2:
                continue
            gain = np.subtract(ours, theirs)
            error = float(gain.std(ddof=1) / len(gain) ** 0.5)
            notes.append(f"{row}, R@1 of {name} less {BOTH}: {gain.mean():+.2f}, "
                         f"standard error {error:.2f}")  # fmt: skip
    return notes


def _world(said: Mapping[str, Any], run: Run, progress: Progress) -> _World:
    path = run.folder / "metadata.csv"
    assert run.space is not None  # noqa: S101 - `make` has refused it
    space = TextSpace.load(run.space)
    try:
        known = read_metadata(path.read_bytes(), path.name, with_products=False).rows
        encoder = load_encoder(str(space.card["encoder_spec"]))
        vectors = picture_vectors(
            list(known), lambda name: (run.folder / name).read_bytes(), run.model or said["model"],
            run, progress,
        )  # fmt: skip
    except (BackboneError, MetadataError) as problem:
        raise InputError(str(problem)) from problem
    if encoder.fingerprint != space.card["encoder"]:
        raise InputError(f"{run.space} was learnt with another {encoder.spec} than is installed")
    columns = [said["subject"], *said["columns"]]
    attributes = read_attributes([row.attributes for row in known.values()], columns)
    rows = tuple(CatalogRow(name, row.product_id or None, row.attributes)
                 for name, row in known.items())  # fmt: skip
    held_out = held_out_groups([row.product or "" for row in rows], int(space.card["seed"]))
    return _World(rows, attributes, space.images.apply(vectors), held_out, space, encoder)


def _repetition(
    world: _World, said: Mapping[str, Any], names: Sequence[str], seed: int, progress: Progress
) -> dict[tuple[str, str, str], float]:
    asked = {row: _templates(world, said, task, seed) for row, task in TASKS.items()}
    texts = _Texts(world)
    texts.add(condition for of in asked.values() for condition, _ in of)
    found = {}
    for name in names:
        progress.note(f"{name}, seed {seed}")
        composers = _composers(name, world, texts, said, seed)
        for row, of in asked.items():
            score = score_composer(
                composers[row], world.vectors, tasks=[one.task for _, one in of],
                rows=[[world.row_of[view.image] for view in (one.reference, *one.candidates())]
                      for _, one in of],
                conditions=[condition for condition, _ in of],
                answers=[int(one.answer or 0) for _, one in of],
            )  # fmt: skip
            for k, value in score.average.items():
                found[row, name, f"R@{k}"] = value
        for k in score.average:
            of_rows = [found[row, name, f"R@{k}"] for row in TASKS]
            found[AVERAGE, name, f"R@{k}"] = float(np.mean(of_rows))
    return found


class _Texts:
    """Vectors of conditions, each read once."""

    def __init__(self, world: _World) -> None:
        self._world, self._vectors = world, dict[str, Float32s]()

    def add(self, conditions: Iterable[str]) -> None:
        new = sorted(set(conditions) - self._vectors.keys())
        if new:
            vectors = self._world.read([PHRASES.text.format(one) for one in new])
            self._vectors.update(zip(new, vectors, strict=True))

    def __call__(self, condition: str) -> Float32s:
        return self._vectors[condition]


def _templates(
    world: _World, said: Mapping[str, Any], task: Task, seed: int
) -> list[tuple[str, RetrievalTemplate]]:
    """Draw templates of a task on products that were held out, with conditions as captions say.

    As many of each attribute, as far as there are.
    """
    rows = [row for row, is_asked in zip(world.rows, world.held_out, strict=True) if is_asked]
    facts = catalog_instances(
        rows, same=[Column(said["subject"])], columns=[Column(name) for name in said["columns"]]
    )
    table = AttributeTable.of(facts.instances, facts.types, facts.texts)
    limits = Limits(said["n_templates"] // len(said["columns"]), None, None)
    found = []
    for name in said["columns"]:
        if task is Task.FOCUS_ATTRIBUTE:
            built = build_focus_attribute(table, limits, seed, source="catalog", types=[name])
            found += [(PHRASES.same.format(name), one) for one in built.templates]
        else:
            built = build_change_attribute(table, limits, seed, source="catalog", types=[name])
            found += [(PHRASES.value.format(name, one.condition), one) for one in built.templates]
    if not found:
        raise Refused("templates", f"none of {task.value} can be drawn: too few images or values")
    return found


def _composers(
    name: str, world: _World, texts: _Texts, said: Mapping[str, Any], seed: int
) -> dict[str, Composer]:
    if name == SPECIFIC:
        return {FOCUS: _of_values(world), CHANGE: _of_objects(world, said["subject"])}
    composer: Composer
    if name in (COMBINER, WITH_SAME):
        combiner = _trained(world, said, seed, texts, with_same=name == WITH_SAME)
        composer = CombinerComposer(combiner, texts)
    else:
        baselines = {IMAGE: "image", TEXT: "text", BOTH: "image_text"}
        composer = BaselineComposer(baselines[name], texts)  # type: ignore[arg-type]
    return dict.fromkeys(TASKS, composer)


def _trained(
    world: _World, said: Mapping[str, Any], seed: int, texts: _Texts, *, with_same: bool
) -> TrainedCombiner:
    rows = catalog_rows(world.attributes, said["subject"], ~world.held_out, PHRASES)
    named, _ = mined_triplets(rows, said["n_learnt"], seed)
    if with_same:
        named += same_value_triplets(
            rows, world.attributes.columns, said["n_learnt"] // 2, seed, PHRASES
        )
    row_of = {str(row): row for row in range(len(world.vectors))}
    triplets = ComposedTriplets.of(named, row_of)
    texts.add(triplets.conditions)
    widths = Widths(world.vectors.shape[1], said["projection"], said["hidden"], said["dropout"])
    training = CombinerTraining(said["epochs"], said["batch"], said["rate"], said["scale"], seed)
    learner = CombinerLearner(
        world.vectors, np.stack([texts(one) for one in triplets.conditions]), triplets, widths,
        training,
    )  # fmt: skip
    return fit_combiner(learner, {"space": world.space.images.fingerprint})


def _of_values(world: _World) -> ValueComposer:
    return ValueComposer({
        PHRASES.same.format(name): world.read(
            [PHRASES.text.format(PHRASES.value.format(name, value)) for value in values]
        )
        for name, values in zip(world.attributes.columns, world.attributes.values, strict=True)
    })  # fmt: skip


def _of_objects(world: _World, subject: str) -> ObjectComposer:
    names = world.attributes.values[world.attributes.columns.index(subject)]
    said = {one: PHRASES.text.format(PHRASES.value.format(subject, one)) for one in names}
    read: dict[tuple[str, str], Float32s] = {}

    def both(name: str, condition: str) -> Float32s:
        if (name, condition) not in read:
            text = f"{said[name]}, {PHRASES.text.format(condition)}"
            read[name, condition] = world.read([text])[0]
        return read[name, condition]

    return ObjectComposer(names, world.read(list(said.values())), both)

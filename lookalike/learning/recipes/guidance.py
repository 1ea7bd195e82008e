"""Embeddings learnt from classes with and without language, on images of known attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from lookalike.backbones.errors import BackboneError
from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Bools, Float32s, Floats
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.io.errors import InputError
from lookalike.learning.engine.fitting import fit
from lookalike.learning.language.imagenet import as_probabilities
from lookalike.learning.language.sources import LanguageSource, load_language
from lookalike.learning.metric.classes import Classes
from lookalike.learning.metric.language import Language, name_language, pseudolabel_language
from lookalike.learning.metric.scores import class_scores
from lookalike.learning.metric.training import Guidance, MetricLearner, MetricSettings
from lookalike.learning.recipes.recipe import Recipe
from lookalike.learning.recipes.repetitions import Repetitions
from lookalike.learning.recipes.runners import Made, Run
from lookalike.learning.recipes.vectors import picture_vectors

NAMES, PSEUDOLABELS, OF_IMAGES = "names", "pseudolabels", "pseudolabels of images"
LEFT = "KL left"  # of that without language
Method = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class _World:
    """Images with classes and products, and what reads words."""

    vectors: Float32s
    classes: Classes
    products: list[str]
    probabilities: Floats | None
    encoder: LanguageSource
    learnt: Bools
    asked: Bools
    read: dict[tuple[str, int, str], Language] = field(default_factory=dict)

    @cached_property
    def languages(self) -> dict[str, Language]:
        """Words by which embeddings are measured."""
        found = {NAMES: self.words({"words": NAMES})}
        if self.probabilities is not None:
            found[PSEUDOLABELS] = self.words({"words": PSEUDOLABELS})
        return found

    def words(self, method: Method) -> Language:
        """Return the words that guide a method; they are read once."""
        kind, k = method["words"], method.get("k", 5)
        mean_of = method.get("mean_of", "probabilities")
        key = (kind, k, mean_of)
        if key not in self.read:
            if kind == NAMES:
                self.read[key] = name_language(self.classes.names, self.encoder)
            elif self.probabilities is not None:
                self.read[key] = pseudolabel_language(
                    self.probabilities, self.classes.codes, self.encoder, k,
                    of_images=kind == OF_IMAGES, mean_of=mean_of,
                )  # fmt: skip
            else:
                raise Refused("words", "pseudolabels need a classifier of the pictures")
        return self.read[key]


def make(recipe: Recipe, run: Run, progress: Progress) -> Made:
    """Return each method's measures on classes that it has not seen, over repetitions.

    Raises:
        Refused: settings or data that cannot be used.
        InputError: a file or a model that cannot be used.
    """
    said = recipe.settings
    if run.model and run.vectors:
        raise Refused("model", "the vectors are made already; leave out either")
    rows = {row: dict(said["rows"][row]) for row in run.rows or recipe.rows}
    known = list(dict.fromkeys(name for methods in rows.values() for name in methods))
    if unknown := [name for name in run.methods if name not in known]:
        raise Refused("methods", f"{unknown[0]!r} is none of {', '.join(known)}")
    if run.methods:
        rows = {row: {name: how for name, how in methods.items() if name in run.methods}
                for row, methods in rows.items()}  # fmt: skip
    world = _world(said, rows, run, progress)
    n_repetitions = run.repetitions or said["repetitions"]
    found = Repetitions()
    for seed in range(run.seed, run.seed + n_repetitions):
        once: dict[str, dict[str, float]] = {}  # what several rows compare with
        for row, methods in rows.items():
            scores = {}
            for name, how in methods.items():
                if (key := repr(how)) not in once:
                    progress.note(f"{name}, seed {seed}")
                    once[key] = _scores(world, {**said["training"], **how}, seed)
                scores[name] = dict(once[key])
            _add_shares(scores, methods)
            for name, values in scores.items():
                found.add(row, name, values)
    names = world.classes.codes
    notes = [
        f"{int(world.learnt.sum()):,} images of {len(set(names[world.learnt].tolist()))} classes "
        f"learnt from, {int(world.asked.sum()):,} of {len(set(names[world.asked].tolist()))} "
        f"others asked about; {n_repetitions} repetitions",
        "KL is times 100; KL left compares with the same objective without language",
    ]
    return Made(found.percent(), notes, is_comparable=False)


def _scores(world: _World, how: Method, seed: int) -> dict[str, float]:
    asked = np.flatnonzero(world.asked)
    vectors = unit_rows(world.vectors[asked])
    if "objective" in how:
        vectors = _learner(world, how, seed).apply(world.vectors[asked])
    products = [world.products[row] for row in asked]
    return class_scores(vectors, world.classes.codes[asked], products, world.languages, seed)


def _learner(world: _World, how: Method, seed: int) -> Any:
    rows = np.flatnonzero(world.learnt)
    language = world.words(how).among(rows) if "words" in how else None
    settings = _part(MetricSettings, how, seed=seed)
    learner = MetricLearner(
        world.vectors[rows], Classes(world.classes.names, world.classes.codes[rows]),
        settings, language, _part(Guidance, how),
    )  # fmt: skip
    fit(learner, settings.steps)
    return learner.projection()


def _part(kind: type[T], how: Method, **more: Any) -> T:
    """Return the settings of a kind that a method says."""
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in how.items() if name in names}, **more)


def _add_shares(scores: dict[str, dict[str, float]], methods: Mapping[str, Method]) -> None:
    """Add how much of the divergence is left, beside the same objective without language."""
    alone = {how["objective"]: scores[name] for name, how in methods.items()
             if "objective" in how and "words" not in how}  # fmt: skip
    for name, how in methods.items():
        if "words" in how and how["objective"] in alone:
            before = alone[how["objective"]]
            for language in (NAMES, PSEUDOLABELS):
                if (measure := f"KL to {language}") in before:
                    scores[name][f"{LEFT}, {language}"] = scores[name][measure] / before[measure]


def _world(
    said: Mapping[str, Any], rows: Mapping[str, Mapping[str, Method]], run: Run, progress: Progress
) -> _World:
    path = run.folder / "metadata.csv"
    try:
        known = read_metadata(path.read_bytes(), path.name, with_products=False).rows
        paths = list(known)
        classes = Classes.of(
            [_class_name(row.attributes, said["columns"]) for row in known.values()]
        )
        learnt, asked = (classes.within(tuple(said[part])) for part in ("learnt", "asked"))

        def read(name: str) -> bytes:
            return (run.folder / name).read_bytes()

        spec = run.model or said["model"]
        vectors = picture_vectors(paths, read, spec, run, progress)
        probabilities = None
        if _words_of(rows) - {NAMES}:
            own = Run(run.folder, device=run.device)  # its file has other vectors
            found = picture_vectors(paths, read, said["classifier"], own, progress)
            probabilities = as_probabilities(found)
        encoder = load_language(said["encoder"])
    except (BackboneError, MetadataError) as problem:
        raise InputError(str(problem)) from problem
    products = [row.product_id for row in known.values()]
    return _World(vectors, classes, products, probabilities, encoder, learnt, asked)


def _words_of(rows: Mapping[str, Mapping[str, Method]]) -> set[str]:
    """Return the words that guide some method.

    Raises:
        Refused: words that are not known.
    """
    found = {
        how["words"] for methods in rows.values() for how in methods.values() if "words" in how
    }
    if unknown := sorted(found - {NAMES, PSEUDOLABELS, OF_IMAGES}):
        raise Refused("words", f"{unknown[0]!r} are no words that guide")
    return found


def _class_name(attributes: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return the values of columns as words, "" where one is not known."""
    values = [attributes.get(name, "") for name in columns]
    return " ".join(values) if all(values) else ""

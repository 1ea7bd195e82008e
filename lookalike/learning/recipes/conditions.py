"""Tables of networks for several conditions next to one embedding, on images with attributes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lookalike.backbones.errors import BackboneError
from lookalike.backbones.protocol import unit_rows
from lookalike.conditional.criterion import measure, seen_by
from lookalike.core.arrays import Bools, Float32s, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.io.errors import InputError
from lookalike.learning.conditions.diagnosis import sort_triplets
from lookalike.learning.conditions.networks import Architecture
from lookalike.learning.conditions.training import ConditionLearner, Training, fit_conditions
from lookalike.learning.conditions.triplets import (
    ConditionTriplets,
    draw_conditions,
    half_reversed,
)
from lookalike.learning.engine.determinism import stream
from lookalike.learning.held_out import held_out_groups, usual_unit
from lookalike.learning.language.encoders import encode_prompts, load_encoder
from lookalike.learning.lit.captions import UNKNOWN, Attributes, read_attributes
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.notions.closed_forms import span_weight
from lookalike.learning.recipes.condition_variants import (
    NEED_A_SPACE,
    NETWORKS,
    PROMPTS,
    SINGLE,
    SPACE,
    Variant,
    list_variants,
)
from lookalike.learning.recipes.recipe import Published, Recipe
from lookalike.learning.recipes.runners import Made, Run
from lookalike.learning.recipes.vectors import picture_vectors

ROW = "drawn catalog"


@dataclass(frozen=True)
class _World:
    """Images, what is known of them, and their vectors in a text space if there is one."""

    vectors: Float32s
    attributes: Attributes
    products: Sequence[str]
    held_out: Bools
    space: TextSpace | None
    in_space: Float32s | None
    n_halves: int

    @property
    def codes(self) -> dict[str, Ints]:
        """Values by attribute, or by binary attribute where the table asks for these."""
        codes = {name: self.attributes.codes[:, n] for n, name in
                 enumerate(self.attributes.columns)}  # fmt: skip
        if not self.n_halves:
            return codes
        return {
            f"{name} {number + 1}": halved(of, number)
            for name, of in codes.items()
            for number in range(self.n_halves)
        }


def halved(codes: Ints, number: int) -> Ints:
    """Return a binary attribute: the values of an attribute, dealt into two halves.

    Values are taken by how many images have them. Each number deals them otherwise: by ones, by
    twos, by fours.

    >>> halved(np.array([0, 0, 0, 1, 1, 2, UNKNOWN]), 0).tolist()
    [0, 0, 0, 1, 1, 0, -1]

    Args:
        codes: number of each image's value, UNKNOWN where there is none.
        number: of the deal, from 0.
    """
    values, counts = np.unique(codes[codes != UNKNOWN], return_counts=True)
    place = np.empty(int(codes.max()) + 1, np.int64)
    place[values[np.argsort(-counts, kind="stable")]] = np.arange(len(values))
    return np.where(codes == UNKNOWN, UNKNOWN, (place[codes] >> number) & 1)


def make(recipe: Recipe, run: Run, progress: Progress) -> Made:
    """Return each network's criterion, over repetitions with another seed each.

    Where a row has choices, the validation part makes them in the first repetition: images of
    products that are neither learned from nor asked about. Those products are left out of what
    all rows learn from.

    Raises:
        Refused: settings or data that cannot be used.
        InputError: a file or a model that cannot be used.
    """
    settings = recipe.settings
    variants = list_variants(settings, run)
    if run.model and run.vectors:
        raise Refused("model", "the vectors are made already; leave out either")
    world = _world(settings, run, progress)
    validation = _validation(world, run.seed) if settings.get("choices") else None
    learnt = ~world.held_out if validation is None else ~world.held_out & ~validation
    notes = [f"{int(learnt.sum()):,} images learned from, {int(world.held_out.sum()):,} others "
             f"asked about; held out: {usual_unit(world.products)}"]  # fmt: skip
    if validation is not None:
        notes[0] += f"; {int(validation.sum()):,} further images choose settings"
        for name, variant in variants.items():
            if variant.choices:
                progress.note(f"choosing settings of {name}")
                changes = _choice(world, variant, learnt, validation, run.seed)
                variants[name] = variant.chosen(changes)
                notes.append(f"{name}: chosen on validation triplets: {_in_words(changes)}")
    n_repetitions = run.repetitions or settings["repetitions"]
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in range(run.seed, run.seed + n_repetitions):
        for name, variant in variants.items():
            progress.note(f"{name}, seed {seed}")
            measures = _measures(world, variant, learnt, world.held_out, seed)
            for key, value in measures.items():
                found[name][key].append(100 * float(value))
    values = {
        name: {key: Published(float(np.mean(of)), float(np.std(of))) for key, of in scores.items()}
        for name, scores in found.items()
    }
    notes.append(f"{n_repetitions} repetitions")
    if run.space is None:
        notes.append(f"without --space there is no {', '.join(NEED_A_SPACE)}")
    return Made({ROW: values}, notes, is_comparable=False)


def _validation(world: _World, seed: int) -> Bools:
    groups = [f"validation {product or row}" for row, product in enumerate(world.products)]
    chosen: Bools = held_out_groups(groups, seed) & ~world.held_out
    return chosen


def _choice(
    world: _World, variant: Variant, learnt: Bools, validation: Bools, seed: int
) -> Mapping[str, Any]:
    """Return the choice with the highest OT accuracy on the validation part, the first of equals.

    Raises:
        Refused: as `ConditionLearner`.
    """
    scores = [
        _measures(world, variant.chosen(one), learnt, validation, seed)["OT"]
        for one in variant.choices
    ]
    return variant.choices[int(np.argmax(scores))]


def _in_words(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in changes.items())


def _world(said: Mapping[str, Any], run: Run, progress: Progress) -> _World:
    path = run.folder / "metadata.csv"
    try:
        known = read_metadata(path.read_bytes(), path.name, with_products=False).rows
        vectors = picture_vectors(
            list(known), lambda name: (run.folder / name).read_bytes(), run.model or said["model"],
            run, progress,
        )  # fmt: skip
    except (BackboneError, MetadataError) as problem:
        raise InputError(str(problem)) from problem
    space = TextSpace.load(run.space) if run.space else None
    captions = dict(space.card.get("templates", {})) if space else {}
    columns = list(said["columns"])
    attributes = read_attributes(
        [row.attributes for row in known.values()],
        columns,
        {name: text for name, text in captions.items() if name in columns},
    )
    seed = int(space.card["seed"]) if space else run.seed
    products = [row.product_id for row in known.values()]
    held_out = held_out_groups(products, seed)
    return _World(
        _scaled(unit_rows(vectors), held_out), attributes, products, held_out, space,
        space.images.apply(vectors) if space else None, int(said.get("n_halves", 0)),
    )  # fmt: skip


def _scaled(vectors: Float32s, held_out: Bools) -> Float32s:
    """Let each number vary alike over the images that are learnt from."""
    learnt = vectors[~held_out]
    return np.asarray((vectors - learnt.mean(axis=0)) / (learnt.std(axis=0) + 1e-4), np.float32)


def _measures(
    world: _World, variant: Variant, learnt_images: Bools, asked_images: Bools, seed: int
) -> dict[str, float]:
    said = variant.settings
    draw = partial(draw_conditions, world.codes, seed=seed)
    learnt = draw(learnt_images, said["n_learnt"], purpose="learnt")
    asked = draw(asked_images, said["n_asked"], purpose="asked")
    table = asked.table(half_reversed(asked, stream(seed, "reversed")))
    rows = np.array([int(name) for name in table.images])
    embeddings = _embeddings(variant, world, learnt, seed)
    metric = NETWORKS[variant.method].metric if variant.method in NETWORKS else "cosine"
    seen = [seen_by(table, f"embedding {n + 1}", of[rows], metric)
            for n, of in enumerate(embeddings)]  # fmt: skip
    criterion = measure(table, seen, seed)
    found = {"OT": criterion.alignment.ot, "greedy": criterion.alignment.greedy}
    if said.get("is_diagnosed"):
        both = criterion.reversed.explained_both_ways
        return found | {"either way": both} | _sorting(embeddings, asked)
    by_condition = criterion.alignment.by_condition
    return found | dict(zip(criterion.conditions, by_condition.tolist(), strict=True))


def _sorting(embeddings: Float32s, asked: ConditionTriplets) -> dict[str, float]:
    """Return how well triplets can be told apart: by their order, and among those of a batch."""
    by_order, in_batch = (sort_triplets(embeddings, asked, is_by_order=by) for by in (True, False))
    return {
        "used": by_order.n_used / len(embeddings),
        "sorted by order": by_order.right, "sorted in batch": in_batch.right,
    }  # fmt: skip


def _embeddings(variant: Variant, world: _World, learnt: ConditionTriplets, seed: int) -> Float32s:
    name, said = variant.method, variant.settings
    training = Training(said["epochs"], said["batch"], said["rate"], seed)
    if name in NETWORKS:
        n_conditions = said.get("n_conditions", len(learnt.names))
        changes = variant.network_changes
        network = replace(NETWORKS[name], n_conditions=n_conditions, **changes)
        learner = ConditionLearner(world.vectors, learnt, network, training)
        if said.get("begins_with") == SINGLE:
            single = ConditionLearner(world.vectors, learnt, NETWORKS[SINGLE], training)
            fit_conditions(single)
            learner.network.body.load_state_dict(single.network.body.state_dict())
        return fit_conditions(learner)
    if world.space is None or world.in_space is None:
        raise Refused("space", f"{name} needs a text space")
    if name == SPACE:
        return world.in_space[None]
    encoder = load_encoder(str(world.space.card["encoder_spec"]))
    spans = []
    for place in range(len(world.attributes.columns)):
        prompts = encode_prompts(encoder, world.attributes.texts(place))
        W = span_weight(world.space.texts.apply(prompts), said["dim_of_prompts"])
        spans.append(W.T @ W)
    if name == PROMPTS:
        return np.stack([unit_rows(world.in_space @ span) for span in spans])
    n_in = world.in_space.shape[1]
    network = Architecture("DiscoverNet", len(spans), n_in, 0)
    slow = Training(said["epochs"], said["batch"], said["rate"] / 10, seed)
    return fit_conditions(ConditionLearner(world.in_space, learnt, network, slow, np.stack(spans)))

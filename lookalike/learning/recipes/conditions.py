"""Networks for several conditions beside one embedding, on images whose attributes are known."""

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
from lookalike.learning.language.encoders import encode_prompts, load_encoder
from lookalike.learning.lit.captions import Attributes, read_attributes
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.lit.training import held_out_groups
from lookalike.learning.notions.closed_forms import span_weight
from lookalike.learning.recipes.recipe import Published, Recipe
from lookalike.learning.recipes.runners import Made, Run
from lookalike.learning.recipes.vectors import picture_vectors

ROW = "drawn catalog"
SINGLE = "single embedding"
NETWORKS: dict[str, Architecture] = {
    SINGLE: Architecture("single"),
    "CSN": Architecture("CSN"),
    "mixture": Architecture("mixture"),
    "mixture by order": Architecture("mixture", is_by_order=True),
    "LSN": Architecture("LSN"),
    "SCE-Net": Architecture("SCE-Net"),
    "DiscoverNet-Set": Architecture("DiscoverNet"),
    "DiscoverNet-Set, frozen branch": Architecture("DiscoverNet", is_branch_trained=False),
    "DiscoverNet-Set, residual": Architecture("DiscoverNet", is_residual=True),
    "DiscoverNet-Set, masks": Architecture("DiscoverNet", is_masked=True),
    "DiscoverNet-Reg": Architecture("DiscoverNet", branch="regularised"),
    "DiscoverNet, concatenation": Architecture("DiscoverNet", branch="concatenation"),
    "DiscoverNet, LSTM": Architecture("DiscoverNet", branch="lstm"),
    "DiscoverNet, attention": Architecture("DiscoverNet", branch="attention"),
}
SPACE, PROMPTS, FROM_PROMPTS = "text space", "heads of prompts", "DiscoverNet-Set from prompts"
NEED_A_SPACE = (SPACE, PROMPTS, FROM_PROMPTS)
CHANGES = ("n_learnt", "epochs", "rate", "n_conditions", "begins_with")  # of a variant


@dataclass(frozen=True)
class _Variant:
    """A method, trained as all are or otherwise.

    Attributes:
        method: of NETWORKS or NEED_A_SPACE.
        said: the settings of the table, with what is changed.
    """

    method: str
    said: Mapping[str, Any]


@dataclass(frozen=True)
class _World:
    """Images, what is known of them, and their vectors in a text space if there is one."""

    vectors: Float32s
    attributes: Attributes
    held_out: Bools
    space: TextSpace | None
    in_space: Float32s | None

    @property
    def codes(self) -> dict[str, Ints]:
        """Values by attribute."""
        return {name: self.attributes.codes[:, n] for n, name in enumerate(self.attributes.columns)}


def make(recipe: Recipe, run: Run, progress: Progress) -> Made:
    """Return each network's criterion, over repetitions with another seed each.

    Raises:
        Refused: settings or data that cannot be used.
        InputError: a file or a model that cannot be used.
    """
    said = recipe.settings
    variants = _variants(said, run)
    if run.model and run.vectors:
        raise Refused("model", "the vectors are made already; leave out either")
    world = _world(said, run, progress)
    n_repetitions = run.repetitions or said["repetitions"]
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in range(run.seed, run.seed + n_repetitions):
        for name, variant in variants.items():
            progress.note(f"{name}, seed {seed}")
            for key, value in _measures(world, variant, seed).items():
                found[name][key].append(100 * float(value))
    values = {
        name: {key: Published(float(np.mean(of)), float(np.std(of))) for key, of in scores.items()}
        for name, scores in found.items()
    }
    notes = [f"{int((~world.held_out).sum()):,} images learnt from, {int(world.held_out.sum()):,} "
             f"others asked about; {n_repetitions} repetitions"]  # fmt: skip
    if run.space is None:
        notes.append(f"without --space there is no {', '.join(NEED_A_SPACE)}")
    return Made({ROW: values}, notes, is_comparable=False)


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
    held_out = held_out_groups([row.product_id for row in known.values()], seed)
    return _World(
        _scaled(unit_rows(vectors), held_out), attributes, held_out, space,
        space.images.apply(vectors) if space else None,
    )  # fmt: skip


def _scaled(vectors: Float32s, held_out: Bools) -> Float32s:
    """Let each number vary alike over the images that are learnt from."""
    learnt = vectors[~held_out]
    return np.asarray((vectors - learnt.mean(axis=0)) / (learnt.std(axis=0) + 1e-4), np.float32)


def _variants(said: Mapping[str, Any], run: Run) -> dict[str, _Variant]:
    """Return the rows of the table by their names; the single embedding is one of them.

    Raises:
        Refused: a method is not known, or needs a space.
    """
    listed = {name: _Variant(name, said) for name in [*NETWORKS, *NEED_A_SPACE]}
    for own in said.get("variants", ()):
        changes = {name: own[name] for name in CHANGES if name in own}
        listed[own["name"]] = _Variant(own["method"], {**said, **changes})
    known = [name for name, of in listed.items() if run.space or of.method not in NEED_A_SPACE]
    usual = [*said["methods"], *(own["name"] for own in said.get("variants", ())), *NEED_A_SPACE]
    names = list(run.methods) or [name for name in usual if name in known]
    if unknown := [name for name in names if name not in known]:
        hint = "needs --space" if unknown[0] in NEED_A_SPACE else f"is none of {', '.join(known)}"
        raise Refused("methods", f"{unknown[0]!r} {hint}")
    if SINGLE not in names:
        names.insert(0, SINGLE)  # what every row has to beat
    return _with_numbers({name: listed[name] for name in names}, run.conditions)


def _with_numbers(variants: dict[str, _Variant], numbers: Sequence[int]) -> dict[str, _Variant]:
    """Put a row for each number of conditions in the place of each method that guesses them."""
    if not numbers:
        return variants
    if min(numbers) < 1:
        raise Refused("conditions", "each number is at least 1")
    found = {}
    for name, variant in variants.items():
        if variant.method in (*NEED_A_SPACE, SINGLE, "CSN"):
            found[name] = variant
            continue
        for K in numbers:
            said = {**variant.said, "n_conditions": K}
            found[f"{name}, K = {K}"] = _Variant(variant.method, said)
    return found


def _measures(world: _World, variant: _Variant, seed: int) -> dict[str, float]:
    said = variant.said
    draw = partial(draw_conditions, world.codes, seed=seed)
    learnt = draw(~world.held_out, said["n_learnt"], purpose="learnt")
    asked = draw(world.held_out, said["n_asked"], purpose="asked")
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


def _embeddings(variant: _Variant, world: _World, learnt: ConditionTriplets, seed: int) -> Float32s:
    name, said = variant.method, variant.said
    training = Training(said["epochs"], said["batch"], said["rate"], seed)
    if name in NETWORKS:
        n_conditions = said.get("n_conditions", len(learnt.names))
        network = replace(NETWORKS[name], n_conditions=n_conditions)
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

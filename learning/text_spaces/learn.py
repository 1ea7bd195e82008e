"""Learn a text space. Only tasks and commands import this: it loads torch."""

from __future__ import annotations

import numpy as np

from catalog.vectors.projections import write_layers
from learning.material import Material
from learning.models import TextSpace
from learning.runs.work import RunWork
from learning.text_spaces.recipes import SpaceRecipe
from learning.text_vectors import ready_encoder
from lookalike.core.arrays import Float32s
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.core.errors import Refused
from lookalike.learning.held_out import held_out_groups, usual_unit
from lookalike.learning.language.encoders import SENTENCE, TextEncoder
from lookalike.learning.lit.captions import Attributes, read_attributes
from lookalike.learning.lit.space import TextSpace as Heads
from lookalike.learning.lit.space import zero_shot
from lookalike.learning.lit.training import (
    LitRun,
    LitSettings,
    train_text_space,
)
from lookalike.learning.notions.closed_forms import raw
from lookalike.learning.projection import Layers


def learn_text_space(work: RunWork, material: Material) -> None:
    """Learn a text space, or go on with it, and store it.

    Raises:
        Refused: there is nothing to learn from.
        JobError: the text encoder cannot be loaded.
        JobLostError: the job was cancelled or taken over.
    """
    recipe = from_json(SpaceRecipe, work.run.recipe)
    work.progress.start(0, None, "Loading the text encoder", is_long=True)
    encoder = ready_encoder(SENTENCE if recipe.is_learned else recipe.parent)
    learned = (_trained if recipe.is_learned else _as_it_is)(recipe, work, material, encoder)
    texts_sha256 = write_layers(learned.space.texts)
    figures = {
        "n_seen": learned.n_seen, "n_held_out": learned.n_held_out,
        "held_out": {"unit": usual_unit(material.products)},
        "attributes": as_json(learned.scores),
    }  # fmt: skip
    seen = material.ids[learned.seen].tolist()
    with work.stored(figures):
        TextSpace.objects.create(
            run=work.run, projection=work.store(learned.space.images, material, seen),
            encoder_spec=encoder.spec, encoder_fingerprint=encoder.fingerprint,
            texts_sha256=texts_sha256,
        )  # fmt: skip


def _trained(
    recipe: SpaceRecipe, work: RunWork, material: Material, encoder: TextEncoder
) -> LitRun:
    columns = read_attributes(material.rows, recipe.columns).columns
    return train_text_space(
        material.vectors, read_attributes(material.rows, (), recipe.captions), material.products,
        encoder, work.folder, parent=material.parent.fingerprint, captioned=columns,
        settings=LitSettings(epochs=recipe.epochs, seed=recipe.seed),
        on_checkpoint=work.at_checkpoint, progress=work.progress,
    )  # fmt: skip


def _as_it_is(
    recipe: SpaceRecipe, _work: RunWork, material: Material, encoder: TextEncoder
) -> LitRun:
    """Return a CLIP-like model's own space, with nothing learned and nothing seen."""
    card = {"method": "as it is", "parent": material.parent.fingerprint,
            "encoder": encoder.fingerprint, "encoder_spec": encoder.spec}  # fmt: skip
    heads = Heads(*(Layers(raw(material.parent.dim).n_in, (), card) for _ in range(2)))
    held_out = held_out_groups(material.products, recipe.seed)
    try:
        attributes = read_attributes(material.rows, (), recipe.captions)
    except Refused:  # no attribute: nothing to measure it by
        return LitRun(heads, [], np.empty(0, np.int64), int(held_out.sum()))
    texts = _captions(attributes, encoder)
    scores = zero_shot(heads.images.apply(material.vectors), attributes, texts, held_out, ())
    return LitRun(heads, scores, np.empty(0, np.int64), int(held_out.sum()))


def _captions(attributes: Attributes, encoder: TextEncoder) -> dict[str, Float32s]:
    return {
        name: encoder.encode(attributes.texts(place))
        for place, name in enumerate(attributes.columns)
    }

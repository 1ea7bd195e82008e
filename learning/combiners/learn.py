"""Learn a Combiner. Only tasks and commands import this: it loads torch."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.text import slugify

from audit.actions import Action
from audit.services import record
from catalog.vectors.projections import read_layers, write_layers
from jobs.services import JobError
from learning.combiners.recipes import CatalogCombiner
from learning.material import Material
from learning.models import TextSpace
from learning.runs.work import RunWork
from learning.text_vectors import space_encoder
from lookalike.core.arrays import Float32s
from lookalike.core.dataclass_json import from_json
from lookalike.learning.compose.catalog_combiner import (
    ComposedImages,
    LearntCombiner,
)
from lookalike.learning.compose.catalog_combiner import (
    learn_combiner as learn,
)
from lookalike.learning.fixed_condition import FixedCondition
from lookalike.learning.held_out import held_out_groups, usual_unit
from lookalike.learning.lit.captions import Attributes, read_attributes
from lookalike.learning.projection import Layers


def learn_combiner(work: RunWork, material: Material) -> None:
    """Learn a Combiner, or go on with it, and store it with a head for each attribute.

    The model itself is the pictures in its text space; a head is what is looked for under “of the
    same COLUMN”.

    Raises:
        Refused: there is nothing to learn, a loss is no number, or the text space was deleted.
        JobError: the text encoder, or the pictures' vectors, are not those of the space any more.
        JobLostError: the job was cancelled or taken over.
    """
    recipe = from_json(CatalogCombiner, work.run.recipe)
    space = recipe.text_space
    if space.projection.parent_fingerprint != material.parent.fingerprint:
        raise JobError(
            f"“{space}” maps other vectors by {recipe.parent} than are made here; install those "
            "weights again, or learn the space anew."
        )
    images = read_layers(space.projection.sha256)
    known = _known(recipe, space, images, material)
    learnt = learn(
        known, recipe, work.folder, on_checkpoint=work.at_checkpoint, progress=work.progress
    )
    columns = known.attributes.columns, known.attributes.values
    card = {
        **learnt.combiner.card, "space": space.projection.fingerprint, "texts": space.texts_sha256,
        "encoder_spec": space.encoder_spec, "encoder": space.encoder_fingerprint,
        "values": {name: list(of) for name, of in zip(*columns, strict=True)},
    }  # fmt: skip
    card["combiner"] = write_layers(learnt.combiner)
    seen = {*material.ids[learnt.seen].tolist(), *space.projection.seen_image_ids}
    figures = {
        "n_seen": len(seen), "n_held_out": int(known.held_out.sum()),
        "held_out": {"unit": usual_unit(material.products)},
        "found": {name: list(values) for name, values in learnt.found.items()},
    }  # fmt: skip
    with work.stored(figures):
        made = work.store(Layers(images.n_in, images.layers, card, images.slope), material, seen)
        for name, head in _heads(learnt, images).items():
            work.store(head, material, seen, head=slugify(name), name=name.capitalize())
        record(None, Action.COMBINER_MADE, made, spec=made.spec)


def _known(
    recipe: CatalogCombiner, space: TextSpace, images: Layers, material: Material
) -> ComposedImages:
    """Return the pictures in the space; held out is what the space has not read of either."""
    encoder, texts = space_encoder(space), read_layers(space.texts_sha256)

    def read(said: Sequence[str]) -> Float32s:
        return texts.apply(encoder.encode(said))

    attributes: Attributes = read_attributes(material.rows, [recipe.subject, *recipe.columns])
    held_out = held_out_groups(material.products, int(images.card.get("seed", recipe.seed)))
    return ComposedImages(
        images.apply(material.vectors), attributes, material.products, held_out, read
    )


def _heads(learnt: LearntCombiner, images: Layers) -> dict[str, FixedCondition]:
    layers = learnt.combiner.layers
    return {
        name: FixedCondition(images, text, layers, {**learnt.combiner.card, "condition": name})
        for name, text in learnt.conditions.items()
    }

"""Learn a text space. Only tasks and commands import this: it loads torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from catalog.vectors.projections import derive_set, store_projection, write_layers
from jobs.services import JobError, JobProgress
from learning.material import Material, material_of
from learning.models import TextSpace, TrainingRun
from learning.reading import full_memory_named, ready_encoder
from learning.text_spaces.checkpoints import checkpoint_folder, drop_checkpoints
from learning.text_spaces.recipes import SpaceRecipe
from lookalike.core.arrays import Float32s
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.core.errors import Refused
from lookalike.learning.engine.loop import CURVE
from lookalike.learning.language.encoders import SENTENCE, TextEncoder
from lookalike.learning.lit.captions import Attributes, read_attributes
from lookalike.learning.lit.space import TextSpace as Heads
from lookalike.learning.lit.space import zero_shot
from lookalike.learning.lit.training import (
    LitRun,
    LitSettings,
    held_out_groups,
    train_text_space,
)
from lookalike.learning.notions.closed_forms import raw
from lookalike.learning.projection import Layers
from pooling.embedding.embed import embed_by

CURVE_POINTS = 200


@full_memory_named()
def learn_text_space(*, run_id: int, progress: JobProgress) -> dict[str, Any]:
    """Learn what a run asks for, or go on with it, and store it; may run twice.

    Raises:
        JobError: the run was deleted, or its catalog cannot be embedded or learned from.
        JobLostError: the job was cancelled or taken over.
    """
    run = TrainingRun.objects.select_related("catalog").filter(pk=run_id).first()
    if run is None:
        raise JobError("The text space was deleted.")
    TrainingRun.objects.filter(pk=run_id).update(job=progress.job)
    space = TextSpace.objects.filter(run=run).select_related("projection").first()
    if space is None:
        recipe = from_json(SpaceRecipe, run.recipe)
        (parent,) = embed_by(recipe.parent, [run.catalog], progress)
        material = material_of(parent)
        progress.start(0, None, "Loading the text encoder", is_long=True)
        encoder = ready_encoder(SENTENCE if recipe.is_learned else recipe.parent)
        folder = checkpoint_folder(run) / material.sha256[:16]  # newer data begin anew
        learned = (_trained if recipe.is_learned else _as_it_is)(
            recipe, material, encoder, folder, progress
        )
        progress.hold()
        space = _store(run, learned, material, encoder, _curve(folder))
        drop_checkpoints(run)
    (parent,) = embed_by(space.projection.parent_spec, [run.catalog], progress)
    derive_set(parent=parent, projection=space.projection, progress=progress)
    run.refresh_from_db()
    return {"space": space.slug, "model": space.projection.spec, **run.figures}


def _trained(
    recipe: SpaceRecipe, material: Material, encoder: TextEncoder, folder: Path,
    progress: JobProgress,
) -> LitRun:  # fmt: skip
    columns = read_attributes(material.rows, recipe.columns).columns
    return train_text_space(
        material.vectors, read_attributes(material.rows, (), recipe.captions), material.products,
        encoder, folder, parent=material.parent.fingerprint, captioned=columns,
        settings=LitSettings(epochs=recipe.epochs, seed=recipe.seed),
        on_checkpoint=progress.forgive, progress=progress,
    )  # fmt: skip


def _as_it_is(
    recipe: SpaceRecipe, material: Material, encoder: TextEncoder, _folder: Path,
    _progress: JobProgress,
) -> LitRun:  # fmt: skip
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


def _store(
    run: TrainingRun, learned: LitRun, material: Material, encoder: TextEncoder,
    curve: list[list[float]],
) -> TextSpace:  # fmt: skip
    texts_sha256 = write_layers(learned.space.texts)
    with transaction.atomic():
        projection = store_projection(
            slug=run.slug, name=run.name, layers=learned.space.images, parent=material.parent,
            seen_image_ids=material.ids[learned.seen].tolist(),
        )  # fmt: skip
        run.figures = {
            "n_seen": learned.n_seen,
            "n_held_out": learned.n_held_out,
            "attributes": as_json(learned.scores),
        }
        run.curve, run.finished_at = curve, timezone.now()
        run.save(update_fields=["figures", "curve", "finished_at"])
        return TextSpace.objects.create(
            run=run, projection=projection, encoder_spec=encoder.spec,
            encoder_fingerprint=encoder.fingerprint, texts_sha256=texts_sha256,
        )  # fmt: skip


def _curve(folder: Path) -> list[list[float]]:
    """Return steps and losses, thinned out; none where nothing was trained."""
    path = folder / CURVE
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    step = max(1, len(lines) // CURVE_POINTS)
    return [[line["step"], line["loss"]] for line in lines[::step]]

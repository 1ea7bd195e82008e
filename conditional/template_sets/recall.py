"""Look at the pictures of a set of templates with a model, and score what it finds.

May load torch: only tasks and commands import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import torch
from django.conf import settings
from PIL import Image as Picture

from catalog.images.blobs import read_blob
from catalog.models import Image
from catalog.vectors.embeddings import load_vectors
from catalog.vectors.projections import (
    find_projection,
    layers_path,
    read_layers,
    read_projection,
)
from conditional.models import TemplateScore, TemplateSet
from conditional.template_sets.recall_services import (
    NOTIONS,
    find_vectors,
    known_model,
    learned_name,
    named_notions,
    store_composed,
    store_scores,
)
from jobs.services import JobError, JobProgress
from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import best_device
from lookalike.conditional.crops import Dilation, crop_view
from lookalike.conditional.template_scores import Baseline
from lookalike.conditional.types import Box
from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.images.decode import read_rgb
from lookalike.learning.compose.catalog_combiner import condition_text, said_condition
from lookalike.learning.compose.combiner import TrainedCombiner
from lookalike.learning.compose.composers import BaselineComposer, CombinerComposer
from lookalike.learning.conditions.composer import Composer, NotionComposer
from lookalike.learning.language.encoders import load_encoder

if TYPE_CHECKING:
    from lookalike.backbones.clip_models import ClipModel

View = tuple[int, tuple[float, ...] | None]  # image id, box


def score_model(*, template_set_id: int, model: str, progress: JobProgress) -> dict[str, Any]:
    """Score a model on every template of a set; may run twice.

    Raises:
        JobError: the set was deleted, the model cannot be loaded, or a picture cannot be read.
        JobLostError: the job was cancelled or taken over.
    """
    template_set = TemplateSet.objects.select_related("catalog").filter(pk=template_set_id).first()
    if template_set is None:
        raise JobError("The set was deleted.")
    model = known_model(template_set, model)
    templates = list(template_set.templates.order_by("position"))
    row_of: dict[View, int] = {}
    rows = [
        [
            row_of.setdefault((pk, tuple(box) if box else None), len(row_of))
            for pk, box in (
                (one.reference_id, one.box_of(None)),
                *((pk, one.box_of(place)) for place, pk in enumerate(one.candidates)),
            )
        ]
        for one in templates
    ]
    if lonely := [one.position for one, row in zip(templates, rows, strict=True) if len(row) < 3]:
        raise JobError(
            f"Entry {lonely[0]} has nothing to choose from beside its target; import the file "
            "again with the list of its split's images."
        )
    conditions = [one.condition for one in templates]
    try:
        if model.startswith("open_clip:"):
            shown = (list(row_of), template_set.crops)
            views, texts = _seen_by_clip(model, *shown, conditions, progress)
        elif learned_name(model):
            answer = _by_notions if model.startswith(NOTIONS) else _by_combiner
            return _result(
                template_set, model, answer(template_set, model, row_of, rows, conditions)
            )
        else:
            views, texts = _stored(template_set, model, list(row_of)), None
        scores = store_scores(
            template_set=template_set, model=model, views=views, rows=rows, texts=texts
        )
    except ValueError as problem:
        raise JobError(f"{model}: {problem}") from problem
    return _result(template_set, model, scores)


def _result(
    template_set: TemplateSet, model: str, scores: Sequence[TemplateScore]
) -> dict[str, Any]:
    return {
        "set": template_set.slug,
        "model": model,
        "templates": template_set.templates.count(),
        "scores": [
            {"baseline": one.baseline, "is_normalised": one.is_normalised, **one.figures}
            for one in scores
        ],
    }


def _by_notions(
    template_set: TemplateSet, model: str, views: Mapping[View, int],
    rows: Sequence[Sequence[int]], conditions: Sequence[str],
) -> list[TemplateScore]:  # fmt: skip
    """Compare images by the notion of the condition; by the text space where there is none."""
    space = find_projection(learned_name(model))
    notions = named_notions(template_set, model)
    vectors = _stored(template_set, space.parent_spec, list(views)).astype(np.float32)
    composer = NotionComposer(
        {condition: read_projection(one.sha256) for condition, one in notions.items()},
        otherwise=read_projection(space.sha256),
    )
    return [store_composed(
        template_set=template_set, model=model, views=vectors, rows=rows, conditions=conditions,
        composer=composer,
    )]  # fmt: skip


def _by_combiner(
    template_set: TemplateSet, model: str, views: Mapping[View, int],
    rows: Sequence[Sequence[int]], conditions: Sequence[str],
) -> list[TemplateScore]:  # fmt: skip
    """Look for what a Combiner makes of image and condition, beside what it has to beat."""
    made = find_projection(learned_name(model))
    card = made.card
    try:
        encoder = load_encoder(card["encoder_spec"])
    except BackboneError as problem:
        raise JobError(str(problem)) from problem
    if encoder.fingerprint != card["encoder"]:
        raise JobError(
            f"{model} was learned with another {encoder.spec} than is installed; learn it anew."
        )
    said = list(dict.fromkeys(conditions))
    texts = encoder.encode([condition_text(said_condition(one, card["values"])) for one in said])
    vectors = dict(zip(said, read_layers(card["texts"]).apply(texts), strict=True))
    combiner = TrainedCombiner.load(layers_path(card["combiner"]))
    composers: dict[str, Composer] = {
        **{name: BaselineComposer(name, vectors.__getitem__) for name in get_args(Baseline)},
        "combiner": CombinerComposer(combiner, vectors.__getitem__),
    }
    images = _stored(template_set, made.parent_spec, list(views)).astype(np.float32)
    in_space = read_layers(made.sha256).apply(images)
    return [
        store_composed(
            template_set=template_set,
            model=model,
            views=in_space,
            rows=rows,
            conditions=conditions,
            composer=composer,
            baseline=name,
        )
        for name, composer in composers.items()
    ]


def _stored(template_set: TemplateSet, spec: str, views: Sequence[View]) -> Floats:
    """Return the vectors of whole images from an embedding set."""
    embedding_set = find_vectors(template_set, spec)
    if embedding_set is None:
        raise Refused("model", f"the vectors of {spec} were deleted; embed again.")
    image_ids, vectors = load_vectors(embedding_set)
    row_of = {int(pk): row for row, pk in enumerate(image_ids)}
    missing = sum(pk not in row_of for pk, _ in views)
    if missing:
        raise JobError(f"{spec} has no vector of {missing:,} images; embed the catalog again.")
    return np.array([vectors[row_of[pk]] for pk, _ in views], np.float64)


def _seen_by_clip(
    spec: str,
    views: Sequence[View],
    how: Dilation,
    conditions: Sequence[str],
    progress: JobProgress,
) -> tuple[Floats, Floats]:
    """Return the raw features of views, and of the conditions of all templates."""
    progress.start(0, None, f"{spec}: loading the model", is_long=True)
    device = torch.device(settings.WORKER_DEVICE) if settings.WORKER_DEVICE else best_device()
    try:
        from lookalike.backbones.clip_models import load_clip  # noqa: PLC0415 - 300 MB, seconds

        clip = load_clip(spec, device)
    except BackboneError as problem:
        raise JobError(str(problem)) from problem
    progress.start(0, len(views), f"{spec}: looking at the pictures")
    shas = dict(Image.objects.filter(pk__in={pk for pk, _ in views}).values_list("pk", "sha256"))
    seen = []
    for start in range(0, len(views), clip.batch_size):
        part = views[start : start + clip.batch_size]
        seen.append(clip.of_images([_picture(shas[pk], box, how) for pk, box in part]))
        progress.update(start + len(part))
    distinct, at = np.unique(np.array(conditions), return_inverse=True)
    return np.concatenate(seen).astype(np.float64), _texts(clip, distinct.tolist())[at]


def _texts(clip: ClipModel, texts: Sequence[str]) -> Floats:
    parts = [
        clip.of_texts(texts[start : start + clip.batch_size])
        for start in range(0, len(texts), clip.batch_size)
    ]
    return np.concatenate(parts).astype(np.float64)


def _picture(sha256: str, box: tuple[float, ...] | None, how: Dilation) -> Picture.Image:
    try:
        whole = read_rgb(read_blob(sha256, "original"))
    except (OSError, ValueError) as problem:
        raise JobError(f"image {sha256}: cannot be read: {problem}") from problem
    return crop_view(whole, Box(*box) if box else None, how)

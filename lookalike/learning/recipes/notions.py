"""Tables of InDiReCT: notions on a published data set, by every method of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import load_backbone
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.images.layouts.layout import LayoutImage
from lookalike.images.layouts.read import LAYOUTS
from lookalike.images.named_colours import CSS_COLOURS
from lookalike.images.sources import Source, SourceError
from lookalike.io.errors import InputError
from lookalike.learning.language.encoders import TextEncoder, encode_prompts, load_encoder
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.notions.prompts import prompts_from_values, prompts_from_words
from lookalike.learning.notions.scoring import METHODS, Task, score_notion
from lookalike.learning.recipes.recipe import Published, Recipe
from lookalike.learning.recipes.runners import Made, Run
from lookalike.learning.recipes.vectors import picture_vectors, stored_vectors

Where = Mapping[str, str]


@dataclass(frozen=True)
class _Images:
    """Images of a data set, in the order of its lists: those asked about, and all there are."""

    asked: Sequence[LayoutImage]
    all: Sequence[LayoutImage]


@dataclass(frozen=True)
class _Model:
    """What reads texts, and what is done to the vectors of both."""

    encoder: TextEncoder
    space: TextSpace | None


def make(recipe: Recipe, run: Run, progress: Progress) -> Made:
    """Return every method's measures on each notion.

    Raises:
        Refused: settings or data that cannot be used.
        InputError: a list, a picture or a model that cannot be used.
    """
    said = recipe.settings
    spec = run.model or said["model"]
    if run.space is not None and run.vectors is None:
        raise Refused("vectors", "a text space needs the vectors that it maps: give their file")
    try:
        with LAYOUTS[said["layout"]].open(run.folder, None) as source:
            images = _images(said, source)
            paths = [image.path for image in images.asked]
            if run.vectors is None:
                vectors, made_by = picture_vectors(paths, source.read, spec, run, progress), None
            else:
                vectors, made_by = stored_vectors(paths, run.vectors)
        model = _model(spec, run)
        reason = _why_not_comparable(run, spec, said["model"], made_by)
    except (BackboneError, SourceError) as problem:
        raise InputError(str(problem)) from problem
    if model.space is not None:
        vectors = model.space.images.apply(vectors)
    n_repetitions = run.repetitions or said["repetitions"]
    values = {}
    for notion in said["notions"]:
        if run.rows and notion["name"] not in run.rows:
            continue
        task = _task(notion, images, vectors, model, run.folder)
        scores = score_notion(
            task, said["dim"], n_repetitions=n_repetitions, seed=run.seed, progress=progress,
            methods=[name for name in run.methods or METHODS if _fits(name, task, said["dim"])],
        )  # fmt: skip
        values[task.name] = {
            one.method: {
                measure: Published(100 * score.mean, 100 * score.std)
                for measure, score in one.scores.items()
            }
            for one in scores
        }
    notes = [f"{len(images.asked):,} images"]
    return Made(values, [*notes, reason] if reason else notes, is_comparable=not reason)


def _why_not_comparable(run: Run, spec: str, published: str, made_by: str | None) -> str:
    """Return why no number can be judged, "" if all can be.

    Args:
        run: which model was asked for.
        spec: of the model that ran.
        published: spec of the paper's model.
        made_by: fingerprint in the file of vectors, "" if it has none; None without a file.

    Raises:
        BackboneError: the paper's model, whose fingerprint decides, cannot be loaded.
    """
    if run.model is not None or run.space is not None:
        return f"made with {run.space or spec} where the paper took {published}"
    if made_by is None:
        return ""
    remedy = f"`lookalike embed --model {published}` writes it"
    if not made_by:
        return f"not judged: {run.vectors} has no fingerprint of the model; {remedy}"
    if made_by != load_backbone(published, run.device).fingerprint:
        return f"not judged: another model than {published} made {run.vectors}; {remedy}"
    return ""


def _fits(method: str, task: Task, dim: int) -> bool:
    """Whether the paper has a method: PCA needs more prompts than directions."""
    return method != "PCA" or len(task.prompts) > dim


def _images(said: Mapping[str, Any], source: Source) -> _Images:
    every = list(LAYOUTS[said["layout"]].read(source).images.values())
    asked = _meeting(every, said.get("where", {}))
    if column := said.get("file_name_begins_with"):
        names = tuple({image.attributes[column] for image in asked})
        asked = [one for one in asked if PurePosixPath(one.path).name.startswith(names)]
    asked = asked[: said.get("first")]
    if len(asked) < 2:
        raise Refused(
            "data", f"{source.name} holds {len(asked)} of the images that are asked about"
        )
    return _Images(asked, every)


def _meeting(images: Sequence[LayoutImage], where: Where) -> list[LayoutImage]:
    return [
        image
        for image in images
        if all(image.attributes.get(name) == value for name, value in where.items())
    ]


def _model(spec: str, run: Run) -> _Model:
    if run.space is None:
        return _Model(load_encoder(spec, run.device or "cpu"), None)
    space = TextSpace.load(run.space)
    return _Model(load_encoder(str(space.card["encoder_spec"])), space)


def _task(
    notion: Mapping[str, Any], images: _Images, vectors: Float32s, model: _Model, folder: Path
) -> Task:
    column = notion["column"]
    rows = [row for row, image in enumerate(images.asked) if image.attributes.get(column)]
    values = [images.asked[row].attributes[column] for row in rows]
    words = _words(notion["prompts"], images, folder)
    texts = (prompts_from_words if words else prompts_from_values)(
        words or values, notion["template"]
    ).texts
    prompts = encode_prompts(model.encoder, texts)
    if model.space is not None:
        prompts = model.space.texts.apply(prompts)
    labels = np.unique(values, return_inverse=True)[1] if values else np.empty(0, np.int64)
    return Task(notion["name"], vectors[rows], labels.astype(np.int64), prompts)


def _words(prompts: Mapping[str, Any], images: _Images, folder: Path) -> list[str]:
    """Return what differs in the prompts; from lists each once, without the lists' underscores."""
    match prompts:
        case {"file": name}:
            path = next(folder.rglob(name))
            lines = path.read_text(encoding="utf-8").splitlines()
            words = [line.strip() for line in lines if line.strip()]
        case {"names": "css"}:
            words = list(CSS_COLOURS)
        case {"words": given}:
            words = list(given)
        case {"values": column, **rest}:
            where: Where = rest.get("where", {})
            some = _meeting(images.all, where) if where else images.asked
            words = [image.attributes[column] for image in some if image.attributes.get(column)]
        case _:
            raise Refused("prompts", f"{prompts} say no prompts")
    return list(dict.fromkeys(word.replace("_", " ") for word in words))

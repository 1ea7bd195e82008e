"""Tables of GeneCIS: what a CLIP-like model finds by image, by text and by half of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from lookalike.backbones.clip_models import ClipModel, load_clip
from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import best_device
from lookalike.conditional.crops import crop_view
from lookalike.conditional.formats.cirr import read_cirr
from lookalike.conditional.formats.genecis import read_genecis
from lookalike.conditional.template_scores import (
    Baseline,
    baseline_queries,
    candidate_scores,
    score_templates,
)
from lookalike.conditional.types import RetrievalTemplate, Task, View
from lookalike.core.arrays import Float32s, Floats
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.images.decode import PictureError, read_rgb
from lookalike.images.layouts.read import LAYOUTS
from lookalike.images.sources import Source, SourceError, UnreadableFileError, open_source
from lookalike.io.errors import InputError
from lookalike.learning.compose.retrieval import (
    Composed,
    changed_states,
    named_targets,
    score_composed,
)
from lookalike.learning.recipes.recipe import Published, Recipe
from lookalike.learning.recipes.runners import Made, Run

BASELINES: dict[str, Baseline] = {
    "image only": "image", "text only": "text", "image + text": "image_text",
}  # fmt: skip
Recalls = Mapping[int, float]


@dataclass(frozen=True)
class _Asked:
    """What a table asks, of pictures that a model has still to see.

    Attributes:
        views: which pictures, or what of them.
        references: rows of `views`, one for each query.
        conditions: of the queries.
        recall: from queries and features of the views to Recall@k.
    """

    views: Sequence[View]
    references: Sequence[int]
    conditions: Sequence[str]
    recall: Callable[[Floats, Float32s], Recalls]


def make(recipe: Recipe, run: Run, progress: Progress) -> Made:
    """Return the recall of the baselines on each row of a table.

    Raises:
        Refused: settings or data that cannot be used.
        InputError: a list, a picture or a model that cannot be used.
    """
    said = recipe.settings
    if run.space or run.vectors:
        raise Refused("vectors", "raw features of both towers are compared: give --model alone")
    if unknown := [name for name in run.methods if name not in BASELINES]:
        raise Refused("methods", f"{unknown[0]!r} is none of {', '.join(BASELINES)}")
    ask = {"genecis": _genecis, "cirr": _cirr, "mit-states": _mit_states}[said["data"]]
    values: dict[str, dict[str, dict[str, Published]]] = {}
    try:
        with open_source(run.folder, None) as source:
            clip = load_clip(run.model or said["model"], _device(run))
            for row in run.rows or recipe.rows:
                asked = ask(source, run, row)
                progress.start(0, len(asked.views), f"{row}: looking at the pictures")
                features = _features(clip, source, asked.views, progress)
                values[row] = _scores(clip, asked, features, run.methods or tuple(BASELINES))
    except (BackboneError, SourceError, UnreadableFileError) as problem:
        raise InputError(str(problem)) from problem
    is_comparable = run.model is None and bool(said.get("is_comparable", True))
    return Made(values, is_comparable=is_comparable)


def _scores(
    clip: ClipModel, asked: _Asked, features: Float32s, methods: Sequence[str]
) -> dict[str, dict[str, Published]]:
    distinct, at = np.unique(np.array(asked.conditions), return_inverse=True)
    size = clip.batch_size
    parts = [distinct[start : start + size].tolist() for start in range(0, len(distinct), size)]
    texts = np.concatenate([clip.of_texts(part) for part in parts])[at]
    found = {}
    for name in methods:
        queries = baseline_queries(features[list(asked.references)], texts, BASELINES[name])
        recall = asked.recall(queries, features)
        found[name] = {f"R@{k}": Published(100 * value) for k, value in recall.items()}
    return found


def _genecis(source: Source, run: Run, row: str) -> _Asked:
    task = Task(row.replace(" ", "_"))
    entries = read_genecis(run.folder / _found(source.others, f"{task.value}.json"), task)
    templates = _usable(entries.templates, entries.malformed)
    is_coco = task in (Task.FOCUS_OBJECT, Task.CHANGE_OBJECT)
    path_of = {PurePosixPath(path).name: path for path in source.paths}
    place: dict[tuple[str, object], int] = {}
    views: list[View] = []
    rows = []
    for template in templates:
        seen = (template.reference, *template.candidates(len(template.gallery)))
        for view in seen:
            key = (view.image, view.box)
            if key not in place:
                name = f"{int(view.image):012d}.jpg" if is_coco else f"{view.image}.jpg"
                if name not in path_of:
                    raise InputError(f"{source.name}: {name}, which {row} shows, is not there")
                place[key] = len(views)
                views.append(View(path_of[name], view.box))
        rows.append([place[view.image, view.box] for view in seen])
    answers = [len(template.gallery) for template in templates]

    def recall(queries: Floats, features: Float32s) -> Recalls:
        candidates = [np.array(one[1:]) for one in rows]
        scores = candidate_scores(queries, features, candidates)
        return score_templates([task] * len(rows), scores, answers).average

    return _Asked(views, [one[0] for one in rows], [one.condition for one in templates], recall)


def _cirr(source: Source, run: Run, _row: str) -> _Asked:
    images = [
        one for one in LAYOUTS["cirr"].read(source).images.values()
        if one.attributes.get("split") == "val"
    ]  # fmt: skip
    entries = read_cirr(run.folder / _found(source.others, "cap.rc2.val.json"))
    row_of = {one.attributes["name"]: row for row, one in enumerate(images)}
    named = [(one.reference.image, one.target.image, one.condition)
             for one in _usable(entries.templates, entries.malformed)]  # fmt: skip
    return _among_all([one.path for one in images], named_targets(named, row_of))


def _mit_states(source: Source, _run: Run, _row: str) -> _Asked:
    images = list(LAYOUTS["mit-states"].read(source).images.values())
    rows, asked = changed_states(
        [one.attributes["class"] for one in images],
        [one.attributes.get("state", "") for one in images],
    )
    return _among_all([images[row].path for row in rows], asked)


def _among_all(paths: Sequence[str], asked: Composed) -> _Asked:
    def recall(queries: Floats, features: Float32s) -> Recalls:
        return score_composed(queries, features, asked)

    return _Asked([View(path) for path in paths], asked.references.tolist(), asked.conditions,
                  recall)  # fmt: skip


def _usable(
    templates: Sequence[RetrievalTemplate], malformed: Sequence[object]
) -> Sequence[RetrievalTemplate]:
    if malformed:
        raise InputError(f"{len(malformed):,} entries cannot be used; the first: {malformed[0]}")
    return templates


def _found(paths: Sequence[str], name: str) -> str:
    return next(path for path in paths if PurePosixPath(path).name == name)


def _features(
    clip: ClipModel, source: Source, views: Sequence[View], progress: Progress
) -> Float32s:
    parts: list[NDArray[np.float32]] = []
    for start in range(0, len(views), clip.batch_size):
        batch = views[start : start + clip.batch_size]
        parts.append(clip.of_images([_picture(source, view) for view in batch]))
        progress.update(start + len(batch))
    return np.concatenate(parts)


def _picture(source: Source, view: View) -> Image.Image:
    try:
        whole = read_rgb(source.read(view.image))
    except PictureError as problem:
        raise InputError(f"{view.image} cannot be read: {problem}") from problem
    return crop_view(whole, view.box, "paper")


def _device(run: Run) -> torch.device:
    return torch.device(run.device) if run.device else best_device()

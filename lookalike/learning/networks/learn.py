"""Train a network on a catalog's pictures, and say what it does on products held out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from safetensors.torch import save

from lookalike.backbones.embed import embed_images
from lookalike.backbones.loading import best_device, load_backbone
from lookalike.backbones.spec import Source as Family
from lookalike.backbones.spec import Spec, SpecError, parse_spec
from lookalike.backbones.timm_models import file_network, own_side, timm_network, timm_pixels
from lookalike.core.arrays import Float32s, Ints
from lookalike.core.atomic_files import write_atomically
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.images.sources import Source
from lookalike.learning.embeddings.learn import share_right, words_that_guide
from lookalike.learning.embeddings.recipe import PRODUCT, PSEUDOLABELS
from lookalike.learning.engine.loop import train
from lookalike.learning.held_out import held_out_groups
from lookalike.learning.language.imagenet import as_probabilities
from lookalike.learning.language.sources import LanguageSource
from lookalike.learning.metric.classes import Classes
from lookalike.learning.networks.pictures import LearntPictures
from lookalike.learning.networks.settings import NetworkSettings
from lookalike.learning.networks.training import NetworkLearner, Trial

FILE = "network.safetensors"


@dataclass(frozen=True)
class CatalogPictures:
    """Pictures and what is known of them.

    Attributes:
        source: has the files.
        paths: of the pictures in it.
        rows: attributes of each.
        products: of each, "" where it is not known.
    """

    source: Source
    paths: Sequence[str]
    rows: Sequence[Mapping[str, str]]
    products: Sequence[str]

    def labels(self, columns: Sequence[str]) -> list[str]:
        """Return the class of each image, those that agree in all columns; "" for none.

        Raises:
            Refused: no image has one of a column.
        """
        values = [
            list(self.products) if name == PRODUCT else [row.get(name, "") for row in self.rows]
            for name in columns
        ]
        for name, of in zip(columns, values, strict=True):
            if not any(of):
                raise Refused("columns", f"no image has {name!r}")
        return [" ".join(of) if all(of) else "" for of in zip(*values, strict=True)]


@dataclass(frozen=True)
class LearntNetwork:
    """What came of it.

    Attributes:
        spec: of the file, as `load_backbone` and pools take it.
        own_side: pixels of a picture's side, as that spec has it.
        best_step: steps that the weights have seen; 0 if nothing was better than the start.
        n_learnt: images that it learnt from.
        n_trial: images by which the best step was chosen.
        n_held_out: images of products that neither has seen.
        alone: classes of one image, which were left out.
        found: how often the nearest image held out is right, by the model as it was and by the
            file, as pools embed with them; None where that is never asked.
    """

    spec: str
    own_side: int
    best_step: int
    n_learnt: int
    n_trial: int
    n_held_out: int
    alone: Sequence[str]
    found: tuple[float | None, float | None]


@dataclass(frozen=True)
class _Parts:
    """Rows to learn from, to choose by and to ask about, and classes of one image."""

    learnt: Ints
    trial: Ints
    held_out: Ints
    alone: list[str]


def learn_network(
    images: CatalogPictures,
    columns: Sequence[str],
    settings: NetworkSettings,
    folder: Path,
    *,
    language: LanguageSource | None = None,
    device: str | None = None,
    progress: Progress = SILENT,
) -> LearntNetwork:
    """Train a network, or go on with it.

    Args:
        images: of the catalog; a fifth of the products is held out, a fifth of the others
            chooses the best step.
        columns: attributes, or "product": images that agree in all are of one class.
        settings: how.
        folder: of this run alone, for its checkpoint, its curve and the weights.
        language: reads the words that guide; pseudolabels are the model's own.
        device: where it computes; None takes the GPU if there is one.
        progress: told the steps.

    Raises:
        Refused: pictures, classes or settings that cannot be used, words without what reads them,
            a loss that is no number, or a folder of another run.
        BackboneError: the model cannot be loaded, or has no classes for pseudolabels.
        OSError: the disk is full.
    """
    labels, name = images.labels(columns), " and ".join(columns)
    parts = _parts(labels, images.products, images.paths, settings.seed)
    model, spec = _network(settings.model)
    # pictures as the file will get them: without a tag, as its architecture has it
    as_file = timm.create_model(spec.model, pretrained=False)
    side = settings.image_size or own_side(as_file)
    pictures = LearntPictures(
        images.source, images.paths, timm_pixels(as_file, settings.model, side)[0], side,
        crop=settings.crop, seed=settings.seed,
    )  # fmt: skip
    classes = Classes.of([labels[row] for row in parts.learnt])
    trial = Trial(parts.trial, _of(labels, parts.trial), _of(images.products, parts.trial), name)
    probabilities = None
    if settings.words == PSEUDOLABELS:
        as_classes = _embedded(images, parts.learnt, f"{settings.model}@classes", device)
        probabilities = as_probabilities(as_classes)
    words = words_that_guide(settings.words, classes, language, probabilities)
    learner = NetworkLearner(
        model, pictures, parts.learnt, classes, settings, language=words,
        trial=trial if len(parts.trial) > 1 else None,
        device=torch.device(device) if device else best_device(),
    )  # fmt: skip
    progress.start(0, settings.steps, f"Learning from {len(parts.learnt):,} images")
    train(
        learner, folder, n_steps=settings.steps, every=settings.every,
        has_ended=lambda: learner.has_ended, progress=progress,
    )  # fmt: skip
    card = {"method": "network", **asdict(settings), "columns": list(columns),
            "language": language.spec if language else None, "best_step": learner.best_step,
            "data_sha256": learner.fingerprint}  # fmt: skip
    content = save(learner.weights(), {"lookalike": json.dumps(card, sort_keys=True)})
    write_atomically(folder / FILE, lambda file: file.write(content))
    made = f"file:{folder / FILE}?arch={spec.model}"
    before, after = (_score(images, parts.held_out, labels, name, of, device=device)
                     for of in (settings.model, made))  # fmt: skip
    return LearntNetwork(
        made, own_side(as_file), learner.best_step, len(parts.learnt), len(parts.trial),
        len(parts.held_out), parts.alone, (before, after),
    )  # fmt: skip


def _parts(
    labels: Sequence[str], products: Sequence[str], paths: Sequence[str], seed: int
) -> _Parts:
    groups = [product or path for product, path in zip(products, paths, strict=True)]
    held_out = held_out_groups(groups, seed)
    trial = held_out_groups([f"trial {group}" for group in groups], seed) & ~held_out
    has_label = np.array([bool(label) for label in labels])
    learnt = np.flatnonzero(has_label & ~held_out & ~trial)
    sizes = Counter(labels[row] for row in learnt.tolist())
    kept = [row for row in learnt.tolist() if sizes[labels[row]] > 1]
    if not kept:
        raise Refused("columns", "no class has two images to learn from")
    return _Parts(
        np.array(kept), np.flatnonzero(trial & has_label), np.flatnonzero(held_out & has_label),
        sorted(name for name, size in sizes.items() if size == 1),
    )  # fmt: skip


def _network(model: str) -> tuple[Any, Spec]:
    """Return a network without its classifier, and its spec.

    Raises:
        BackboneError: it cannot be loaded.
    """
    spec = parse_spec(model)
    if spec.source not in {Family.TIMM, Family.FILE}:
        raise SpecError(f"{model!r}: only timm's models and files of weights for them can learn.")
    if spec.pooling or spec.precision or spec.stored:
        raise SpecError(f"{model!r}: name the model alone, without what stands behind the @.")
    found = timm_network(spec) if spec.source == Family.TIMM else file_network(spec)
    return found[0], spec


def _score(
    images: CatalogPictures, rows: Ints, labels: Sequence[str], name: str, spec: str, *,
    device: str | None,
) -> float | None:  # fmt: skip
    """Return how often the nearest of the images held out is right, as a pool would embed them."""
    if len(rows) < 2:
        return None
    vectors = _embedded(images, rows, spec, device)
    everything = np.ones(len(rows), np.bool_)
    return share_right(vectors, _of(labels, rows), _of(images.products, rows), everything, name)


def _embedded(images: CatalogPictures, rows: Ints, spec: str, device: str | None) -> Float32s:
    openers = [lambda path=images.paths[row]: BytesIO(images.source.read(path)) for row in rows]
    return embed_images(load_backbone(spec, device), openers)


def _of(values: Sequence[str], rows: Ints) -> list[str]:
    return [values[row] for row in rows]

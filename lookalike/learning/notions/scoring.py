"""The table of InDiReCT's paper for any images with classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from lookalike.core.arrays import Float32s, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.determinism import stream
from lookalike.learning.notions import closed_forms
from lookalike.learning.notions.autoencoders import autoencoder, linear_autoencoder, oracle
from lookalike.learning.notions.indirect import fit_indirect
from lookalike.metrics.classes import class_retrieval, cluster_agreement

MEASURES = ("P@1", "MAP@R", "R-Prec", "AMI", "NMI", "MAP", "MRR")


@dataclass(frozen=True)
class Task:
    """A notion, and images whose classes say what it means.

    Attributes:
        name: of the notion.
        images: shape (n, r), in the space of the prompts.
        labels: the images' classes, shape (n,).
        prompts: shape (n_prompts, r).
        groups: shape (n,), products whose pictures are no neighbours of each other; None if all
            pictures are.
    """

    name: str
    images: Float32s
    labels: Ints
    prompts: Float32s
    groups: Ints | None = None


@dataclass(frozen=True)
class Score:
    """A measure over the repetitions: mean, and population standard deviation."""

    mean: float
    std: float


@dataclass(frozen=True)
class NotionScores:
    """How well one method tells the classes of one notion apart.

    Attributes:
        notion: its name.
        method: one of METHODS.
        dim: of the vectors that were compared.
        n_prompts: from which it was fitted.
        n_images, n_classes: of the task.
        scores: by measure; NaN where no class has two images.
    """

    notion: str
    method: str
    dim: int
    n_prompts: int
    n_images: int
    n_classes: int
    scores: dict[str, Score]


Mapped = Callable[[Task, int, int], Float32s]  # of a task at (dim, seed)


def _random(task: Task, dim: int, seed: int) -> Float32s:
    return closed_forms.random_vectors(len(task.images), dim, stream(seed, "random vectors"))


def _raw(task: Task, _dim: int, _seed: int) -> Float32s:
    return closed_forms.raw(task.images.shape[1]).apply(task.images)


def _random_transformation(task: Task, dim: int, seed: int) -> Float32s:
    rng = stream(seed, "random transformation")
    n_in = task.images.shape[1]
    return closed_forms.random_transformation(n_in, dim, seed=seed, rng=rng).apply(task.images)


def _pca(task: Task, dim: int, _seed: int) -> Float32s:
    return closed_forms.principal_components(task.prompts, dim).apply(task.images)


def _span(task: Task, dim: int, _seed: int) -> Float32s:
    return closed_forms.prompt_span(task.prompts, dim).apply(task.images)


def _lae(task: Task, dim: int, seed: int) -> Float32s:
    return linear_autoencoder(task.prompts, dim, seed=seed).apply(task.images)


def _ae(task: Task, dim: int, seed: int) -> Float32s:
    return autoencoder(task.prompts, dim, seed=seed).apply(task.images)


def _indirect(task: Task, dim: int, seed: int) -> Float32s:
    return fit_indirect(task.prompts, dim, seed=seed).projection.apply(task.images)


def _oracle(task: Task, dim: int, seed: int) -> Float32s:
    return oracle(task.images, task.labels, dim, seed=seed).apply(task.images)


METHODS: dict[str, Mapped] = {
    "random": _random,
    "raw": _raw,
    "random transformation": _random_transformation,
    "PCA": _pca,
    "LAE": _lae,
    "AE": _ae,
    "span of the prompts": _span,
    "InDiReCT": _indirect,
    "oracle": _oracle,
}
FIXED = {"raw", "PCA", "span of the prompts"}  # the same for every seed


def score_notion(
    task: Task,
    dim: int,
    *,
    methods: Sequence[str] = tuple(METHODS),
    n_repetitions: int = 5,
    seed: int = 0,
    progress: Progress = SILENT,
) -> list[NotionScores]:
    """Return what each method makes of a notion.

    Source: Kobs et al. (WACV 2023), table 2 and its appendix. Unlike the paper's notebooks,
    every method gets vectors of length 1 and its output has length 1, too, so that all are
    compared by cosine. PCA and the span have fewer than `dim` directions where there are fewer
    prompts; `dim` of the result says how many.

    Args:
        task: notion, images, prompts.
        dim: r'.
        methods: of METHODS.
        n_repetitions: with the seeds from `seed` on, for the fit and for k-means.
        seed: the first.
        progress: told before each method.

    Raises:
        Refused: no such method, fewer than two classes or images, or a method refuses.
    """
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise Refused("methods", f"there is no {unknown[0]!r}, but {', '.join(METHODS)}")
    if n_repetitions < 1:
        raise Refused("repetitions", f"{n_repetitions} are none")
    if len(np.unique(task.labels)) < 2:
        raise Refused("attribute", f"{task.name!r} has one value in these images")
    seeds = range(seed, seed + n_repetitions)
    with threadpool_limits(1):  # so that k-means adds up in one order
        return [_scored(task, dim, name, seeds, progress) for name in methods]


def sweep_dims(
    task: Task, dims: Sequence[int], *, n_repetitions: int = 5, seed: int = 0
) -> list[NotionScores]:
    """Return InDiReCT's scores for several r'."""
    only = partial(score_notion, methods=["InDiReCT"], n_repetitions=n_repetitions, seed=seed)
    return [found for dim in dims for found in only(task, dim)]


def sweep_prompts(
    task: Task, counts: Sequence[int], dim: int, *, n_repetitions: int = 5, seed: int = 0
) -> list[NotionScores]:
    """Return InDiReCT's scores for random subsets of the prompts, another one each repetition.

    Counts that are not below the number of prompts are left out.

    Raises:
        Refused: a count below 2.
    """
    if any(count < 2 for count in counts):
        raise Refused("prompt counts", "a notion needs at least two prompts")
    found = []
    for count in (count for count in counts if count < len(task.prompts)):
        parts = []
        for number in range(seed, seed + n_repetitions):
            rows = stream(number, "prompts", count).permutation(len(task.prompts))[:count]
            part = replace(task, prompts=task.prompts[rows])
            parts += score_notion(part, dim, methods=["InDiReCT"], n_repetitions=1, seed=number)
        found.append(_joined(parts))
    return found


def _joined(parts: list[NotionScores]) -> NotionScores:
    first = parts[0]
    values = {name: [part.scores[name].mean for part in parts] for name in first.scores}
    return NotionScores(
        first.notion, first.method, first.dim, first.n_prompts, first.n_images, first.n_classes,
        {name: _score(of) for name, of in values.items()},
    )  # fmt: skip


def _scored(task: Task, dim: int, name: str, seeds: range, progress: Progress) -> NotionScores:
    values: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    mapped: Float32s = np.empty((0, 0), np.float32)
    for number in seeds:
        progress.note(f"{task.name}: {name}, seed {number}")
        if number == seeds.start or name not in FIXED:
            mapped = METHODS[name](task, dim, number)
            means = class_retrieval(mapped, task.labels, groups=task.groups).means()
        clusters = cluster_agreement(mapped, task.labels, seed=number, n_starts=1)
        values["AMI"].append(float(clusters.ami[0]))
        values["NMI"].append(float(clusters.nmi[0]))
        for measure in ("P@1", "MAP@R", "R-Prec", "MAP", "MRR"):
            values[measure].append(means[measure][0])
    return NotionScores(
        task.name, name, mapped.shape[1], len(task.prompts), len(task.images),
        len(np.unique(task.labels)), {measure: _score(of) for measure, of in values.items()},
    )  # fmt: skip


def _score(values: list[float]) -> Score:
    return Score(float(np.mean(values)), float(np.std(values)))

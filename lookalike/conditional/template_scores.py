"""Recall of templates with honest ties, and the three baselines of GeneCIS on given vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.types import Task
from lookalike.core.arrays import Floats, Ints
from lookalike.core.near_ties import are_tied

Ties = Literal["pessimistic", "expected", "optimistic"]
Baseline = Literal["image", "text", "image_text"]
CUTOFFS = (1, 2, 3)


@dataclass(frozen=True)
class Places:
    """Where the target stands among its candidates.

    Attributes:
        n_better: shape (n_templates,), candidates with a higher score than the target's.
        n_tied: shape (n_templates,), other candidates with the very same score.
        n_candidates: shape (n_templates,).
    """

    n_better: Ints
    n_tied: Ints
    n_candidates: Ints


@dataclass(frozen=True)
class TemplateScore:
    """Recall of a set of templates.

    Attributes:
        by_task: {task: {k: Recall@k}}.
        n_templates: {task: how many}.
        n_ties: {task: templates where another candidate has the target's score}.
        chance: {task: {k: what a constant or random scorer gets}}.
        average: {k: mean over tasks, each weighing the same}; GeneCIS reports it for k = 1.
    """

    by_task: Mapping[Task, Mapping[int, float]]
    n_templates: Mapping[Task, int]
    n_ties: Mapping[Task, int]
    chance: Mapping[Task, Mapping[int, float]]
    average: Mapping[int, float]


def rank_answers(scores: Sequence[Floats], answers: Sequence[int]) -> Places:
    """Count the candidates before and beside each target.

    Args:
        scores: for each template shape (n_candidates,), finite, higher is better.
        answers: for each template the target's place among its candidates.

    Raises:
        ValueError: a score that is not finite, an answer outside the candidates, or other
            numbers of scores and answers; with the template's place.
    """
    if len(scores) != len(answers):
        raise ValueError(f"scores of {len(scores)} templates, answers of {len(answers)}")
    better, tied, sizes = [], [], []
    for place, (row, answer) in enumerate(zip(scores, answers, strict=True)):
        if row.ndim != 1 or not 0 <= answer < row.size:
            raise ValueError(f"template {place}: {answer} is no place in scores of {row.shape}")
        if not np.isfinite(row).all():
            raise ValueError(f"template {place}: a score is NaN or infinite")
        is_tied = are_tied(row, row[answer])
        better.append(int(((row > row[answer]) & ~is_tied).sum()))
        tied.append(int(is_tied.sum()) - 1)
        sizes.append(row.size)
    return Places(*(np.array(column, np.int64) for column in (better, tied, sizes)))


def recall_at(k: int, places: Places, ties: Ties = "expected") -> Floats:
    """Return Recall@k of each template: 1 if the target is among the first k.

    The released evaluation of GeneCIS sorts with the target first, so that a constant scorer can
    reach 100%; that is `optimistic`. `pessimistic` puts the target behind its equals, `expected`
    (the default) is the mean over all orders of them, under which a constant scorer gets
    k / n_candidates.

    Args:
        k: at least 1.
        places: of the targets.
        ties: the rule.

    Returns:
        Shape (n_templates,), in [0, 1].

    Raises:
        ValueError: k below 1, or another rule.
    """
    if k < 1:
        raise ValueError(f"k is {k}, not at least 1")
    if ties == "optimistic":
        return (places.n_better < k).astype(np.float64)
    if ties == "pessimistic":
        return (places.n_better + places.n_tied < k).astype(np.float64)
    if ties != "expected":
        raise ValueError(f"ties are pessimistic, expected or optimistic, not {ties!r}")
    group = places.n_tied + 1
    share: Floats = np.clip(k - places.n_better, 0, group) / group
    return share


def score_templates(
    tasks: Sequence[Task],
    scores: Sequence[Floats],
    answers: Sequence[int],
    *,
    ties: Ties = "expected",
    cutoffs: Sequence[int] = CUTOFFS,
) -> TemplateScore:
    """Return Recall@k by task and its average over the tasks that occur.

    Args:
        tasks: of the templates.
        scores: as in `rank_answers`.
        answers: as in `rank_answers`.
        ties: the rule for equal scores.
        cutoffs: the k's.

    Raises:
        ValueError: no templates, other numbers of tasks, or as `rank_answers` and `recall_at`.
    """
    if not tasks or len(tasks) != len(scores):
        raise ValueError(f"{len(tasks)} tasks for scores of {len(scores)} templates")
    places = rank_answers(scores, answers)
    recalls = {k: recall_at(k, places, ties) for k in cutoffs}
    by_task, chance, n_templates, n_ties = {}, {}, {}, {}
    for task in sorted(set(tasks), key=list(Task).index):
        kept = np.array([one is task for one in tasks])
        sizes = places.n_candidates[kept]
        by_task[task] = {k: float(recalls[k][kept].mean()) for k in cutoffs}
        chance[task] = {k: float(np.minimum(k / sizes, 1).mean()) for k in cutoffs}
        n_templates[task] = int(kept.sum())
        n_ties[task] = int((places.n_tied[kept] > 0).sum())
    average = {k: float(np.mean([found[k] for found in by_task.values()])) for k in cutoffs}
    return TemplateScore(by_task, n_templates, n_ties, chance, average)


def baseline_queries(
    images: NDArray[np.floating],
    texts: NDArray[np.floating],
    baseline: Baseline,
    *,
    normalised: bool = False,
) -> Floats:
    """Combine the features of references and conditions as the baselines of GeneCIS do.

    Source: Vaze et al. (CVPR 2023), section 6. Their code averages raw features, whose lengths
    differ, so that it is no equal-angle average; `normalised` gives each feature length 1 first.

    Args:
        images: shape (n_templates, d), features of the references.
        texts: shape (n_templates, d), features of the conditions.
        baseline: image only, text only, or half of each.
        normalised: whether to combine directions instead of raw features.

    Returns:
        Shape (n_templates, d), each of length 1.

    Raises:
        ValueError: other shapes, or a combination of length 0 (it has no direction).
    """
    if images.ndim != 2 or images.shape != texts.shape:
        raise ValueError(f"images of shape {images.shape}, texts of shape {texts.shape}")
    image, text = images.astype(np.float64), texts.astype(np.float64)
    if baseline == "image":
        return unit(image)
    if baseline == "text":
        return unit(text)
    if normalised:
        image, text = unit(image), unit(text)
    return unit(0.5 * image + 0.5 * text)


def candidate_scores(
    queries: NDArray[np.floating], views: NDArray[np.floating], candidates: Sequence[Ints]
) -> list[Floats]:
    """Return the cosine of each template's query with each of its candidates.

    Args:
        queries: shape (n_templates, d).
        views: shape (n_views, d), features of all pictures that occur.
        candidates: for each template, rows of `views`.

    Returns:
        For each template shape (n_candidates,).

    Raises:
        ValueError: other numbers, or a vector of length 0 or with NaN.
    """
    if len(queries) != len(candidates):
        raise ValueError(f"{len(queries)} queries for {len(candidates)} templates")
    query, view = unit(queries), unit(views)
    return [
        np.einsum("ij,j->i", view[rows], vector)
        for rows, vector in zip(candidates, query, strict=True)
    ]


def unit(vectors: NDArray[np.floating]) -> Floats:
    """Return vectors of length 1, in float64.

    Raises:
        ValueError: a row of length 0, or with NaN or infinity.
    """
    wide = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if bad.size:
        raise ValueError(f"vector {bad[0]} has length 0, or is not finite")
    scaled: Floats = wide / lengths
    return scaled

"""K notions as a candidate for the WS-CSL criterion: conditions known in words, no triplet seen.

Triplets are drawn from attributes: the closer image has the anchor's value, the farther one not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.conditional.criterion import Criterion, measure, seen_by
from lookalike.core.arrays import Bools, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.conditions.heads import fit_head
from lookalike.learning.conditions.triplets import draw_conditions, draw_triplets
from lookalike.learning.engine.determinism import stream
from lookalike.learning.lit.captions import UNKNOWN
from lookalike.learning.notions.closed_forms import principal_components, prompt_span, raw
from lookalike.learning.notions.indirect import fit_indirect
from lookalike.learning.notions.scoring import Task
from lookalike.learning.projection import Projection

SUPERVISED = "supervised heads"
METHODS: dict[str, Callable[[Task, int, int], Projection]] = {
    "InDiReCT": lambda task, dim, seed: fit_indirect(task.prompts, dim, seed=seed).projection,
    "span of the prompts": lambda task, dim, _seed: prompt_span(task.prompts, dim),
    "PCA": lambda task, dim, _seed: principal_components(task.prompts, dim),
}
SINGLE = "single embedding"


@dataclass(frozen=True)
class CandidateScore:
    """One candidate's criterion.

    Attributes:
        candidate: a method, or SINGLE.
        n_triplets: that it has learnt from.
        criterion: accuracies, OT and greedy.
    """

    candidate: str
    n_triplets: int
    criterion: Criterion


def score_on_triplets(
    tasks: Sequence[Task],
    codes: Mapping[str, Ints],
    seen: Bools,
    *,
    dim: int = 16,
    n_triplets: int = 2_000,
    n_learnt: int = 20_000,
    seed: int = 0,
    progress: Progress = SILENT,
) -> list[CandidateScore]:
    """Return how well notions cover conditions, beside one embedding and a supervised bound.

    Source: Ye, Shi and Zhan (CVPR 2022), section 4; `lookalike.conditional.criterion`.

    Args:
        tasks: a notion for each condition, all with the same images in one order.
        codes: values of all images for each condition.
        seen: images that the heads learn from; triplets are asked about the others.
        dim: r' of every notion and head.
        n_triplets: asked for each condition; half fit the match, half score it.
        n_learnt: triplets that each supervised head learns from.
        seed: of all draws.
        progress: told each candidate.

    Raises:
        Refused: fewer than two conditions, or an attribute without triplets.
    """
    if len(tasks) < 2:
        raise Refused("columns", "conditions are matched with notions; name two attributes or more")
    asked = draw_conditions(codes, np.logical_not(seen), n_triplets, seed=seed, purpose="asked")
    table = asked.table()
    rows = np.array([int(name) for name in table.images])
    images = tasks[0].images

    def scored(name: str, maps: Mapping[str, Projection], n: int) -> CandidateScore:
        seen_so = [seen_by(table, key, by.apply(images[rows]), "cosine")
                   for key, by in maps.items()]  # fmt: skip
        return CandidateScore(name, n, measure(table, seen_so, seed))

    progress.note(SINGLE)
    found = [scored(SINGLE, {SINGLE: raw(images.shape[1])}, 0)]
    for name, fit in METHODS.items():
        progress.note(name)
        found.append(scored(name, {task.name: fit(task, dim, seed) for task in tasks}, 0))
    progress.note(SUPERVISED)
    heads = {}
    for task in tasks:
        learnt = draw_triplets(np.where(seen, codes[task.name], UNKNOWN), n_learnt,
                               stream(seed, f"learnt {task.name}"))  # fmt: skip
        heads[task.name] = fit_head(images, learnt, dim, seed=seed)
    return [*found, scored(SUPERVISED, heads, n_learnt * len(tasks))]

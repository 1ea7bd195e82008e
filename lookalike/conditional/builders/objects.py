"""Templates about an object in a scene: this scene focused on, or with, one category.

Source: Vaze et al. (CVPR 2023), section 4, and what was measured on the released object files. A
category counts where it covers more than 1% of the pixels; the scene is the set of categories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.builders.turns import (
    FEW_HAVING,
    FEW_LACKING,
    NO_TARGET,
    Built,
    Limits,
    draw_in_turns,
    group_codes,
    number_keys,
    pick_apart,
    shuffled_gallery,
)
from lookalike.conditional.types import Provenance, RetrievalTemplate, Scene, Task, View
from lookalike.core.arrays import Bools, Ints

N_LACKING, N_HAVING = 9, 5


class SceneRuleError(ValueError):
    """A rule for scenes that makes no sense, or that no scene meets.

    Attributes:
        rule: its name, a field of `SceneRules`.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


@dataclass(frozen=True)
class SceneRules:
    """What makes a scene.

    Attributes:
        min_share: a category counts if it covers more than this share of the pixels.
        min_categories: a reference has at least so many categories.
        min_shared: a target shares at least so many with its reference (in the focus task the
            condition is one of them); a distractor that meets the condition shares fewer.
    """

    min_share: float = 0.01
    min_categories: int = 8
    min_shared: int = 6

    def __post_init__(self) -> None:
        for name in ("min_categories", "min_shared"):
            if (value := getattr(self, name)) < 1:
                raise SceneRuleError(name, f"{name} is {value}, not at least 1")


@dataclass(frozen=True)
class SceneTable:
    """Which categories count in which image.

    Attributes:
        images: ids of the images.
        categories: names of the columns, ascending.
        texts: {category: how to say it}; the category itself where it is missing.
        present: shape (n_images, n_categories).
        image_codes: shape (n_images,), the image's number.
        groups: shape (n_images,), what must not meet in a gallery: product or image.
        rules: what makes a scene.
    """

    images: tuple[str, ...]
    categories: tuple[str, ...]
    texts: Mapping[str, str]
    present: Bools
    image_codes: Ints
    groups: Ints
    rules: SceneRules

    @classmethod
    def of(
        cls,
        scenes: Sequence[Scene],
        rules: SceneRules | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> SceneTable:
        """Code scenes as arrays.

        Raises:
            ValueError: no scenes, or an image twice.
        """
        rules = SceneRules() if rules is None else rules
        images = [scene.image for scene in scenes]
        if not images or len(set(images)) != len(images):
            raise ValueError("there are no scenes, or an image occurs twice")
        counted = [scene.categories(rules.min_share) for scene in scenes]
        categories = tuple(sorted(frozenset().union(*counted)))
        place = {name: column for column, name in enumerate(categories)}
        present = np.zeros((len(scenes), len(categories)), np.bool_)
        for row, names in enumerate(counted):
            present[row, [place[name] for name in names]] = True
        groups = group_codes(images, [scene.product for scene in scenes])
        codes = number_keys(images)
        return cls(tuple(images), categories, dict(texts or {}), present, codes, groups, rules)

    def check(self) -> None:
        """Pass if some image can be a reference.

        Raises:
            SceneRuleError: none has enough categories; the message says how many there are.
        """
        most = int(self.present.sum(axis=1).max())
        if most < (wanted := self.rules.min_categories):
            raise SceneRuleError(
                "min_categories",
                f"no image has {wanted} categories, the most is {most}: ask for fewer "
                "(min_categories, and min_shared with the target)",
            )

    def text(self, column: int) -> str:
        """Return how to say a category."""
        name = self.categories[column]
        return self.texts.get(name, name)


def build_focus_object(table: SceneTable, limits: Limits, seed: int, *, source: str) -> Built:
    """Draw templates that focus on a category which the reference shows.

    The target shows it too and shares the scene. Distractors: the 9 images most like the
    reference that do not show it (by shared categories, then Jaccard, then id), and the 5 that
    show it and share least else with the reference (equals drawn at random).

    Args:
        table: the scenes.
        limits: caps.
        seed: of the draw; the same seed and table give the same set.
        source: for the provenance.

    Returns:
        The templates and why other references were rejected.
    """
    return _build(table, limits, seed, source, Task.FOCUS_OBJECT)


def build_change_object(table: SceneTable, limits: Limits, seed: int, *, source: str) -> Built:
    """Draw templates that add a category which the reference does not show.

    As `build_focus_object`, with conditions from the target's categories that the reference
    lacks.
    """
    return _build(table, limits, seed, source, Task.CHANGE_OBJECT)


def _build(table: SceneTable, limits: Limits, seed: int, source: str, task: Task) -> Built:
    rng = np.random.default_rng(seed)
    eligible = table.present.sum(axis=1) >= table.rules.min_categories
    wanted = task is Task.FOCUS_OBJECT
    references = {
        str(column): np.flatnonzero(eligible & (table.present[:, column] == wanted))
        for column in range(len(table.categories))
    }
    draw = _Draw.of(table, rng, seed, source, task)
    built = draw_in_turns(references, draw.attempt, table.image_codes, limits, rng)
    by_condition = {table.text(int(name)): n for name, n in built.report.by_condition.items()}
    report = replace(built.report, by_condition=dict(sorted(by_condition.items())))
    return Built(built.templates, report)


@dataclass(frozen=True)
class _Draw:
    """One draw, with what every attempt needs of the table."""

    table: SceneTable
    rng: np.random.Generator
    seed: int
    source: str
    task: Task
    counts: NDArray[np.float32]
    n_categories: Ints
    id_ranks: Ints

    @classmethod
    def of(
        cls, table: SceneTable, rng: np.random.Generator, seed: int, source: str, task: Task
    ) -> _Draw:
        ranks = np.empty(len(table.images), np.int64)
        ranks[sorted(range(len(ranks)), key=table.images.__getitem__)] = np.arange(len(ranks))
        counts = table.present.astype(np.float32)
        return cls(table, rng, seed, source, task, counts, table.present.sum(axis=1), ranks)

    def attempt(self, column_name: str, row: int) -> RetrievalTemplate | str:
        """Make a template of a category and a reference."""
        table, column = self.table, int(column_name)
        shared = (self.counts @ self.counts[row]).astype(np.int64)
        has = table.present[:, column]
        other = table.groups != table.groups[row]
        targets = np.flatnonzero(has & other & (shared >= table.rules.min_shared))
        if not targets.size:
            return NO_TARGET
        target = int(self.rng.choice(targets))
        taken = {int(table.groups[row]), int(table.groups[target])}
        lacking = self._most_alike(np.flatnonzero(~has & other), shared, taken)
        if len(lacking) < N_LACKING:
            return FEW_LACKING
        strangers = np.flatnonzero(has & other & (shared < table.rules.min_shared))
        having = self._least_alike(strangers, shared, taken)
        if len(having) < N_HAVING:
            return FEW_HAVING
        return self._template(column, row, target, lacking, having)

    def _most_alike(self, pool: Ints, shared: Ints, taken: set[int]) -> list[int]:
        """Pick by most shared categories, highest Jaccard (fewest categories), then id."""
        n = len(self.id_ranks)
        width = self.table.present.shape[1] + 1
        key = ((width - shared[pool]) * width + self.n_categories[pool]) * n + self.id_ranks[pool]
        n_first = min(pool.size, 4 * N_LACKING)
        first = np.argpartition(key, n_first - 1)[:n_first] if n_first else pool[:0]
        tried = set(taken)
        chosen = pick_apart(
            pool[first[np.argsort(key[first])]], self.table.groups, tried, N_LACKING
        )
        if len(chosen) < N_LACKING < pool.size:  # many images of a few products at the top
            tried = set(taken)
            chosen = pick_apart(pool[np.argsort(key)], self.table.groups, tried, N_LACKING)
        taken |= tried
        return chosen

    def _least_alike(self, pool: Ints, shared: Ints, taken: set[int]) -> list[int]:
        """Pick by fewest shared categories; equals in random order."""
        mixed = self.rng.permutation(pool)
        ordered = mixed[np.argsort(shared[mixed], kind="stable")]
        return pick_apart(ordered, self.table.groups, taken, N_HAVING)

    def _template(
        self, column: int, row: int, target: int, lacking: list[int], having: list[int]
    ) -> RetrievalTemplate:
        images = self.table.images
        views = ([View(images[i]) for i in rows] for rows in (lacking, having))
        gallery, answer = shuffled_gallery(self.rng, *views)
        n_shared = int((self.table.present[row] & self.table.present[target]).sum())
        facts = {"category": self.table.categories[column], "n_shared": n_shared}
        return RetrievalTemplate(
            task=self.task,
            condition=self.table.text(column),
            reference=View(images[row]),
            target=View(images[target]),
            gallery=gallery,
            provenance=Provenance(self.source, 0, self.seed, facts),
            answer=answer,
        )

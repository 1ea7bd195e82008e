"""From a recipe and its data to the table, number by number beside the published one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.recipes.recipe import Published, Recipe

KINDS = {  # imported when asked for: a runner loads torch
    "composed": "lookalike.learning.recipes.composed",
    "composition": "lookalike.learning.recipes.composition",
    "conditions": "lookalike.learning.recipes.conditions",
    "finetune": "lookalike.learning.recipes.finetune",
    "guidance": "lookalike.learning.recipes.guidance",
    "notions": "lookalike.learning.recipes.notions",
}


@dataclass(frozen=True)
class Run:
    """How a table is made.

    Attributes:
        folder: of the data.
        rows: that are wanted; all if empty.
        methods: that are wanted; all if empty.
        model: instead of the recipe's; then no number is judged.
        space: a text space to read prompts with, in place of a model; it needs `vectors`.
        vectors: file of the pictures' vectors, named by their paths, where they were made before.
        repetitions: instead of the recipe's.
        seed: of the first repetition.
        device: where networks compute; None takes the GPU if there is one.
        conditions: how many conditions are guessed, a row for each number; empty for as many as
            the triplets have.
    """

    folder: Path
    rows: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    model: str | None = None
    space: Path | None = None
    vectors: Path | None = None
    repetitions: int | None = None
    seed: int = 0
    device: str | None = None
    conditions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Made:
    """What a runner has made.

    Attributes:
        values: by row, method and measure, in the recipe's unit.
        notes: what the reader of the table should know.
        is_comparable: whether the published numbers were made from the same.
    """

    values: Mapping[str, Mapping[str, Mapping[str, Published]]]
    notes: Sequence[str] = ()
    is_comparable: bool = True


class Runner(Protocol):
    """The module of a kind of table."""

    def make(self, recipe: Recipe, run: Run, progress: Progress) -> Made:
        """Compute the table.

        Raises:
            Refused: settings or data that cannot be used.
            InputError: a file that cannot be used.
        """


@dataclass(frozen=True)
class Compared:
    """A number beside the published one.

    Attributes:
        row, method, measure: which.
        found: ours; None where this method is not made here.
        published: the paper's; None where it has none.
        verdict: "as published", "differs", "shown" where it does not count.
    """

    row: str
    method: str
    measure: str
    found: Published | None
    published: Published | None
    verdict: str


def make_table(
    recipe: Recipe, run: Run, progress: Progress = SILENT
) -> tuple[list[Compared], list[str]]:
    """Return each number of a table beside the published one, and remarks.

    Raises:
        Refused: data are missing, an unknown row or kind, or as `Runner.make`.
        InputError: as `Runner.make`.
    """
    unknown = [row for row in run.rows if row not in recipe.rows]
    if unknown:
        raise Refused("only", f"there is no {unknown[0]!r}, but {', '.join(recipe.rows)}")
    if run.conditions and recipe.kind != "conditions":
        raise Refused("conditions", f"nothing guesses conditions in {recipe.name}")
    if not run.folder.is_dir():
        raise Refused("data", f"{run.folder} is no folder")
    if missing := recipe.missing(run.folder, run.rows):
        listed = "; ".join(f"{need.shown} ({need.what})" for need in missing)
        raise Refused("data", f"{run.folder} does not hold {listed}")
    if recipe.kind not in KINDS:
        raise Refused("kind", f"{recipe.name} is of kind {recipe.kind!r}, which nothing here makes")
    made = cast("Runner", import_module(KINDS[recipe.kind])).make(recipe, run, progress)
    return compare(recipe, made), [*made.notes, *recipe.notes]


def compare(recipe: Recipe, made: Made) -> list[Compared]:
    """Return what was made beside what was published; rows as they were made."""
    found = []
    for row, methods in made.values.items():
        targets = recipe.targets.get(row, {})
        for method in dict.fromkeys([*methods, *targets]):
            ours, theirs = methods.get(method, {}), targets.get(method, {})
            is_judged = made.is_comparable and (not recipe.judged or method in recipe.judged)
            for measure in dict.fromkeys([*ours, *theirs]):
                one, other = ours.get(measure), theirs.get(measure)
                verdict = _verdict(one, other, recipe.tolerance) if is_judged else "shown"
                found.append(Compared(row, method, measure, one, other, verdict))
    return found


def _verdict(found: Published | None, target: Published | None, tolerance: float) -> str:
    if found is None or target is None:
        return "shown"
    is_near = abs(found.mean - target.mean) <= tolerance + 2 * target.std
    return "as published" if is_near else "differs"

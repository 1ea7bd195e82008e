"""What to build from a catalog's own attributes, and the draw itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lookalike.conditional.builders.attribute_table import AttributeTable
from lookalike.conditional.builders.attributes import build_change_attribute, build_focus_attribute
from lookalike.conditional.builders.catalog_rows import (
    SOURCE,
    CatalogRow,
    catalog_instances,
    catalog_scenes,
)
from lookalike.conditional.builders.objects import (
    SceneRules,
    SceneTable,
    build_change_object,
    build_focus_object,
)
from lookalike.conditional.builders.turns import Built, Limits
from lookalike.conditional.column_spec import parse_columns
from lookalike.conditional.crops import Dilation
from lookalike.conditional.types import Task

ATTRIBUTE_TASKS = {
    Task.FOCUS_ATTRIBUTE: build_focus_attribute,
    Task.CHANGE_ATTRIBUTE: build_change_attribute,
}
OBJECT_TASKS = {Task.FOCUS_OBJECT: build_focus_object, Task.CHANGE_OBJECT: build_change_object}
BUILDABLE = (*ATTRIBUTE_TASKS, *OBJECT_TASKS)
LISTS = ("same", "ask", "types")


@dataclass(frozen=True)
class Recipe:
    """Which templates to draw from the rows of a catalog.

    Attributes:
        task: one of `BUILDABLE`.
        same: columns that make two images the same kind of object, one text each.
        ask: columns to ask for; the object tasks read the scene from them.
        n_templates, per_condition, per_reference: as `Limits`; None for no cap.
        seed: of the draw.
        filters: {attribute: values}, only rows that have one of them.
        types: attribute types to ask for, of the attribute tasks; empty for all columns of `ask`,
            or for all types of a VAW file but its catch-all "other".
        min_categories, min_shared: as `SceneRules`, for the object tasks.
        crops: how boxes are cut out, as `crop_box`; for templates from files.
        n_tries: as `Limits`; for a look at what a recipe gives, and never stored.
    """

    task: Task
    same: tuple[str, ...]
    ask: tuple[str, ...]
    n_templates: int = 500
    per_condition: int | None = 50
    per_reference: int | None = 5
    seed: int = 0
    filters: Mapping[str, tuple[str, ...]] | None = None
    types: tuple[str, ...] = ()
    min_categories: int = SceneRules.min_categories
    min_shared: int = SceneRules.min_shared
    crops: Dilation = "paper"
    n_tries: int | None = None

    @property
    def limits(self) -> Limits:
        """How many templates to draw.

        Raises:
            ValueError: a number below 1.
        """
        return Limits(self.n_templates, self.per_condition, self.per_reference, self.n_tries)

    @property
    def scene_rules(self) -> SceneRules:
        """What makes a scene.

        Raises:
            SceneRuleError: a number below 1.
        """
        return SceneRules(min_categories=self.min_categories, min_shared=self.min_shared)

    def as_json(self) -> dict[str, Any]:
        """Return the recipe as it is stored."""
        filters = {name: list(values) for name, values in (self.filters or {}).items()}
        lists = {name: list(getattr(self, name)) for name in LISTS}
        stored = asdict(self) | lists | {"task": self.task.value, "filters": filters}
        del stored["n_tries"]
        return stored

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Recipe:
        """Return a recipe that `as_json` wrote, in this version or an earlier one."""
        filters = {name: tuple(values) for name, values in stored["filters"].items()}
        changed = {"task": Task(stored["task"]), "filters": filters}
        lists = {name: tuple(stored.get(name, ())) for name in LISTS}
        return cls(**{**stored, **lists, **changed})


@dataclass(frozen=True)
class Cooked:
    """What came of a recipe.

    Attributes:
        built: the templates with their report.
        n_used: rows that the draw could use.
        left_out: {reason: number of rows}.
    """

    built: Built
    n_used: int
    left_out: Mapping[str, int]


def cook(recipe: Recipe, rows: Sequence[CatalogRow]) -> Cooked:
    """Draw the templates of a recipe.

    Raises:
        AttributeTypeError, SceneRuleError: types or rules that the rows do not have or meet.
        ValueError: columns or limits that make no sense, or no row that can be used.
    """
    limits = recipe.limits
    ask = parse_columns(recipe.ask)
    if recipe.task in ATTRIBUTE_TASKS:
        facts = catalog_instances(rows, same=parse_columns(recipe.same), columns=ask)
        table = AttributeTable.of(facts.instances, facts.types, facts.texts)
        build = ATTRIBUTE_TASKS[recipe.task]
        types = recipe.types or tuple(facts.types)
        built = build(table, limits, recipe.seed, source=SOURCE, types=types)
        return Cooked(built, len(facts.instances), facts.left_out)
    if recipe.task not in OBJECT_TASKS:
        raise ValueError(f"{recipe.task} is not built from attributes")
    scenes = catalog_scenes(rows, ask)
    scene_table = SceneTable.of(scenes.scenes, recipe.scene_rules, scenes.texts)
    scene_table.check()
    built = OBJECT_TASKS[recipe.task](scene_table, limits, recipe.seed, source=SOURCE)
    return Cooked(built, len(scenes.scenes), scenes.left_out)

"""Give what a set was drawn from as files of VAW: instances with attributes, and their types."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from conditional.models import TemplateSet
from conditional.template_sets.queries import catalog_rows
from lookalike.conditional.builders.catalog_rows import SOURCE, catalog_instances
from lookalike.conditional.column_spec import parse_columns
from lookalike.conditional.formats.json_files import write_json
from lookalike.conditional.formats.vaw import write_vaw
from lookalike.conditional.recipes import ATTRIBUTE_TASKS, Recipe
from lookalike.conditional.types import Box, Task
from lookalike.core.errors import Refused

INSTANCES, TYPES = "instances.json", "attribute_types.json"


def write_facts(*, template_set: TemplateSet, folder: Path) -> dict[str, Any]:
    """Write the instances that an attribute set was drawn from, as the catalog has them now.

    Every image is one instance whose box is all of it, named by its uid; a value carries its
    column's name ("colour: red"), so that equal words of two columns stay apart. The files go in
    again by `build_templates --vaw FOLDER/instances.json --types FOLDER/attribute_types.json`.

    Returns:
        How many instances and types were written.

    Raises:
        Refused: the set was not drawn from a catalog's attributes.
        OSError: the folder cannot be written.
    """
    if template_set.source != SOURCE or Task(template_set.task) not in ATTRIBUTE_TASKS:
        origin = f" but comes from {template_set.file_name}" if template_set.file_name else ""
        raise Refused(
            "set",
            f"“{template_set}” was not drawn from attributes of its catalog{origin}.",
        )
    recipe = Recipe.of_json(template_set.recipe)
    facts = catalog_instances(
        catalog_rows(template_set.catalog, recipe.filters),
        same=parse_columns(recipe.same),
        columns=parse_columns(recipe.ask),
    )
    images = {
        str(pk): (str(uid), Box(0, 0, width, height))
        for pk, uid, width, height in template_set.catalog.images.values_list(
            "pk", "uid", "width", "height"
        )
    }
    instances = []
    for one in facts.instances:
        name, box = images[one.image]
        instances.append(replace(one, image=name, name=name, box=box))
    folder.mkdir(parents=True, exist_ok=True)
    write_vaw(folder / INSTANCES, instances)
    write_json(folder / TYPES, {name: list(values) for name, values in facts.types.items()})
    return {"set": template_set.slug, "instances": len(instances), "types": len(facts.types)}

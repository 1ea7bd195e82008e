"""Check templates against what is known: does the target, and only it, satisfy both conditions?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from lookalike.conditional.builders.objects import SceneRules
from lookalike.conditional.types import Box, Defect, Instance, RetrievalTemplate, Scene, Task, View

Key = tuple[str, Box | None]
Problem = tuple[str, str]


def attribute_defects(
    templates: Sequence[RetrievalTemplate],
    instances: Sequence[Instance],
    types: Mapping[str, Sequence[str]],
    texts: Mapping[str, str] | None = None,
) -> list[Defect]:
    """List the attribute templates that the instances do not bear out.

    Codes: `unknown_view` (no instance has that image and box), `reference_unfit`,
    `target_unfit`, and `distractor_fits` for a distractor that is not known to be wrong.

    Args:
        templates: of the two attribute tasks.
        instances: what is known.
        types: {type: values}.
        texts: {value: how a condition says it}, where they differ.

    Raises:
        ValueError: a template of another task.
    """
    said = texts or {}
    values_of_type = {name: frozenset(values) for name, values in types.items()}
    values_of_text: dict[str, set[str]] = {}
    for values in types.values():
        for value in values:
            values_of_text.setdefault(said.get(value, value), set()).add(value)
    known: dict[Key, Instance] = {(one.image, one.box): one for one in instances}

    def problems(template: RetrievalTemplate) -> Iterator[Problem]:
        found = {role: known.get((view.image, view.box)) for role, view in template.views()}
        missing = [role for role, one in found.items() if one is None]
        if missing:
            yield "unknown_view", f"{missing[0]} is no known instance"
            return
        at = {role: one for role, one in found.items() if one is not None}
        if template.task is Task.FOCUS_ATTRIBUTE:
            yield from _focus_problems(at, values_of_type.get(template.condition, frozenset()))
        elif template.task is Task.CHANGE_ATTRIBUTE:
            asked = frozenset(values_of_text.get(template.condition, set()))
            yield from _change_problems(at, asked)
        else:
            raise ValueError(f"{template.task} is not about attributes")

    return _listed(templates, problems)


def object_defects(
    templates: Sequence[RetrievalTemplate],
    scenes: Sequence[Scene],
    rules: SceneRules | None = None,
    texts: Mapping[str, str] | None = None,
) -> list[Defect]:
    """List the object templates that the scenes do not bear out; codes as above.

    Args:
        templates: of the two object tasks.
        scenes: what is known.
        rules: what makes a scene.
        texts: {category: how a condition says it}, where they differ.

    Raises:
        ValueError: a template of another task.
    """
    rules = SceneRules() if rules is None else rules
    said = texts or {}
    known = {scene.image: scene.categories(rules.min_share) for scene in scenes}

    def problems(template: RetrievalTemplate) -> Iterator[Problem]:
        if template.task not in (Task.FOCUS_OBJECT, Task.CHANGE_OBJECT):
            raise ValueError(f"{template.task} is not about objects")
        missing = [role for role, view in template.views() if view.image not in known]
        if missing:
            yield "unknown_view", f"{missing[0]} is no known scene"
            return
        scene = known[template.reference.image]

        def has(view: View) -> bool:
            return any(said.get(c, c) == template.condition for c in known[view.image])

        def alike(view: View) -> bool:
            return len(known[view.image] & scene) >= rules.min_shared

        if has(template.reference) is not (template.task is Task.FOCUS_OBJECT):
            yield "reference_unfit", "the reference does not suit the task"
        if not (has(template.target) and alike(template.target)):
            yield "target_unfit", "the target lacks the condition or the scene"
        for place, distractor in enumerate(template.gallery):
            if has(distractor.view) and alike(distractor.view):
                yield "distractor_fits", f"gallery[{place}] has the condition and the scene"

    return _listed(templates, problems)


def _listed(
    templates: Sequence[RetrievalTemplate],
    problems: Callable[[RetrievalTemplate], Iterator[Problem]],
) -> list[Defect]:
    return [
        Defect(template.provenance.index, code, reason)
        for template in templates
        for code, reason in problems(template)
    ]


def _focus_problems(at: Mapping[str, Instance], values: frozenset[str]) -> Iterator[Problem]:
    reference, target = at["reference"], at["target"]
    held = reference.positive & values
    shared = held & target.positive
    if not held:
        yield "reference_unfit", "the reference has no value of the type"
    if target.object_name != reference.object_name or not shared:
        yield "target_unfit", "the target is another object or has no value of the reference"
    for role, one in at.items():
        if not role.startswith("gallery"):
            continue
        is_wrong = not (held & one.positive) and bool(shared & one.negative)
        if one.object_name == reference.object_name and not is_wrong:
            yield "distractor_fits", f"{role} is not known to lack the reference's value"


def _change_problems(at: Mapping[str, Instance], asked: frozenset[str]) -> Iterator[Problem]:
    reference, target = at["reference"], at["target"]
    values = asked & reference.negative & target.positive
    if not asked & reference.negative:
        yield "reference_unfit", "the reference is not known to lack the value"
    if target.object_name != reference.object_name or not values:
        yield "target_unfit", "the target is another object or lacks the value"
    for role, one in at.items():
        if not role.startswith("gallery") or one.object_name != reference.object_name:
            continue
        if not values & one.negative:
            yield "distractor_fits", f"{role} is not known to lack the value"

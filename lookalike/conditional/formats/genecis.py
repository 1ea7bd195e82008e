"""The official template files of GeneCIS (Vaze et al., CVPR 2023): one JSON list for each task.

Object tasks name COCO val2017 images, `{"val_image_id": 121506}`; attribute tasks name crops of
Visual Genome, `{"image_id": 2412, "instance_bbox": [x, y, w, h]}`, where the id may be a number or
a string. The target stands apart from its gallery of 14 (9 for focus_attribute).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lookalike.conditional.formats.json_files import (
    EntryError,
    as_box,
    as_id,
    as_list,
    as_object,
    as_text,
    number_if_decimal,
    required,
)
from lookalike.conditional.formats.template_entries import TemplateEntries, read_templates
from lookalike.conditional.types import (
    Distractor,
    DistractorKind,
    Provenance,
    RetrievalTemplate,
    Task,
    View,
)
from lookalike.io.errors import InputError

SOURCE = "genecis"
TASKS = (Task.FOCUS_ATTRIBUTE, Task.CHANGE_ATTRIBUTE, Task.FOCUS_OBJECT, Task.CHANGE_OBJECT)
OBJECT_TASKS = (Task.FOCUS_OBJECT, Task.CHANGE_OBJECT)
KEYS = frozenset({"condition", "reference", "target", "gallery"})
COCO_ID, CROP_ID, CROP_BOX = "val_image_id", "image_id", "instance_bbox"
KINDS_BY_SLOT = [DistractorKind.LACKS_CONDITION] * 9 + [DistractorKind.LACKS_REFERENCE] * 5


def read_task(path: str | Path) -> Task:
    """Return the task that a file's name states, as the official files are called.

    Raises:
        InputError: if the name states none.
    """
    stem = Path(path).stem
    if stem in TASKS:
        return Task(stem)
    raise InputError(f"{path}: which task? Say one of {', '.join(TASKS)}")


def read_genecis(path: str | Path, task: Task | None = None) -> TemplateEntries:
    """Return the templates of an official file, in its order and with all that it says.

    In object files slots 0 to 8 lack the condition and slots 9 to 13 have it: measured on the
    released files without one contradiction, not stated in the paper. Attribute files do not
    say, so their distractors are of unknown kind.

    Args:
        path: the file.
        task: by default the one that the file's name states.

    Raises:
        FormatError: not JSON, or not a list.
        InputError: no task is given and the name states none.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    task = read_task(path) if task is None else task
    if task not in TASKS:
        raise InputError(f"{path}: {task} is not a task of GeneCIS")
    return read_templates(path, lambda entry, index: _template(entry, task, index))


def genecis_entries(templates: Sequence[RetrievalTemplate]) -> list[dict[str, object]]:
    """Return templates of one task as the entries of an official file; what was read comes back.

    Kinds, the answer's place and provenance have no place in that format and are not written.

    Raises:
        ValueError: no templates, or several tasks, or a task that GeneCIS does not have.
    """
    tasks = {template.task for template in templates}
    if len(tasks) != 1 or not tasks <= set(TASKS):
        raise ValueError(f"an official file holds one of its four tasks, not {sorted(tasks)}")
    return [_entry(template) for template in templates]


def _template(entry: object, task: Task, index: int) -> RetrievalTemplate:
    found = as_object(entry)
    gallery = [
        _view(view, task, f"gallery[{place}]")
        for place, view in enumerate(as_list(found, "gallery"))
    ]
    kinds = [DistractorKind.UNKNOWN] * len(gallery)
    if task in OBJECT_TASKS and len(gallery) == task.n_distractors:
        kinds = KINDS_BY_SLOT
    return RetrievalTemplate(
        task=task,
        condition=as_text(found, "condition"),
        reference=_view(required(found, "reference"), task, "reference"),
        target=_view(required(found, "target"), task, "target"),
        gallery=tuple(map(Distractor, gallery, kinds)),
        provenance=Provenance(SOURCE, index),
        details={key: found[key] for key in found if key not in KEYS},
    )


def _view(value: object, task: Task, what: str) -> View:
    try:
        entry = as_object(value, "it")
        details = dict(entry)
        if task in OBJECT_TASKS:
            return View(as_id(entry, COCO_ID), None, details)
        return View(as_id(entry, CROP_ID), as_box(entry, CROP_BOX), details)
    except EntryError as problem:
        raise EntryError(f"{what}: {problem}") from problem


def _entry(template: RetrievalTemplate) -> dict[str, object]:
    task = template.task
    entry: dict[str, object] = {
        **template.details,
        "condition": template.condition,
        "gallery": [_view_entry(item.view, task) for item in template.gallery],
        "reference": _view_entry(template.reference, task),
        "target": _view_entry(template.target, task),
    }
    return dict(sorted(entry.items()))


def _view_entry(view: View, task: Task) -> dict[str, object]:
    """Return a view as it was read, with its present image and box; the format has both names."""
    key = COCO_ID if task in OBJECT_TASKS else CROP_ID
    entry = dict(view.details) if key in view.details else {}
    if str(entry.get(key)) != view.image:
        entry[key] = number_if_decimal(view.image)
    if view.box is not None and entry.get(CROP_BOX) != list(view.box):
        entry[CROP_BOX] = list(view.box)
    return entry

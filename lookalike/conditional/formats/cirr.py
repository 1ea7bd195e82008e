"""The files of CIRR (Liu et al., ICCV 2021): a reference, a caption that changes it, a target.

`cap.rc2.val.json` is a list of `{"pairid", "reference", "target_hard", "target_soft", "caption",
"img_set": {"id", "members", ...}}`. The gallery of a template is the rest of its image set, as in
Recall_subset; an entry without image set has an empty gallery, for retrieval among all images of
the split but the reference (`split.rc2.val.json`: {name: path}).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lookalike.conditional.formats.json_files import (
    EntryError,
    as_id,
    as_object,
    as_text,
    as_texts,
    json_kind,
    read_json,
)
from lookalike.conditional.formats.template_entries import TemplateEntries, read_templates
from lookalike.conditional.types import (
    Distractor,
    Provenance,
    RetrievalTemplate,
    Task,
    View,
)
from lookalike.io.errors import FormatError

SOURCE = "cirr"


def read_cirr(path: str | Path) -> TemplateEntries:
    """Return the templates of a CIRR caption file, in its order and with all that it says.

    Raises:
        FormatError: not JSON, not a list, or not one usable entry (the hidden test split has no
            targets).
        OSError: if the file cannot be opened.
    """
    return read_templates(Path(path), _template)


def read_cirr_split(path: str | Path) -> dict[str, str]:
    """Return {image name: path} of a split, the images that a global search looks at.

    Raises:
        FormatError: not JSON, or not an object of texts.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    found = read_json(path)
    if not isinstance(found, dict) or not found:
        raise FormatError(
            path, 1, f"an object of names and paths is needed, not {json_kind(found)}"
        )
    for name, place in found.items():
        if not isinstance(place, str):
            raise FormatError(path, None, f"the path of {name!r} is {json_kind(place)}")
    return found


def cirr_entries(templates: Sequence[RetrievalTemplate]) -> list[dict[str, object]]:
    """Return composed templates as the entries of a CIRR caption file; what was read comes back.

    Raises:
        ValueError: a template of another task.
    """
    for template in templates:
        if template.task is not Task.COMPOSED:
            raise ValueError(f"CIRR files hold composed templates, not {template.task}")
    return [_entry(template) for template in templates]


def _template(entry: object, index: int) -> RetrievalTemplate:
    found = as_object(entry)
    reference, target = as_id(found, "reference"), as_id(found, "target_hard")
    members: list[str] = []
    if "img_set" in found:
        image_set = as_object(found["img_set"], "img_set")
        members = as_texts(image_set, "members")
        for role, name in (("reference", reference), ("target_hard", target)):
            if name not in members:
                raise EntryError(f"{role} {name!r} is not a member of its image set")
        if not frozenset(members) - {reference, target}:
            raise EntryError("its image set holds nothing beside reference and target")
    return RetrievalTemplate(
        task=Task.COMPOSED,
        condition=as_text(found, "caption"),
        reference=View(reference),
        target=View(target),
        gallery=tuple(
            Distractor(View(name)) for name in members if name not in (reference, target)
        ),
        provenance=Provenance(SOURCE, index),
        details=dict(found),
    )


def _entry(template: RetrievalTemplate) -> dict[str, object]:
    entry: dict[str, object] = dict(template.details)
    known = {
        "reference": template.reference.image,
        "target_hard": template.target.image,
        "caption": template.condition,
    }
    for key, value in known.items():
        if str(entry.get(key)) != value:
            entry[key] = value
    entry.setdefault("pairid", template.provenance.index)
    names = [item.view.image for item in template.gallery]
    if names and _others(entry) != names:
        members = [template.reference.image, template.target.image, *names]
        entry["img_set"] = {"id": template.provenance.index, "members": members}
    return entry


def _others(entry: Mapping[str, object]) -> list[object] | None:
    image_set = entry.get("img_set")
    members = image_set.get("members") if isinstance(image_set, dict) else None
    if not isinstance(members, list):
        return None
    return [name for name in members if name not in (entry["reference"], entry["target_hard"])]

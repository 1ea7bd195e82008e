"""Turn pure templates into rows and back, without loss."""

from __future__ import annotations

from collections.abc import Mapping

from conditional.models import RetrievalTemplate as Row
from conditional.models import TemplateSet
from lookalike.conditional.types import (
    Box,
    Details,
    Distractor,
    DistractorKind,
    Provenance,
    RetrievalTemplate,
    Task,
    View,
)

OF_TEMPLATE, NAMES = "template", "names"


def row_of(
    template_set: TemplateSet,
    template: RetrievalTemplate,
    id_of: Mapping[str, int],
    *,
    keeps_names: bool,
) -> Row:
    """Return an unsaved row.

    Args:
        id_of: {image as the template names it: id of its row}.
        keeps_names: of a file, whose names come back with it; a catalog's own templates name
            images by row id, which nobody else knows.
    """
    views = dict(template.views())
    details: dict[str, Details] = {
        role: view.details for role, view in views.items() if view.details
    }
    if template.details:
        details[OF_TEMPLATE] = template.details
    if keeps_names:
        details[NAMES] = {role: view.image for role, view in views.items()}
    return Row(
        template_set=template_set,
        position=template.provenance.index,
        condition=template.condition,
        reference_id=id_of[template.reference.image],
        target_id=id_of[template.target.image],
        gallery=[id_of[one.view.image] for one in template.gallery],
        kinds=[one.kind.value for one in template.gallery],
        answer=template.answer,
        boxes={role: list(view.box) for role, view in views.items() if view.box is not None},
        facts=dict(template.provenance.facts),
        details={role: dict(found) for role, found in details.items()},
    )


def template_of(
    row: Row, task: Task, source: str, name_of: Mapping[int, str] | None = None
) -> RetrievalTemplate:
    """Return the pure template of a row.

    Args:
        name_of: {row id: how to name an image to which the source gave no other name}; by
            default the row id as text.
    """
    names = row.details.get(NAMES, {})

    def view(pk: int, role: str) -> View:
        box = row.boxes.get(role)
        name = names.get(role) or (str(pk) if name_of is None else name_of[pk])
        return View(name, None if box is None else Box(*box), row.details.get(role, {}))

    gallery = tuple(
        Distractor(view(pk, f"gallery[{place}]"), DistractorKind(kind))
        for place, (pk, kind) in enumerate(zip(row.gallery, row.kinds, strict=True))
    )
    return RetrievalTemplate(
        task=task,
        condition=row.condition,
        reference=view(row.reference_id, "reference"),
        target=view(row.target_id, "target"),
        gallery=gallery,
        provenance=Provenance(source, row.position, None, row.facts),
        answer=row.answer,
        details=row.details.get(OF_TEMPLATE, {}),
    )

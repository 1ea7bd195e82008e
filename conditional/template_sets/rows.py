"""Turn pure templates into rows and back without loss, and into the entries of files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from conditional.models import RetrievalTemplate as Row
from conditional.models import TemplateSet
from lookalike.conditional.builders.catalog_rows import SOURCE as CATALOG
from lookalike.conditional.formats.cirr import cirr_entries
from lookalike.conditional.formats.genecis import genecis_entries
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


def template_rows(
    template_set: TemplateSet,
    templates: Sequence[RetrievalTemplate],
    id_of: Mapping[str, int] | None = None,
) -> list[Row]:
    """Return unsaved rows.

    Args:
        template_set: of a file, whose names come back with it, or a catalog's own: its
            templates name images by row id, which nobody else knows.
        id_of: {image as the templates name it: id of its row}; by default names are ids.
    """
    return [_row_of(template_set, template, id_of) for template in templates]


def _row_of(
    template_set: TemplateSet, template: RetrievalTemplate, id_of: Mapping[str, int] | None
) -> Row:
    views = dict(template.views())
    details: dict[str, Details] = {
        role: view.details for role, view in views.items() if view.details
    }
    if template.details:
        details[OF_TEMPLATE] = template.details
    if template_set.source != CATALOG:
        details[NAMES] = {role: view.image for role, view in views.items()}
    image_id: Callable[[str], int] = int if id_of is None else id_of.__getitem__
    return Row(
        template_set=template_set,
        position=template.provenance.index,
        condition=template.condition,
        reference_id=image_id(template.reference.image),
        target_id=image_id(template.target.image),
        gallery=[image_id(one.view.image) for one in template.gallery],
        kinds=[one.kind.value for one in template.gallery],
        answer=template.answer,
        boxes={role: list(view.box) for role, view in views.items() if view.box is not None},
        facts=dict(template.provenance.facts),
        details={role: dict(found) for role, found in details.items()},
    )


def read_template(
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


def exported_entries(
    template_set: TemplateSet, only: Collection[int] | None = None
) -> list[dict[str, object]]:
    """Return a set as the entries of the format it came from (GeneCIS for a built one).

    Images keep the names that their file gave them; those of built sets are named by uid.

    Args:
        only: ids of the templates to write; None for all.
    """
    task, source = Task(template_set.task), template_set.source
    names = None
    if source == CATALOG:
        uids = template_set.catalog.images.values_list("pk", "uid")
        names = {pk: str(uid) for pk, uid in uids.iterator(chunk_size=5000)}
    rows = template_set.templates.order_by("position")
    wanted = None if only is None else frozenset(only)
    chosen = (row for row in rows if wanted is None or row.pk in wanted)
    templates = [read_template(row, task, source, names) for row in chosen]
    if not templates:
        return []
    return cirr_entries(templates) if task is Task.COMPOSED else genecis_entries(templates)

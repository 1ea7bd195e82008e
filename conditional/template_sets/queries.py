"""Reads for building and showing sets."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Func, Q, QuerySet, TextField

from catalog.models import Catalog, Image
from conditional.models import KIND_LABELS, RetrievalTemplate, TemplateSet
from lookalike.conditional.builders.catalog_rows import CatalogRow
from lookalike.conditional.types import DistractorKind


def catalog_rows(
    catalog: Catalog,
    filters: Mapping[str, Sequence[str]] | None = None,
    at_most: int | None = None,
) -> list[CatalogRow]:
    """Return what a catalog says of its images, each named by its row id, in that order.

    Args:
        filters: {attribute: values}; only images that have one of the values, in each.
        at_most: of more images, only so many, chosen by their content hash: as good as random,
            and the same whenever they are asked for.
    """
    images = images_that_fit(catalog, filters).order_by("pk")
    if at_most is not None:
        few = images.order_by("sha256").values_list("pk", flat=True)[:at_most]
        images = catalog.images.filter(pk__in=list(few)).order_by("pk")
    rows = images.values_list("pk", "product_id", "attributes").iterator(chunk_size=5000)
    return [CatalogRow(str(pk), product or None, attributes) for pk, product, attributes in rows]


def images_that_fit(
    catalog: Catalog, filters: Mapping[str, Sequence[str]] | None
) -> QuerySet[Image]:
    """Return the images that have one of the values, in each attribute of {attribute: values}."""
    images = catalog.images.all()
    for name, values in (filters or {}).items():
        wanted = Q()
        for value in values:
            wanted |= Q(attributes__contains={name: value})
        images = images.filter(wanted)
    return images


def attributes_of(images: QuerySet[Image]) -> set[str]:
    """Return the names of all attributes that images have."""
    keys = Func(F("attributes"), function="jsonb_object_keys", output_field=TextField())
    return set(images.order_by().annotate(name=keys).values_list("name", flat=True).distinct())


def attribute_names(catalog: Catalog) -> list[str]:
    """Return the names of a catalog's attributes, as far as the first 2,000 images have them."""
    rows = catalog.images.order_by("pk").values_list("attributes", flat=True)[:2000]
    return sorted({name for attributes in rows for name in attributes})


def template_sets() -> QuerySet[TemplateSet]:
    """Return the sets with their sizes, newest first."""
    sets = TemplateSet.objects.select_related("catalog").order_by("-pk")
    return sets.annotate(n_templates=Count("templates"))


def list_conditions(template_set: TemplateSet) -> list[tuple[str, int]]:
    """Return the conditions of a set with their number of templates, the most frequent first."""
    counted = template_set.templates.values_list("condition").annotate(n=Count("pk"))
    return [(condition, n) for condition, n in counted.order_by("-n", "condition")]


@dataclass(frozen=True)
class ShownImage:
    """A picture of a template: where its bytes are, and why it is there.

    `place` is its place among the template's candidates, None for the reference.
    """

    uid: uuid.UUID
    place: int | None
    kind: str
    is_target: bool
    is_crop: bool

    @property
    def slot(self) -> str:
        """The place as addresses of crops name it."""
        return "reference" if self.place is None else str(self.place)


@dataclass(frozen=True)
class ShownTemplate:
    """A template with its pictures; `candidates` stand in the stored order.

    Of a template without a gallery of its own only the target is shown; `n_among` is how many
    images it looks among then, else None.
    """

    template: RetrievalTemplate
    reference: ShownImage
    candidates: list[ShownImage]
    n_among: int | None = None


def shown_templates(templates: Iterable[RetrievalTemplate]) -> list[ShownTemplate]:
    """Join templates with the uids of their images; for people who may see everything."""
    rows = list(templates)
    wanted = {pk for row in rows for pk in (row.reference_id, *row.gallery, row.target_id)}
    uids = dict(Image.objects.filter(pk__in=wanted).values_list("pk", "uid"))
    return [_shown(row, uids) for row in rows]


def _shown(row: RetrievalTemplate, uids: Mapping[int, uuid.UUID]) -> ShownTemplate:
    last = len(row.gallery)
    images = [
        ShownImage(
            uids[pk],
            place,
            "" if place == last else KIND_LABELS[DistractorKind(row.kinds[place])],
            place == last,
            row.box_of(place) is not None,
        )
        for place, pk in enumerate([*row.gallery, row.target_id])
    ]
    target = images.pop()
    images.insert(last if row.answer is None else row.answer, target)
    whole = row.box_of(None) is None
    return ShownTemplate(
        row,
        ShownImage(uids[row.reference_id], None, "", False, not whole),
        images,
        None if row.gallery else row.n_candidates,
    )

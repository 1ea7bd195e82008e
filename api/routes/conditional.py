"""The API's routes about templates and triplets."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router

from api.access import reads
from api.conditional_schemas import (
    AlignmentOut,
    TemplateOut,
    TemplateSetOut,
    TemplateSetWhole,
    TripletOut,
    TripletQuestionOut,
    TripletSetOut,
    TripletSetWhole,
)
from api.errors import errors
from api.paging import Page, PageQuery, Part, read_part
from audit.services import record_part
from conditional.api_queries import (
    NamedQuestion,
    NamedTemplate,
    NamedTriplet,
    name_questions,
    name_templates,
    name_triplets,
    triplet_sets_with_counts,
)
from conditional.models import TemplateSet, TripletAlignment, TripletSet
from conditional.template_sets.queries import template_sets as template_sets_with_counts

router = Router(tags=["Templates and triplets"], auth=reads)


@router.get(
    "/template-sets",
    response={200: Page[TemplateSetOut], **errors(422)},
    summary="List template sets",
)
def template_sets(request: HttpRequest, page: Query[PageQuery]) -> Part[TemplateSet]:
    """Return the sets of retrieval templates, newest first."""
    return read_part(template_sets_with_counts(), page, newest_first=True)


@router.get(
    "/template-sets/{slug:slug}",
    response={200: TemplateSetWhole, **errors(404)},
    summary="One template set",
)
def template_set(request: HttpRequest, slug: str) -> TemplateSet:
    """Return a set of templates with its conditions and what models score on it."""
    return get_object_or_404(template_sets_with_counts(), slug=slug)


@router.get(
    "/template-sets/{slug:slug}/templates",
    response={200: Page[TemplateOut], **errors(404, 422)},
    summary="Templates of a set",
)
def templates(request: HttpRequest, slug: str, page: Query[PageQuery]) -> Part[NamedTemplate]:
    """Return the templates in their order, each with its target."""
    found = get_object_or_404(TemplateSet, slug=slug)
    record_part(request, found, what="templates", is_first=not page.after)
    part = read_part(found.templates.all(), page)
    return Part(name_templates(part.items), part.next)


@router.get(
    "/triplet-sets", response={200: Page[TripletSetOut], **errors(422)}, summary="List triplet sets"
)
def triplet_sets(request: HttpRequest, page: Query[PageQuery]) -> Part[TripletSet]:
    """Return the sets of triplets, newest first."""
    return read_part(triplet_sets_with_counts(), page, newest_first=True)


@router.get(
    "/triplet-sets/{slug:slug}",
    response={200: TripletSetWhole, **errors(404)},
    summary="One triplet set",
)
def triplet_set(request: HttpRequest, slug: str) -> TripletSet:
    """Return a set of triplets with its figures and what embedding sets score on it."""
    return get_object_or_404(triplet_sets_with_counts(), slug=slug)


@router.get(
    "/triplet-sets/{slug:slug}/triplets",
    response={200: Page[TripletOut], **errors(404, 422)},
    summary="Answers of a triplet set",
)
def triplets(request: HttpRequest, slug: str, page: Query[PageQuery]) -> Part[NamedTriplet]:
    """Return the single answers in their order, without who gave them."""
    found = get_object_or_404(TripletSet, slug=slug)
    record_part(request, found, what="triplets", is_first=not page.after)
    part = read_part(found.triplets.all(), page)
    return Part(name_triplets(part.items), part.next)


@router.get(
    "/triplet-sets/{slug:slug}/questions",
    response={200: Page[TripletQuestionOut], **errors(404, 422)},
    summary="Questions of a triplet set",
)
def triplet_questions(
    request: HttpRequest, slug: str, page: Query[PageQuery]
) -> Part[NamedQuestion]:
    """Return what a suggested set asks, or what a panel was asked of an imported one."""
    part = read_part(get_object_or_404(TripletSet, slug=slug).questions.all(), page)
    return Part(name_questions(part.items), part.next)


@router.get(
    "/triplet-sets/{slug:slug}/alignments",
    response={200: Page[AlignmentOut], **errors(404, 422)},
    summary="Alignments with a triplet set",
)
def alignments(request: HttpRequest, slug: str, page: Query[PageQuery]) -> Part[TripletAlignment]:
    """Return how embedding sets were matched with the conditions of a set, newest first."""
    found = get_object_or_404(TripletSet, slug=slug)
    return read_part(found.alignments.all(), page, newest_first=True)

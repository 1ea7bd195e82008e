"""Pages of notions: the editor with its live neighbours, one notion, deleting it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from accounts.form_refusals import add_refusal
from catalog.models import EmbeddingSet
from catalog.vectors.embeddings import EmbeddingError
from catalog.vectors.projections import read_layers
from jobs.conflicts import conflict_as_message
from jobs.models import Job, JobState
from jobs.queries import latest_job
from learning.live import fitted, warm
from learning.models import Notion, NotionPicture, TextSpace
from learning.neighbours import (
    chosen_picture,
    neighbours,
    parent_vectors,
    picture_choice,
    vectors_in,
)
from learning.notions.forms import NotionForm, said_by_column, sayable_columns
from learning.notions.services import (
    PICTURES_TASK,
    delete_notion,
    pictures_subject,
    start_notion,
    start_pictures,
)
from learning.text_spaces.queries import find_space
from lookalike.core.errors import Refused
from lookalike.learning.projection import Layers

MOST_COLUMNS = 6  # whose values an editor offers
MAX_DIGITS = 7  # of the number of a page of pictures
SAID = ("words", "template", "method", "dim")  # what an address of the editor keeps


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def editor(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Say a notion and see what it does; an admin may keep it."""
    space = find_space(slug)
    if request.method == "POST":
        return _keep(request, space)
    warm(space)
    said = request.GET if "words" in request.GET else None
    form = NotionForm.for_space(space)
    if said is not None:
        form = NotionForm(initial={**said.dict()})
    elif (column := request.GET.get("column", "")) in sayable_columns(space):
        form = NotionForm(initial=said_by_column(space, column))
    return render(request, "learning/editor.html", _editor(request, space, form, request.GET))


def _keep(request: HttpRequest, space: TextSpace) -> HttpResponseBase:
    person = signed_in(request)
    form = NotionForm(request.POST)
    if not person.is_admin:
        form.add_error(None, "Only an admin can keep a notion.")
    if form.is_valid():
        try:
            start_notion(
                space=space, name=form.cleaned_data["name"], recipe=form.cleaned_data["recipe"],
                owner=person,
            )  # fmt: skip
        except Refused as problem:
            add_refusal(form, problem)
        else:
            return redirect("learning:space", space.slug)
    context = _editor(request, space, form, request.POST)
    return render(request, "learning/editor.html", context)


def _editor(
    request: HttpRequest, space: TextSpace, form: NotionForm, said: QueryDict
) -> dict[str, Any]:
    asked = said.get("page", "")
    page = int(asked) if asked.isdecimal() and len(asked) < MAX_DIGITS else 0
    chosen, others = picture_choice(space.catalog, said.get("image"), page)
    return {
        "space": space, "form": form, "chosen": chosen, "others": others,
        "columns": sayable_columns(space)[:MOST_COLUMNS],
        "next_page": page + 1, "may_keep": signed_in(request).is_admin,
    }  # fmt: skip


@require_safe
@reader_required
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the fragment of a picture's neighbours before and after a notion."""
    space = find_space(slug)
    form = NotionForm(request.GET)
    chosen = chosen_picture(space.catalog, request.GET.get("image"))
    context: dict[str, Any] = {"space": space, "chosen": chosen, "by": "your words"}
    by: Layers | None = None
    try:
        if form.is_valid():
            by = fitted(space, form.cleaned_data["recipe"])
            context["waiting"] = by is None
        else:
            context["problem"] = form.problem
    except Refused as problem:
        context["problem"] = str(problem)
    kept = QueryDict(mutable=True)
    kept.update({name: request.GET.get(name, "") for name in SAID})
    context["here"] = f"{reverse('learning:editor', args=[slug])}?{kept.urlencode()}&"
    return _with_neighbours(request, context, by)


@require_safe
@reader_required
def notion(request: HttpRequest, slug: str, head: str) -> HttpResponse:
    """Show a notion that was kept: its words, its card, and what it does to a picture."""
    space = find_space(slug)
    found = _find(slug, head)
    chosen, others = picture_choice(space.catalog, request.GET.get("image"))
    context = {
        "space": space, "notion": found, "chosen": chosen, "others": others,
        "card": found.projection.card, "may_delete": signed_in(request).is_admin,
        "pictures": found.pictures.defer("content"), "drawing": _drawing(found),
    }  # fmt: skip
    return render(request, "learning/notion.html", context)


def _drawing(notion: Notion) -> Job | None:
    """Return the last job that was to draw a notion, unless it has."""
    last = latest_job(PICTURES_TASK, pictures_subject(notion))
    return None if last is None or last.state == JobState.SUCCEEDED else last


@require_POST
@admin_required
def draw(request: HttpRequest, slug: str, head: str) -> HttpResponseBase:
    """Have the pictures of a notion drawn."""
    with conflict_as_message(request):
        start_pictures(notion=_find(slug, head), owner=signed_in(request))
    return redirect("learning:notion", slug, head)


@require_safe
@reader_required
def picture(request: HttpRequest, slug: str, head: str, kind: str) -> HttpResponse:
    """Return a picture that was drawn of a notion, as a file."""
    drawn = get_object_or_404(NotionPicture, notion=_find(slug, head), kind=kind)
    response = HttpResponse(bytes(drawn.content), content_type="image/jpeg")
    response["Content-Disposition"] = f'inline; filename="{slug}-{head}-{kind}.jpg"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _find(slug: str, head: str) -> Notion:
    notions = find_space(slug).notions.select_related("projection")
    found: Notion = get_object_or_404(notions, projection__head=head)
    return found


@require_safe
@reader_required
def notion_neighbours(request: HttpRequest, slug: str, head: str) -> HttpResponse:
    """Return the fragment of a picture's neighbours before and after a notion that was kept."""
    space = find_space(slug)
    found = _find(slug, head)
    context: dict[str, Any] = {
        "space": space, "by": str(found),
        "chosen": chosen_picture(space.catalog, request.GET.get("image")),
        "here": f"{reverse('learning:notion', args=[slug, head])}?",
    }  # fmt: skip
    try:
        by = read_layers(found.projection.sha256)
    except Refused as problem:
        return render(request, "learning/_neighbours.html", {**context, "problem": str(problem)})
    parent = parent_vectors(space.projection, space.catalog)
    if parent is None:
        context["problem"] = (
            f"The vectors of “{space.catalog}” by {space.projection.parent_spec}, which the notion "
            "maps, are gone or were made anew by other weights."
        )
        return render(request, "learning/_neighbours.html", context)
    return _with_neighbours(request, context, by, of=parent)


def _with_neighbours(
    request: HttpRequest,
    context: dict[str, Any],
    by: Layers | None,
    of: EmbeddingSet | None = None,
) -> HttpResponse:
    space, chosen = context["space"], context["chosen"]
    vectors = vectors_in(space, space.catalog)
    if vectors is None:
        context["problem"] = f"The pictures of “{space.catalog}” are not in the space yet."
    elif chosen is not None:
        try:
            context["neighbours"] = neighbours(vectors, chosen, by, of=of)
        except (EmbeddingError, Refused) as problem:
            context["problem"] = str(problem)
    return render(request, "learning/_neighbours.html", context)


@require_POST
@admin_required
def delete(request: HttpRequest, slug: str, head: str) -> HttpResponseBase:
    """Delete a notion that no pool uses."""
    found = _find(slug, head)
    try:
        delete_notion(notion=found)
    except Refused as problem:
        messages.error(request, f"“{found}” stays: {problem.message}")
        return redirect("learning:notion", slug, head)
    messages.success(request, f"The notion “{found}” is deleted.")
    return redirect("learning:space", slug)

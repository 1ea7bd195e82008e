"""Pages of text spaces: the list, one with its notions, search by words."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from catalog.browsing.pages import page_frame
from catalog.models import Catalog
from catalog.queries import catalogs_with_images
from catalog.vectors.embeddings import EmbeddingError
from learning.live import text_vector, warm
from learning.models import TextSpace
from learning.neighbours import n_without_vector, nearest_to_text, vectors_in
from learning.text_spaces.queries import (
    find_space,
    jobs_of,
    known_spaces,
    notions_of,
    spaces_of,
    unfinished_runs,
)
from learning.text_spaces.services import start_mapping
from lookalike.core.errors import Refused

N_FOUND = 48
MAX_TEXT = 300


@require_safe
@reader_required
def home(request: HttpRequest) -> HttpResponse:
    """List the text spaces with their notions."""
    spaces = [(space, notions_of(space)) for space in known_spaces()]
    context = {
        "spaces": spaces,
        "runs": unfinished_runs(),
        "has_catalogs": catalogs_with_images().exists(),
    }
    return render(request, "learning/home.html", context)


@require_safe
@reader_required
def space(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a text space: what was learned from what, how well, and its notions."""
    found = find_space(slug)
    warm(found)
    person = signed_in(request)
    context = {
        "space": found, "run": found.run, "notions": notions_of(found),
        "jobs": jobs_of(found) if person.is_admin else [], "card": found.projection.card,
        "may_delete": person.is_admin,
        "n_missing": n_without_vector(vectors_in(found, found.catalog), found.catalog),
    }  # fmt: skip
    return render(request, "learning/space.html", context)


@require_safe
@reader_required
def words(request: HttpRequest, slug: str) -> HttpResponse:
    """Find pictures of a catalog by words."""
    catalog = get_object_or_404(Catalog, slug=slug)
    spaces = list(spaces_of(catalog))
    asked = request.GET.get("space", "")
    chosen = next((one for one in spaces if one.slug == asked), spaces[0] if spaces else None)
    text = request.GET.get("q", "").strip()[:MAX_TEXT]
    context: dict[str, Any] = {
        **page_frame(request, catalog), "spaces": spaces, "space": chosen, "text": text,
    }  # fmt: skip
    if chosen is not None:
        context |= _found(catalog, chosen, text)
    fragment = "HX-Request" in request.headers
    return render(request, f"learning/{'_found' if fragment else 'words'}.html", context)


def _found(catalog: Catalog, space: TextSpace, text: str) -> dict[str, Any]:
    """Return the nearest pictures, or what stands in the way."""
    vectors = vectors_in(space, catalog)
    context: dict[str, Any] = {}
    try:
        context["n_missing"] = n_without_vector(vectors, catalog)
        if not text:
            warm(space)
        read = text_vector(space, text) if text else None
        context["waiting"] = bool(text) and read is None
        if text and read is not None and vectors is not None:
            context["found"] = nearest_to_text(vectors, read, N_FOUND)
    except (Refused, EmbeddingError) as problem:
        context["problem"] = problem.message
    return context


@require_POST
@admin_required
def add_pictures(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Give vectors in the space to the pictures that came later."""
    found = find_space(slug)
    try:
        start_mapping(space=found, owner=signed_in(request))
    except Refused as problem:
        messages.error(request, str(problem))
    return redirect("learning:space", slug)

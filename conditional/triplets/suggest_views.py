"""Pages on which admins have triplets suggested."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from accounts.form_refusals import add_refusal, sentence
from conditional.template_sets.forms import SuggestForm
from conditional.triplets.pictures import shown_questions
from conditional.triplets.queries import places_to_compare
from conditional.triplets.suggest import (
    PREVIEW_ANCHORS,
    preview_of_suggestion,
    request_suggestion,
)
from lookalike.core.errors import Refused

N_PREVIEW = 6


@admin_required
def new_suggestion(request: HttpRequest) -> HttpResponse:
    """Ask where models disagree; queue the search."""
    sources = places_to_compare()
    form = SuggestForm(request.POST or None, initial=request.GET.dict(), sources=sources)
    if request.method == "POST" and form.is_valid():
        try:
            request_suggestion(
                catalog=form.catalog,
                name=form.cleaned_data["name"],
                recipe=form.recipe,
                owner=signed_in(request),
            )
        except Refused as problem:
            add_refusal(form, problem)
        else:
            return redirect("conditional:sets")
    context = {"form": form, "has_sources": bool(sources)}
    return render(request, "conditional/new_suggestion.html", context)


@admin_required
@require_POST
def suggestion_preview(request: HttpRequest) -> HttpResponse:
    """Show the first triplets that a half-filled form would give, from a few anchors."""
    given = {**request.POST.dict(), "name": request.POST.get("name") or "preview"}
    form = SuggestForm(given, sources=places_to_compare())
    context: dict[str, Any] = {"n_anchors": PREVIEW_ANCHORS}
    if form.is_valid():
        try:
            rows, suggested = preview_of_suggestion(form.catalog, form.recipe, N_PREVIEW)
        except Refused as problem:
            context["problem"] = sentence(problem.message)
        else:
            context |= {"shown": shown_questions(rows), "report": suggested.report}
    return render(request, "conditional/_suggestions.html", context)

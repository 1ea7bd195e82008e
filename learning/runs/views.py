"""Pages of training runs: the list, a new one, one with its curve, several side by side."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from catalog.models import Projection
from catalog.queries import catalogs_with_images
from catalog.vectors.projections import read_projection
from jobs.models import JobState
from learning.models import Family, TextSpace, TrainingRun
from learning.neighbours import chosen_picture, neighbours, parent_vectors, picture_choice
from learning.runs.forms import FORMS
from learning.runs.presentation import (
    found_rows,
    loss_chart,
    recipe_rows,
    shown_runs,
    side_by_side,
)
from learning.runs.services import delete_run, start_run
from lookalike.core.errors import Refused

MOST_COMPARED = 6


@require_safe
@reader_required
def runs(request: HttpRequest) -> HttpResponse:
    """List what was learned, and what is being learned."""
    found = TrainingRun.objects.select_related("catalog", "job__owner")
    person = signed_in(request)
    context = {
        "runs": shown_runs(found), "may_learn": person.is_admin,
        "jobs": [run.job for run in found if run.job and run.job.is_open and person.is_admin],
        "has_catalogs": catalogs_with_images().exists(),
        "has_spaces": TextSpace.objects.exists(),
    }  # fmt: skip
    return render(request, "learning/runs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def new(request: HttpRequest, family: str) -> HttpResponseBase:
    """Ask for a run; queue the learning."""
    form = FORMS[family](request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            run = start_run(
                catalog=given["catalog"], name=given["name"], recipe=form.recipe,
                owner=signed_in(request),
            )  # fmt: skip
        except Refused as problem:
            where = problem.field if problem.field in form.fields else None
            form.add_error(where, problem.message if where else str(problem))
        else:
            is_space = run.family == Family.SPACE
            return redirect("learning:home") if is_space else redirect("learning:run", run.slug)
    return render(request, "learning/new.html", {"form": form})


@require_safe
@reader_required
def run(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a run: how far it is, what it learned from, its curve, and what came of it."""
    found = _find(slug)
    person = signed_in(request)
    models = list(found.projections) if found.family != Family.SPACE else []
    chosen, others = picture_choice(found.catalog, request.GET.get("image"))
    job = found.job
    context = {
        "run": found, "models": models, "head": request.GET.get("head", ""),
        "chosen": chosen, "others": others,
        "job": job if job and job.state != JobState.SUCCEEDED else None,
        "found": found_rows(found), "recipe": recipe_rows(found), "may_delete": person.is_admin,
        "chart": loss_chart([found]) if found.curve else None,
    }  # fmt: skip
    return render(request, "learning/run.html", context)


@require_safe
@reader_required
def run_neighbours(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the fragment of a picture's neighbours by the backbone, and by what was learned."""
    found = _find(slug)
    head = request.GET.get("head", "")
    model = get_object_or_404(Projection, slug=found.slug, head=head)
    chosen = chosen_picture(found.catalog, request.GET.get("image"))
    context: dict[str, Any] = {
        "chosen": chosen, "by": model.spec, "before": f"as {model.parent_spec} sees",
        "here": f"{reverse('learning:run', args=[slug])}?head={head}&",
    }  # fmt: skip
    vectors = parent_vectors(model, found.catalog)
    if vectors is None:
        context["problem"] = (
            f"The vectors of “{found.catalog}” by {model.parent_spec}, which it maps, are gone or "
            "were made anew by other weights."
        )
    elif chosen is not None:
        try:
            context["neighbours"] = neighbours(vectors, chosen, read_projection(model.sha256))
        except Refused as problem:
            context["problem"] = str(problem)
    return render(request, "learning/_neighbours.html", context)


@require_safe
@reader_required
def compare(request: HttpRequest) -> HttpResponse:
    """Show several runs side by side: what differs, their curves, what came of them."""
    slugs = list(dict.fromkeys(request.GET.getlist("run")))[:MOST_COMPARED]
    by_slug = TrainingRun.objects.select_related("catalog").in_bulk(slugs, field_name="slug")
    chosen = [by_slug[slug] for slug in slugs if slug in by_slug]
    if len(chosen) < 2:
        messages.error(request, f"Choose two runs to compare, or up to {MOST_COMPARED}.")
        return redirect("learning:runs")
    context = {
        "runs": shown_runs(chosen), "chart": loss_chart(chosen), "rows": side_by_side(chosen),
    }  # fmt: skip
    return render(request, "learning/compare.html", context)


@require_POST
@admin_required
def delete(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Delete what was learned, unless something uses it, or what was learned towards it."""
    run = _find(slug)
    is_space = run.family == Family.SPACE
    try:
        delete_run(run=run)
    except Refused as problem:
        messages.error(request, f"“{run}” stays: {problem.message}")
        return redirect("learning:space" if is_space else "learning:run", slug)
    messages.success(request, f"The {run.family_name} “{run}” is deleted.")
    return redirect("learning:home" if is_space else "learning:runs")


def _find(slug: str) -> TrainingRun:
    runs = TrainingRun.objects.select_related("catalog", "job__owner")
    return get_object_or_404(runs, slug=slug)

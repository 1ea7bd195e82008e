"""Pages of template sets: list, browse, build, delete."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from accounts.form_refusals import add_refusal, sentence
from audit.actions import Action
from audit.services import record
from catalog.images.crops import SIDES, crop_response
from catalog.models import Image
from catalog.queries import catalogs_with_images
from conditional.campaigns.queries import verified_templates
from conditional.campaigns.sets import campaigns_of
from conditional.models import RetrievalTemplate, TemplateSet
from conditional.stored_sets import AnySet, delete_set
from conditional.template_sets.forms import BuildForm
from conditional.template_sets.queries import (
    attribute_names,
    list_conditions,
    shown_templates,
    template_sets,
)
from conditional.template_sets.recall_views import scores_context
from conditional.template_sets.rows import exported_entries
from conditional.template_sets.services import BUILD_TASK, make_preview, request_build
from conditional.triplets.queries import triplet_sets
from conditional.triplets.suggest import SUGGEST_TASK
from conditional.uploads.files import TEMPLATES_TASK, TRIPLETS_TASK
from jobs.models import OPEN_STATES, Job
from lookalike.core.errors import Refused

SETS_A_PAGE = 30
TEMPLATES_A_PAGE = 10
N_PREVIEW = 4
N_CONDITIONS = 200
MADE_BY = (BUILD_TASK, SUGGEST_TASK, TEMPLATES_TASK, TRIPLETS_TASK)


@require_safe
@reader_required
def sets(request: HttpRequest) -> HttpResponse:
    """List the sets, newest first, and what is being built."""
    page = Paginator(template_sets(), SETS_A_PAGE).get_page(request.GET.get("page"))
    made = Job.objects.filter(task__in=MADE_BY)
    context = {
        "page": page,
        "open_jobs": made.filter(state__in=OPEN_STATES),
        "last_job": made.exclude(task__in=[TEMPLATES_TASK, TRIPLETS_TASK]).first(),
        "triplet_sets": triplet_sets(),
    }
    return render(request, "conditional/sets.html", context)


@require_safe
@reader_required
def template_set(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a set's templates with their pictures, all or of one condition."""
    found = get_object_or_404(template_sets(), slug=slug)
    conditions = list_conditions(found)
    chosen = request.GET.get("condition", "")
    templates = found.templates.order_by("position")
    if chosen:
        templates = templates.filter(condition=chosen)
    page = Paginator(templates, TEMPLATES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "set": found,
        "conditions": conditions[:N_CONDITIONS],
        "n_conditions": len(conditions),
        "chosen": chosen,
        "page": page,
        "shown": shown_templates(page.object_list),
        "campaigns": campaigns_of(found, signed_in(request)),
        **scores_context(found),
    }
    return render(request, "conditional/set.html", context)


@admin_required
def new_set(request: HttpRequest) -> HttpResponse:
    """Ask what to build; queue it."""
    form = BuildForm(request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            request_build(
                catalog=cleaned["catalog"],
                name=cleaned["name"],
                recipe=form.recipe,
                owner=signed_in(request),
            )
        except Refused as problem:
            add_refusal(form, problem)
        else:
            return redirect("conditional:sets")
    context = {"form": form, "has_catalogs": catalogs_with_images().exists()}
    return render(request, "conditional/new_set.html", context)


@admin_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Show the first templates that a half-filled form would give."""
    form = BuildForm({**request.POST.dict(), "name": request.POST.get("name") or "preview"})
    context: dict[str, Any] = {"attributes": []}
    if "catalog" not in form.errors:
        context["attributes"] = attribute_names(form.cleaned_data["catalog"])
    if form.is_valid():
        try:
            first = make_preview(form.cleaned_data["catalog"], form.recipe, N_PREVIEW)
        except Refused as problem:
            context["problem"] = sentence(problem.message)
        else:
            context |= {"shown": shown_templates(first.rows), "preview": first}
    return render(request, "conditional/_preview.html", context)


@admin_required
@require_POST
def delete(request: HttpRequest, slug: str, model: type[AnySet]) -> HttpResponse:
    """Delete a set that no panel judges and no release holds."""
    row = get_object_or_404(model, slug=slug)
    try:
        delete_set(row=row)
    except Refused as problem:
        messages.error(request, sentence(problem.message))
        return redirect(row)
    messages.success(request, f"“{row}” is deleted.")
    return redirect("conditional:sets")


@require_safe
@reader_required
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """Give a set, or what of it a panel has passed, as a file of GeneCIS or CIRR."""
    template_set = get_object_or_404(TemplateSet, slug=slug)
    only = None
    asked = request.GET.get("campaign", "")
    if asked:
        about = get_object_or_404(template_set.campaigns, campaign__slug=asked)
        only = [one.pk for one in verified_templates(about.campaign)]
    only_of = {"only": asked} if asked else {}
    record(request, Action.EXPORTED, template_set, what="templates", **only_of)
    response = JsonResponse(exported_entries(template_set, only), safe=False)
    response["Content-Disposition"] = f'attachment; filename="{template_set.task}.json"'
    return response


@require_safe
@reader_required
def crop(request: HttpRequest, template_uid: uuid.UUID, slot: str, size: str) -> HttpResponseBase:
    """Return the part of an image that a template shows."""
    rows = RetrievalTemplate.objects.select_related("template_set")
    template = get_object_or_404(rows, uid=template_uid)
    is_place = slot.isdecimal() and len(slot) < 9
    place = None if slot == "reference" else int(slot) if is_place else -1
    if size not in SIDES or (place is not None and not 0 <= place < template.n_candidates):
        raise Http404
    box = template.box_of(place)
    pk = template.reference_id if place is None else template.candidates[place]
    if box is None:
        raise Http404
    return crop_response(Image.objects.get(pk=pk), box, size, template.crops)

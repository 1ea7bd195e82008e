"""The page that asks for a pool, and what it shows while it is filled in."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from accounts.models import User
from catalog.facets import attribute_suggestions
from catalog.models import Catalog, Projection
from lookalike.core.errors import Refused
from lookalike.pooling.presets import PRESETS
from pooling.models import Pool
from pooling.new_pool.forms import PoolForm
from pooling.new_pool.prediction import prediction_of
from pooling.new_pool.requests import PoolRequest, choose_queries
from pooling.pools.costs import CostForm
from pooling.pools.services import create_pool, start_pool
from pooling.sources.ranking_task import RankingTask


@admin_required
def new_pool(request: HttpRequest) -> HttpResponse:
    """Ask for a pool; create it and start its models."""
    form = PoolForm(request.POST or None, request.FILES or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        pool = _created(form, signed_in(request))
        if pool is not None:
            try:
                start_pool(pool=pool, owner=signed_in(request))
            except Refused as problem:
                messages.error(request, f"The pool is made and waits to be started: {problem}")
            return redirect("pooling:pool", pool.slug)
    cost_form = CostForm(request.POST or None) if request.method == "POST" else CostForm()
    context = {
        "form": form,
        "cost_form": cost_form,
        "presets": PRESETS,
        "learned": Projection.objects.all(),
        "prediction": prediction_of(form, cost_form),
        "has_catalogs": Catalog.objects.filter(images__isnull=False).exists(),
    }
    return render(request, "pooling/new_pool.html", context)


def _created(form: PoolForm, owner: User) -> Pool | None:
    """Return the new pool, or None after the form was told what is wrong."""
    wanted: PoolRequest = form.cleaned_data["request"]
    try:
        task = RankingTask(wanted.catalog, wanted.asking, choose_queries(wanted))
        uploads = form.take_uploads(task)
        if not form.is_valid():
            return None
        return create_pool(request=replace(wanted, uploads=uploads), created_by=owner)
    except Refused as problem:  # the name was taken since, or the catalog changed
        form.add_error(problem.field if problem.field in form.fields else None, problem.message)
        return None


@admin_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Show what the pool of a half-filled form would cost."""
    prediction = prediction_of(PoolForm(request.POST, request.FILES), CostForm(request.POST))
    return render(request, "pooling/_prediction.html", {"prediction": prediction})


@admin_required
def attributes(request: HttpRequest) -> HttpResponse:
    """Suggest filters for the catalog that queries come from."""
    chosen = request.GET.get("query_catalog") or request.GET.get("catalog") or ""
    catalog = Catalog.objects.filter(pk=chosen).first() if chosen.isdigit() else None
    suggestions = attribute_suggestions(catalog) if catalog else []
    return render(request, "pooling/_attributes.html", {"suggestions": suggestions})

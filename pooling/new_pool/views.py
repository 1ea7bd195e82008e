"""The page that asks for a pool, and what it shows while it is filled in."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, signed_in
from accounts.form_refusals import add_refusal
from accounts.models import User
from catalog.browsing.facets import attribute_suggestions
from catalog.queries import catalogs_with_images, chosen_catalog
from catalog.short_names import name_check_page
from lookalike.core.errors import Refused
from pooling.models import Pool
from pooling.new_pool.forms import PoolForm
from pooling.new_pool.prediction import prediction_of
from pooling.new_pool.requests import PoolRequest, choose_queries, pool_name
from pooling.pools.costs import CostForm
from pooling.pools.services import create_pool, start_pool
from pooling.sources.offers import model_offers
from pooling.sources.ranking_task import RankingTask
from pooling.sources.slow_models import slow_models


@admin_required
def new_pool(request: HttpRequest) -> HttpResponse:
    """Ask for a pool; create it and start its models."""
    form = PoolForm(request.POST or None, request.FILES or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        pool = _created(form, signed_in(request))
        if pool is not None:
            for slow in _slow(form):
                messages.warning(request, slow)
            try:
                start_pool(pool=pool, owner=signed_in(request))
            except Refused as problem:
                messages.error(request, f"The pool is made and waits to be started: {problem}")
            return redirect("pooling:pool", pool.slug)
    cost_form = (
        CostForm(request.POST or None)
        if request.method == "POST"
        else CostForm(initial=request.GET.dict())
    )
    context = {
        "form": form,
        "cost_form": cost_form,
        "groups": model_offers(chosen_catalog(form["catalog"].value())),
        "suggestions": _suggestions(form["query_catalog"].value() or form["catalog"].value()),
        "prediction": prediction_of(form, cost_form),
        "slow_models": _slow(form),
        "has_catalogs": catalogs_with_images().exists(),
    }
    return render(request, "pooling/new_pool.html", context)


def _slow(form: PoolForm) -> list[str]:
    """Return which of the models that a form names are slow here; none while they are wrong."""
    if not form.is_bound:
        return []
    form.is_valid()
    return slow_models(wish.spec for wish in form.cleaned_data.get("models") or [])


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
        add_refusal(form, problem)
        return None


@admin_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Show what the pool of a half-filled form would cost."""
    form = PoolForm(request.POST, request.FILES)
    context: dict[str, object] = {
        "slow_models": _slow(form),
        "prediction": prediction_of(form, CostForm(request.POST)),
        "bad_models": form.errors.get("models") if form.ticked or form["models"].value() else None,
    }
    return render(request, "pooling/_prediction.html", context)


@require_safe
@admin_required
def name(request: HttpRequest) -> HttpResponse:
    """Tell somebody who types a pool's name whether it is free."""
    typed = request.GET.get("name", "")
    return name_check_page(request, pool_name(typed) if typed.strip() else None)


@require_safe
@admin_required
def models(request: HttpRequest) -> HttpResponse:
    """List the models to tick for the chosen catalog; those ticked stay so."""
    context = {
        "groups": model_offers(chosen_catalog(request.GET.get("catalog"))),
        "ticked": request.GET.getlist("ticked"),
    }
    return render(request, "pooling/_models.html", context)


@admin_required
def attributes(request: HttpRequest) -> HttpResponse:
    """Suggest filters for the catalog that queries come from."""
    asked_of = request.GET.get("query_catalog") or request.GET.get("catalog")
    return render(request, "pooling/_attributes.html", {"suggestions": _suggestions(asked_of)})


def _suggestions(catalog_id: object) -> list[str]:
    """Return filters (NAME=VALUE) for a chosen catalog; none where none is chosen."""
    catalog = chosen_catalog(catalog_id)
    return attribute_suggestions(catalog) if catalog else []

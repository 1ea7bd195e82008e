"""Pages that change a finished pool."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from lookalike.core.errors import Refused
from pooling.models import Pool
from pooling.pools.queries import pools_for_pages
from pooling.pools.settle import settle_pool
from pooling.sources.offers import model_offers
from pooling.sources.slow_models import slow_models
from pooling.top_up.forms import TopUpForm
from pooling.top_up.services import start_change, top_up_pool


@admin_required
def top_up(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask which models shall come to a pool or go deeper; start them."""
    pool = get_object_or_404(pools_for_pages(), slug=slug)
    is_sent = request.method == "POST"
    form = TopUpForm(pool, request.POST, request.FILES) if is_sent else TopUpForm(pool)
    if is_sent and form.is_valid():
        wanted, owner = form.wanted(), signed_in(request)
        if form.is_valid():
            try:
                with transaction.atomic():
                    change = top_up_pool(pool=pool, wanted=wanted, made_by=owner)
                    start_change(change=change, owner=owner)
            except Refused as problem:  # somebody else was faster
                form.add_error(None, str(problem))
            else:
                for slow in slow_models(step["spec"] for step in change.steps):
                    messages.warning(request, slow)
                return redirect("pooling:pool", slug)
    present = pool.sources.values_list("spec", flat=True)
    context = {"pool": pool, "form": form, "groups": model_offers(pool.catalog, without=present)}
    return render(request, "pooling/top_up.html", context)


@admin_required
@require_POST
def settle(request: HttpRequest, slug: str) -> HttpResponse:
    """Put the pairs that a pool's campaigns do not ask yet to their panels."""
    n_opened = settle_pool(pool=get_object_or_404(Pool, slug=slug))
    messages.success(request, f"{n_opened:,} questions opened." if n_opened else "Nothing to open.")
    return redirect("pooling:pool", slug)

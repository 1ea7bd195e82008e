"""Buttons of the pool page: start, cancel, retry, delete."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from lookalike.core.errors import Refused
from pooling.models import Pool, PoolSource
from pooling.pools.services import cancel_pool, cancel_source, delete_pool, start_pool, start_source
from pooling.pools.settle import settle_pool
from pooling.top_up.services import withdraw_depth


@admin_required
@require_POST
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue every model that has not proposed yet."""
    pool = get_object_or_404(Pool, slug=slug)
    try:
        n_started = start_pool(pool=pool, owner=signed_in(request))
    except Refused as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, f"{n_started} models queued." if n_started else "Nothing to do.")
    return redirect("pooling:pool", slug)


@admin_required
@require_POST
def cancel(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop every model that is not started, queued or running."""
    pool = get_object_or_404(Pool, slug=slug)
    n_stopped = cancel_pool(pool=pool)
    settle_pool(pool=pool)
    messages.success(request, f"{n_stopped} models stopped; what was embedded is kept.")
    return redirect("pooling:pool", slug)


@admin_required
@require_POST
def retry(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Queue one model again."""
    source = get_object_or_404(PoolSource, pool__slug=slug, position=position)
    try:
        start_source(source=source, owner=signed_in(request))
    except Refused as problem:
        messages.error(request, str(problem))
    return redirect("pooling:pool", slug)


@admin_required
@require_POST
def stop(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Stop one model."""
    source = get_object_or_404(PoolSource, pool__slug=slug, position=position)
    if cancel_source(source=source):
        settle_pool(pool=source.pool)
    return redirect("pooling:pool", slug)


@admin_required
@require_POST
def withdraw(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Give up a greater depth that one model did not reach."""
    source = get_object_or_404(PoolSource, pool__slug=slug, position=position)
    try:
        withdraw_depth(source=source)
    except Refused as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, f"{source} stays at k = {source.k}.")
    return redirect("pooling:pool", slug)


@admin_required
@require_POST
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove a pool that nobody judges."""
    pool = get_object_or_404(Pool, slug=slug)
    try:
        delete_pool(pool=pool)
    except Refused as problem:
        messages.error(request, str(problem))
        return redirect("pooling:pool", slug)
    messages.success(request, f"“{pool}” is deleted; the embeddings are kept.")
    return redirect("pooling:pools")

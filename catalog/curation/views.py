"""Buttons of the pages of duplicates and of one image."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from catalog.curation import services
from catalog.models import Image, ProductMerge
from lookalike.core.errors import Refused


@require_POST
@admin_required
def leave_out(request: HttpRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Keep an image out of pools made from now on."""
    image = get_object_or_404(Image, catalog__slug=slug, uid=uid)
    reason = request.POST.get("reason", "")
    return _done(
        request,
        lambda: services.leave_out(image=image, reason=reason, by=signed_in(request)),
        "Left out of pools made from now on.",
    )


@require_POST
@admin_required
def take_back(request: HttpRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Let an image into pools again."""
    image = get_object_or_404(Image, catalog__slug=slug, uid=uid)
    return _done(
        request,
        lambda: services.take_back(image=image, by=signed_in(request)),
        "The image takes part in new pools again.",
    )


@require_POST
@admin_required
def join(request: HttpRequest, slug: str, uid: uuid.UUID, other: uuid.UUID) -> HttpResponse:
    """Say that two images show one product."""
    first, second = (get_object_or_404(Image, catalog__slug=slug, uid=one) for one in (uid, other))
    return _done(
        request,
        lambda: services.join_products(first=first, second=second, by=signed_in(request)),
        "They are one product now.",
    )


@require_POST
@admin_required
def part(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take back that two images show one product."""
    merge = get_object_or_404(ProductMerge, catalog__slug=slug, pk=pk)
    return _done(
        request,
        lambda: services.part_products(merge=merge, by=signed_in(request)),
        "They are two products again.",
    )


def _done(request: HttpRequest, act: Callable[[], object], said: str) -> HttpResponse:
    try:
        act()
        messages.success(request, said)
    except Refused as problem:
        messages.error(request, problem.message)
    back = request.POST.get("next", "")
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if is_ours else "/catalogs/")

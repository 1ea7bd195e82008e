"""Pages of images and products, and the pictures themselves."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import reader_required
from catalog.browsing.filters import PREFIX
from catalog.browsing.pages import page_frame
from catalog.curation.queries import curated, open_omissions
from catalog.images.serving import image_response
from catalog.models import Catalog, Image, NearDuplicate
from catalog.queries import (
    exact_duplicates,
    find_near_duplicates,
    find_neighbours,
    find_siblings,
    near_duplicates,
    product_page,
    usable_embedding_sets,
)
from catalog.vectors.embeddings import EmbeddingError

N_NEIGHBOURS = 12
PAIRS_A_PAGE = 24


@require_safe
@reader_required
def picture(request: HttpRequest, uid: uuid.UUID, size: str) -> HttpResponseBase:
    """Return the bytes of a picture to people who may see everything about it."""
    return image_response(request, get_object_or_404(Image, uid=uid), size)


@require_safe
@reader_required
def image(request: HttpRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Show one image and all that is known about it."""
    catalog = get_object_or_404(Catalog, slug=slug)
    found = get_object_or_404(catalog.images, uid=uid)
    context = {
        **page_frame(request, catalog),
        "image": found,
        "attributes": sorted(found.attributes.items()),
        "prefix": PREFIX,
        "paths": found.source_files.all(),
        "siblings": find_siblings(found),
        "near_duplicates": find_near_duplicates(found),
        "embedding_sets": usable_embedding_sets(catalog),
        "omission": next(iter(open_omissions([found.pk])), None),
    }
    return render(request, "catalog/image.html", context)


@require_safe
@reader_required
def neighbours(request: HttpRequest, slug: str, uid: uuid.UUID, set_id: int) -> HttpResponse:
    """Return the fragment of the nearest images by one embedding set."""
    catalog = get_object_or_404(Catalog, slug=slug)
    found = get_object_or_404(catalog.images, uid=uid)
    embedding_set = get_object_or_404(usable_embedding_sets(catalog), pk=set_id)
    context: dict[str, Any] = {
        "catalog": catalog, "image": found, "embedding_set": embedding_set
    }  # fmt: skip
    try:
        context["neighbours"] = find_neighbours(found, embedding_set, N_NEIGHBOURS)
    except EmbeddingError as problem:
        context["problem"] = str(problem)
    return render(request, "catalog/_neighbours.html", context)


@require_safe
@reader_required
def product(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all images of one product, and where their attributes differ."""
    catalog = get_object_or_404(Catalog, slug=slug)
    product_id = request.GET.get("id", "")
    found = product_page(catalog, product_id)
    if found is None:
        raise Http404
    context = {**page_frame(request, catalog), "product_id": product_id, "product": found}
    return render(request, "catalog/product.html", context)


@require_safe
@reader_required
def duplicates(request: HttpRequest, slug: str) -> HttpResponse:
    """Show pairs that look alike, side by side, or files with identical bytes."""
    catalog = get_object_or_404(Catalog, slug=slug)
    is_exact = request.GET.get("kind") == "exact"
    rows = exact_duplicates(catalog) if is_exact else near_duplicates(catalog)
    page = Paginator(rows, PAIRS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        **page_frame(request, catalog),
        "page": page,
        "is_exact": is_exact,
        "pairs": curated(row for row in page if isinstance(row, NearDuplicate)),
    }
    return render(request, "catalog/duplicates.html", context)

"""Pages of a catalog's map."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from catalog.browsing.pages import page_frame
from catalog.maps.queries import GONE, find_map, is_up_to_date
from catalog.maps.services import MAP_TASK, map_subject, start_map
from catalog.models import Catalog, CatalogMap, EmbeddingSet
from catalog.queries import usable_embedding_sets
from jobs.conflicts import conflict_as_message
from jobs.models import Job, JobState
from jobs.queries import latest_job
from pooling.maps.queries import pairs_file, points_file, pools_on

KEPT_SECONDS = 3600  # by a browser: a map is never drawn over, only images may be deleted


@require_safe
@reader_required
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a catalog's images in the plane, and the pairs of a pool among them."""
    catalog = get_object_or_404(Catalog, slug=slug)
    sets = list(
        usable_embedding_sets(catalog).select_related("map").defer("map__image_ids", "map__points")
    )
    chosen = _chosen(sets, request.GET.get("set", ""))
    pools = list(pools_on(catalog))
    pool = next((one for one in pools if one.slug == request.GET.get("pool", "")), None)
    context: dict[str, Any] = {
        **page_frame(request, catalog), "sets": sets, "chosen": chosen, "pools": pools,
        "pool": pool, "any_uid": GONE, "may_draw": signed_in(request).is_admin,
    }  # fmt: skip
    if chosen is not None:
        drawn = _map_of(chosen)
        context |= {
            "map": drawn,
            "n_drawn": len(drawn.image_ids) if drawn else 0,
            "n_images": catalog.images.count(),
            "is_old": drawn is not None and not is_up_to_date(drawn),
            "drawing": _shown_job(chosen, drawn),
        }
    return render(request, "pooling/map.html", context)


def _map_of(embedding_set: EmbeddingSet) -> CatalogMap | None:
    return getattr(embedding_set, "map", None)


def _chosen(sets: list[EmbeddingSet], asked: str) -> EmbeddingSet | None:
    """Return the set that is asked for, else one that has a map, else any."""
    named = [one for one in sets if str(one.pk) == asked]
    return next(iter(named or [one for one in sets if _map_of(one)] or sets), None)


def _shown_job(embedding_set: EmbeddingSet, drawn: CatalogMap | None) -> Job | None:
    """Return the job that draws a set's map, if it is under way or has failed since."""
    job = latest_job(MAP_TASK, map_subject(embedding_set))
    if job is None or job.state == JobState.SUCCEEDED:
        return None
    return job if job.is_open or drawn is None or job.created_at > drawn.created_at else None


@require_POST
@admin_required
def draw(request: HttpRequest, slug: str, set_id: int) -> HttpResponse:
    """Have the map of an embedding set drawn."""
    catalog = get_object_or_404(Catalog, slug=slug)
    chosen = get_object_or_404(usable_embedding_sets(catalog), pk=set_id)
    with conflict_as_message(request):
        start_map(embedding_set=chosen, owner=signed_in(request))
    return redirect(f"{reverse('pooling:map', args=[slug])}?set={chosen.pk}")


@require_safe
@reader_required
def points(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Return a map's points, as the browser reads them."""
    found = _get_map(slug, pk)
    answer = HttpResponse(points_file(found), content_type="application/octet-stream")
    answer["Cache-Control"] = f"private, max-age={KEPT_SECONDS}"
    return answer


@require_safe
@reader_required
def pairs(request: HttpRequest, slug: str, pk: int, pool: str) -> HttpResponse:
    """Return the pairs of a pool on a map, as the browser reads them."""
    found = _get_map(slug, pk)
    chosen = get_object_or_404(pools_on(found.embedding_set.catalog), slug=pool)
    return HttpResponse(pairs_file(found, chosen), content_type="application/octet-stream")


def _get_map(slug: str, pk: int) -> CatalogMap:
    found = find_map(get_object_or_404(Catalog, slug=slug), pk)
    if found is None:
        raise Http404
    return found

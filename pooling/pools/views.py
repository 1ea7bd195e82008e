"""Pages that show pools."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from accounts.access import reader_required, signed_in
from catalog.browsing.pages import Tab
from pooling.models import Pool
from pooling.pools.costs import Cost, CostForm, costs_in
from pooling.pools.figures import make_histogram, overlap_table
from pooling.pools.queries import pools_for_pages, shown_queries, unasked_pairs
from pooling.pools.unsettled import has_unstarted, is_at_work
from pooling.pools.yields import compute_yields

POOLS_A_PAGE = 30
QUERIES_A_PAGE = 5
STOP_POLLING = 286  # htmx swaps the answer in and asks no more


@reader_required
def pools(request: HttpRequest) -> HttpResponse:
    """List the pools, newest first."""
    page = Paginator(pools_for_pages(), POOLS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "pooling/pools.html", {"page": page})


@reader_required
def pool(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one pool: how far its models are, its size, its campaigns."""
    at_work = _is_at_work(slug)
    shown = get_object_or_404(pools_for_pages(), slug=slug)
    sources = list(shown.sources.all())
    context = {
        **_frame(request, shown),
        "at_work": at_work,
        "has_unstarted": has_unstarted(sources),
        "sources": sources,
        "n_unasked": 0 if at_work else unasked_pairs(shown),
    }
    return render(request, "pooling/pool.html", context)


@reader_required
def figures(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what judging a pool costs and has found, and how its models overlap."""
    shown = get_object_or_404(pools_for_pages(), slug=slug)
    context = {
        **_frame(request, shown),
        "overlap": overlap_table(shown.stats),
        "histogram": make_histogram(shown.stats),
        **_costs(request, shown),
    }
    return render(request, "pooling/figures.html", context)


@reader_required
def proposals(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the candidates of a pool's queries, a few queries a page."""
    shown = get_object_or_404(pools_for_pages(), slug=slug)
    page = Paginator(range(shown.queries.count()), QUERIES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        **_frame(request, shown),
        "page": page,
        "shown": shown_queries(shown, page.start_index() - 1, QUERIES_A_PAGE),
    }
    return render(request, "pooling/proposals.html", context)


@reader_required
def history(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how a pool was made and topped up, newest first."""
    shown = get_object_or_404(pools_for_pages(), slug=slug)
    changes = list(shown.changes.select_related("made_by").order_by("-number"))
    return render(request, "pooling/history.html", {**_frame(request, shown), "changes": changes})


@reader_required
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how far the models of a pool are; the page asks every second until all is settled.

    Then the polling stops, and the page loads itself anew.
    """
    at_work = _is_at_work(slug)
    shown = get_object_or_404(pools_for_pages(), slug=slug)
    context = {
        "pool": shown,
        "at_work": at_work,
        "was_at_work": not at_work,
        "has_unstarted": has_unstarted(list(shown.sources.all())),
        "sources": list(shown.sources.all()),
    }
    status = 200 if at_work else STOP_POLLING
    return render(request, "pooling/_progress.html", context, status=status)


def _is_at_work(slug: str) -> bool:
    """Whether a page must be asked for again; read before what the page shows.

    What is read after the end is complete; read before it, it is asked for once more.
    """
    pools = Pool.objects.prefetch_related("sources__job", "changes")
    return is_at_work(get_object_or_404(pools, slug=slug))


def _frame(request: HttpRequest, shown: Pool) -> dict[str, object]:
    """Return the context of the head that every page of a pool has."""
    pages = (
        ("Models", "pool"),
        ("Figures", "figures"),
        ("Proposals", "proposals"),
        ("History", "history"),
    )
    here = request.resolver_match.url_name if request.resolver_match else ""
    tabs = [
        Tab(label, reverse(f"pooling:{name}", args=[shown.slug]), name == here)
        for label, name in pages
    ]
    return {"pool": shown, "tabs": tabs}


def _costs(request: HttpRequest, shown: Pool) -> dict[str, object]:
    """Return the cost of judging the pool or every pair there is, and what it has found."""
    form = CostForm(request.GET) if "seconds" in request.GET else CostForm()
    seconds, n_judges, _ = costs_in(form)
    return {
        "seconds": seconds,
        "yields": compute_yields(shown, seconds, signed_in(request)),
        "cost_form": form,
        "pool_cost": Cost(shown.stats.get("pairs", 0), seconds, n_judges),
        "brute_force_cost": Cost(shown.stats.get("brute_force_pairs", 0), seconds, n_judges),
    }

"""Pages of triplets: sets of them, what panels said of them, and answers as a file or a set."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from annotation.models import Campaign
from audit.actions import Action
from audit.services import record
from catalog.browsing.pages import Tab
from conditional.campaigns.sets import campaigns_of
from conditional.models import TripletSet
from conditional.triplets.judged import keep_answers, triplets_csv
from conditional.triplets.queries import (
    shown_results,
    triplet_results,
    triplet_statistics,
)
from conditional.triplets.services import delete_triplet_set
from conditional.triplets.shown import shown_answers, shown_questions
from lookalike.conditional.triplet_majority import Standing
from lookalike.core.errors import Refused

TRIPLETS_A_PAGE = 12
TABS = {
    Standing.DECIDED: "Decided",
    Standing.UNDECIDED: "Undecided",
    Standing.WAITING: "Waiting",
}
Chosen = TypeVar("Chosen", bound=StrEnum)


@require_safe
@reader_required
def triplets(request: HttpRequest, slug: str) -> HttpResponse:
    """Show figures about people and embeddings, and the triplets with their pictures."""
    triplet_set = get_object_or_404(TripletSet.objects.select_related("catalog"), slug=slug)
    has_answers = triplet_set.triplets.exists()
    rows: QuerySet[Any] = triplet_set.triplets.all() if has_answers else triplet_set.questions.all()
    page = Paginator(rows.order_by("position"), TRIPLETS_A_PAGE).get_page(request.GET.get("page"))
    of_page = page.object_list
    context = {
        "set": triplet_set,
        "has_answers": has_answers,
        "campaigns": campaigns_of(triplet_set, signed_in(request)),
        "scores": triplet_set.scores.select_related("embedding_set"),
        "page": page,
        "shown": shown_answers(of_page) if has_answers else shown_questions(of_page),
    }
    return render(request, "conditional/triplets.html", context)


def triplet_results_page(request: HttpRequest, found: Campaign, tabs: list[Tab]) -> HttpResponse:
    """Show a campaign's figures, and its triplets by how they came out."""
    results = triplet_results(found)
    held = {one.outcome.standing for one in results}
    standing = chosen_tab(TABS, request.GET.get("outcome", ""), held)
    chosen = [one for one in results if one.outcome.standing == standing]
    page = Paginator(chosen, TRIPLETS_A_PAGE).get_page(request.GET.get("page"))
    counts = {tab: sum(one.outcome.standing == tab for one in results) for tab in TABS}
    context = {
        "campaign": found,
        "tabs": tabs,
        "set": found.about.triplet_set,
        "statistics": triplet_statistics(results),
        "outcomes": [(tab.value, words, counts[tab]) for tab, words in TABS.items()],
        "outcome": standing.value,
        "page": page,
        "shown": shown_results(list(page.object_list)),
    }
    return render(request, "conditional/triplet_results.html", context)


def _campaign(slug: str) -> Campaign:
    return get_object_or_404(Campaign, slug=slug, about__triplet_set__isnull=False)


def chosen_tab(tabs: Mapping[Chosen, str], asked: str, held: Collection[Chosen]) -> Chosen:
    """Return the tab that was asked for, else the first that holds something, else the last."""
    *_, last = tabs
    first = next((tab for tab in tabs if tab in held), last)
    return next((tab for tab in tabs if tab == asked), first)


@require_safe
@reader_required
def answers_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the answers that name a side as a CSV file of triplets."""
    campaign = _campaign(slug)
    record(request, Action.EXPORTED, campaign, what="answers", format="csv")
    response = HttpResponse(triplets_csv(campaign), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{campaign.slug}.csv"'
    return response


@admin_required
@require_POST
def keep(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the answers of a closed campaign as a set of triplets."""
    try:
        kept = keep_answers(
            campaign=_campaign(slug),
            name=request.POST.get("name", "")[:80],
            owner=signed_in(request),
        )
    except Refused as problem:
        messages.error(request, problem.message)
        return redirect("conditional:results", slug)
    messages.success(request, f"The answers are kept as “{kept}”.")
    return redirect("conditional:triplets", kept.slug)


@admin_required
@require_POST
def delete_triplets(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a set of triplets that no panel judges and no release holds."""
    triplet_set = get_object_or_404(TripletSet, slug=slug)
    try:
        delete_triplet_set(triplet_set=triplet_set)
    except Refused as problem:
        messages.error(request, problem.message)
        return redirect("conditional:triplets", slug)
    messages.success(request, f"“{triplet_set}” is deleted.")
    return redirect("conditional:sets")

"""Pages of triplets: sets of them, and a panel's answers as a file or a set."""

from __future__ import annotations

from typing import Any

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
from conditional.campaigns.sets import campaigns_of
from conditional.models import TripletSet
from conditional.triplets.judged import keep_answers, triplets_csv
from conditional.triplets.pictures import shown_answers, shown_questions
from lookalike.core.errors import Refused

TRIPLETS_A_PAGE = 12


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


def _campaign(slug: str) -> Campaign:
    return get_object_or_404(Campaign, slug=slug, about__triplet_set__isnull=False)


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

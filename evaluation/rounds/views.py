"""Pages of campaigns that are judged in rounds, for admins."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, signed_in
from accounts.form_refusals import add_refusal
from evaluation.models import RoundPlan
from evaluation.results.leaderboard import HEADINGS
from evaluation.results.queries import latest_result
from evaluation.results.stored import RoundsSummary
from evaluation.rounds.forms import RoundsForm
from evaluation.rounds.page import rounds_page
from evaluation.rounds.progress import rounds_progress
from evaluation.rounds.services import (
    LOOK_TASK,
    look_subject,
    open_campaign_in_rounds,
    request_look,
    stop_rounds,
)
from jobs.queries import unfinished_job
from lookalike.core.dataclass_json import from_json
from lookalike.core.errors import Refused
from pooling.campaign.views import suggested_campaign
from pooling.pools.queries import pools_for_pages


@admin_required
def new_rounds(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a panel, its rules and those of rounds, and keep a draft of the first round."""
    pool = get_object_or_404(pools_for_pages(), slug=slug)
    form = RoundsForm(request.POST or None, initial=suggested_campaign(pool), pool=pool)
    if request.method == "POST" and form.is_valid():
        try:
            campaign = open_campaign_in_rounds(
                pool=pool,
                round_rules=form.round_rules,
                owner=signed_in(request),
                rules=form.rules,
                **form.others,
            )
        except Refused as problem:
            add_refusal(form, problem)
        else:
            messages.success(
                request, f"“{campaign}” is a draft with its first round; no judge sees it yet."
            )
            page = "opening" if "open" in request.POST else "campaign"
            return redirect(f"annotation:{page}", campaign.slug)
    return render(request, "evaluation/new_rounds.html", {"pool": pool, "form": form})


@require_safe
@admin_required
def rounds(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the rounds, what is known, and what is missing."""
    plan = _plan(slug)
    progress = rounds_progress(plan)
    number = len(progress)
    context = {
        "campaign": plan.campaign,
        "plan": plan,
        "page": rounds_page(plan, progress),
        "measure": HEADINGS.get(plan.measure, plan.measure),
        "number": number,
        "result": latest_result(plan.campaign),
        "job": unfinished_job(LOOK_TASK, look_subject(plan.campaign, number)),
        "claim": from_json(RoundsSummary, plan.claim) if plan.claim else None,
    }
    return render(request, "evaluation/rounds.html", context)


@require_POST
@admin_required
def open_next(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Queue the opening of a round."""
    plan = _plan(slug)
    if number - 1 != plan.rounds.count():
        messages.error(request, f"Round {number} was opened already, or does not come next.")
    else:
        _queue(request, plan, number - 1, opens=True)
    return redirect("evaluation:rounds", slug)


@require_POST
@admin_required
def look(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue a look at what is known."""
    plan = _plan(slug)
    _queue(request, plan, plan.rounds.count(), opens=False)
    return redirect("evaluation:rounds", slug)


@require_POST
@admin_required
def stop(request: HttpRequest, slug: str) -> HttpResponse:
    """End judging, and claim what is known."""
    plan = _plan(slug)
    try:
        stop_rounds(campaign=plan.campaign, by=signed_in(request))
    except Refused as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, "Judging ends here. What is known is kept as claimed.")
    return redirect("evaluation:rounds", slug)


def _queue(request: HttpRequest, plan: RoundPlan, number: int, *, opens: bool) -> None:
    try:
        request_look(campaign=plan.campaign, number=number, opens=opens, owner=signed_in(request))
    except Refused as problem:
        messages.error(request, str(problem))


def _plan(slug: str) -> RoundPlan:
    return get_object_or_404(RoundPlan.objects.select_related("campaign"), campaign__slug=slug)

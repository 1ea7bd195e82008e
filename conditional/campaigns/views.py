"""Pages on which admins put sets to a panel, and see what came of it."""

from __future__ import annotations

from collections import Counter

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import admin_required, reader_required, signed_in
from annotation.queries.campaigns import campaign_tabs, campaigns_shown_to
from conditional.campaigns.kinds import TRIPLET
from conditional.campaigns.queries import Result, compute_statistics, list_results
from conditional.campaigns.services import ask_panel
from conditional.models import TemplateSet, TripletSet
from conditional.template_sets.forms import PanelForm
from conditional.template_sets.queries import ShownTemplate, shown_templates
from conditional.template_sets.views import refuse
from conditional.triplets.views import chosen_tab, triplet_results_page
from lookalike.conditional.verdicts import Outcome, Vote
from lookalike.core.errors import Refused

RESULTS_A_PAGE = 10
TABS = {
    Outcome.ADJUDICATE: "To adjudicate",
    Outcome.FAILS: "Fail",
    Outcome.PASSES: "Pass",
    Outcome.WAITING: "Waiting",
}


@admin_required
def new_template_campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a panel; put a set of templates to it."""
    return _open(request, get_object_or_404(TemplateSet, slug=slug))


@admin_required
def new_triplet_campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a panel; put a set of triplets to it."""
    return _open(request, get_object_or_404(TripletSet, slug=slug))


def _open(request: HttpRequest, asked_set: TemplateSet | TripletSet) -> HttpResponse:
    form = PanelForm(request.POST or None, asked_set=asked_set)
    if request.method == "POST" and form.is_valid():
        try:
            found = ask_panel(
                asked_set=asked_set, owner=signed_in(request), is_draft=True, rules=form.rules,
                **form.others,
            )  # fmt: skip
        except Refused as problem:
            refuse(form, problem)
        else:
            page = "opening" if "open" in request.POST else "campaign"
            return redirect(f"annotation:{page}", found.slug)
    if is_of_triplets := isinstance(asked_set, TripletSet):
        page, n_questions = "triplets", asked_set.n_questions
    else:
        page, n_questions = "set", asked_set.templates.count()
    context = {
        "form": form,
        "set": asked_set,
        "is_of_triplets": is_of_triplets,
        "n_questions": n_questions,
        "back_url": reverse(f"conditional:{page}", args=[asked_set.slug]),
    }
    return render(request, "conditional/new_campaign.html", context)


@require_safe
@reader_required
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """Show figures, and what was asked by how it came out."""
    shown = campaigns_shown_to(signed_in(request)).filter(about__isnull=False)
    campaign = get_object_or_404(shown.select_related("about__template_set"), slug=slug)
    tabs = campaign_tabs(campaign, "conditional:results") if signed_in(request).is_admin else []
    if campaign.task_kind == TRIPLET:
        return triplet_results_page(request, campaign, tabs)
    results = list_results(campaign)
    held = {one.verdict.outcome for one in results}
    outcome = chosen_tab(TABS, request.GET.get("outcome", ""), held)
    chosen = [one for one in results if one.verdict.outcome == outcome]
    page = Paginator(chosen, RESULTS_A_PAGE).get_page(request.GET.get("page"))
    statistics = compute_statistics(results)
    context = {
        "campaign": campaign,
        "tabs": tabs,
        "set": campaign.about.template_set,
        "statistics": statistics,
        "outcomes": [
            (tab.value, words, statistics.total.by_outcome[tab]) for tab, words in TABS.items()
        ],
        "outcome": outcome.value,
        "page": page,
        "shown": _shown(list(page.object_list)),
    }
    return render(request, "conditional/template_results.html", context)


def _shown(results: list[Result]) -> list[tuple[Result, ShownTemplate, dict[int, int], list[str]]]:
    """Join results with pictures, the number of picks of each, and the other answers in words."""
    pictures = shown_templates(one.template for one in results)
    rows = []
    for one, shown in zip(results, pictures, strict=True):
        picks = Counter(vote.picked for vote in one.votes if vote.picked is not None)
        rows.append((one, shown, dict(picks), _others(one.votes)))
    return rows


def _others(votes: list[Vote]) -> list[str]:
    words = {"none": "none of them", "several": "several", "bad_condition": "bad condition"}
    counts = {phrase: sum(vote.choice == name for vote in votes) for name, phrase in words.items()}
    return [f"{n} × {phrase}" for phrase, n in counts.items() if n]

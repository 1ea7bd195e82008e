"""Pages on which admins open verifications, follow them, and rule."""

from __future__ import annotations

from collections import Counter

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from conditional.models import TemplateSet, TripletSet, Verification
from conditional.template_sets.forms import RulingForm, VerificationForm
from conditional.template_sets.queries import ShownTemplate, shown_templates
from conditional.template_sets.views import refuse
from conditional.triplets.views import chosen_tab, triplet_results_page
from conditional.verification.queries import (
    Result,
    compute_statistics,
    list_results,
    panel_progress,
)
from conditional.verification.services import open_verification, rule_template, set_state
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
def new_verification(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a panel; put a set of templates to it."""
    return _open(request, get_object_or_404(TemplateSet, slug=slug))


@admin_required
def new_triplet_campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a panel; put a set of triplets to it."""
    return _open(request, get_object_or_404(TripletSet, slug=slug))


def _open(request: HttpRequest, asked_set: TemplateSet | TripletSet) -> HttpResponse:
    form = VerificationForm(request.POST or None, asked_set=asked_set)
    if request.method == "POST" and form.is_valid():
        try:
            found = open_verification(
                asked_set=asked_set, owner=signed_in(request), **form.cleaned_data
            )
        except Refused as problem:
            refuse(form, problem)
        else:
            return redirect("conditional:verification", found.slug)
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
    return render(request, "conditional/new_verification.html", context)


@require_safe
@reader_required
def verification(request: HttpRequest, slug: str) -> HttpResponse:
    """Show progress, figures, and what was asked by how it came out."""
    verification = get_object_or_404(
        Verification.objects.select_related("template_set", "triplet_set"), slug=slug
    )
    if verification.is_of_triplets:
        return triplet_results_page(request, verification)
    results = list_results(verification)
    held = {one.verdict.outcome for one in results}
    outcome = chosen_tab(TABS, request.GET.get("outcome", ""), held)
    chosen = [one for one in results if one.verdict.outcome == outcome]
    page = Paginator(chosen, RESULTS_A_PAGE).get_page(request.GET.get("page"))
    statistics = compute_statistics(results)
    context = {
        "verification": verification,
        "statistics": statistics,
        "panel": panel_progress(verification),
        "tabs": [
            (tab.value, words, statistics.total.by_outcome[tab]) for tab, words in TABS.items()
        ],
        "outcome": outcome.value,
        "page": page,
        "shown": _shown(list(page.object_list)),
    }
    return render(request, "conditional/verification.html", context)


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


@admin_required
@require_POST
def move(request: HttpRequest, slug: str, verb: str) -> HttpResponse:
    """Close a verification or open it again."""
    verification = get_object_or_404(Verification, slug=slug)
    set_state(verification=verification, is_open=verb == "open")
    return redirect("conditional:verification", slug)


@admin_required
@require_POST
def rule(request: HttpRequest, slug: str) -> HttpResponse:
    """Decide about a template on which the panel has no majority."""
    verification = get_object_or_404(Verification, slug=slug)
    form = RulingForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say which template, and whether it passes or fails.")
        return redirect("conditional:verification", slug)
    try:
        rule_template(
            verification=verification,
            template_uid=form.cleaned_data["template"],
            passes=form.cleaned_data["passes"],
            note=form.cleaned_data["note"],
            by=signed_in(request),
        )
    except Refused as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, "Your ruling is kept.")
    return redirect("conditional:verification", slug)

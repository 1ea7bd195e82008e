"""Pages on which admins put sets to a panel, and see what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from accounts.access import admin_required, reader_required, signed_in
from accounts.form_refusals import add_refusal
from annotation.queries.campaigns import campaign_tabs, campaigns_shown_to
from conditional.campaigns.kinds import TRIPLET
from conditional.campaigns.queries import (
    Result,
    compute_statistics,
    list_results,
    template_intervals,
)
from conditional.campaigns.services import ask_panel
from conditional.models import TripletSet
from conditional.stored_sets import AnySet
from conditional.template_sets.forms import PanelForm
from conditional.template_sets.queries import ShownTemplate, shown_templates
from conditional.triplets.queries import (
    shown_results,
    triplet_intervals,
    triplet_results,
    triplet_statistics,
)
from lookalike.conditional.triplet_majority import Standing
from lookalike.conditional.verdicts import Outcome
from lookalike.core.errors import Refused

RESULTS_A_PAGE = 12
OUTCOMES = {
    Outcome.ADJUDICATE: "To adjudicate",
    Outcome.FAILS: "Fail",
    Outcome.PASSES: "Pass",
    Outcome.WAITING: "Waiting",
}
STANDINGS = {
    Standing.DECIDED: "Decided",
    Standing.UNDECIDED: "Undecided",
    Standing.WAITING: "Waiting",
}


@admin_required
def new_campaign(request: HttpRequest, slug: str, model: type[AnySet]) -> HttpResponse:
    """Ask for a panel; put a set of templates or triplets to it."""
    asked_set = get_object_or_404(model, slug=slug)
    form = PanelForm(request.POST or None, asked_set=asked_set)
    if request.method == "POST" and form.is_valid():
        try:
            found = ask_panel(
                asked_set=asked_set, owner=signed_in(request), is_draft=True, rules=form.rules,
                **form.others,
            )  # fmt: skip
        except Refused as problem:
            add_refusal(form, problem)
        else:
            page = "opening" if "open" in request.POST else "campaign"
            return redirect(f"annotation:{page}", found.slug)
    context = {"form": form, "set": asked_set, "is_of_triplets": model is TripletSet}
    return render(request, "conditional/new_campaign.html", context)


@require_safe
@reader_required
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """Show figures, and what was asked by how it came out."""
    shown = campaigns_shown_to(signed_in(request)).filter(about__isnull=False)
    campaign = get_object_or_404(shown.select_related("about__template_set"), slug=slug)
    tabs = campaign_tabs(campaign, "conditional:results") if signed_in(request).is_admin else []
    is_of_triplets = campaign.task_kind == TRIPLET
    results: Sequence[Any] = (triplet_results if is_of_triplets else list_results)(campaign)
    counts = Counter(one.standing for one in results)
    words = STANDINGS if is_of_triplets else OUTCOMES
    first = next((tab for tab in words if counts[tab]), next(reversed(words)))
    outcome = next((tab for tab in words if tab == request.GET.get("outcome")), first)
    chosen = [one for one in results if one.standing == outcome]
    page = Paginator(chosen, RESULTS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "tabs": tabs,
        "outcomes": [(tab.value, name, counts[tab]) for tab, name in words.items()],
        "outcome": outcome.value,
        "page": page,
    }
    if is_of_triplets:
        context |= {
            "set": campaign.about.triplet_set,
            "statistics": triplet_statistics(results),
            "intervals": triplet_intervals(campaign, results),
            "shown": shown_results(list(page.object_list)),
        }
        return render(request, "conditional/triplet_results.html", context)
    context |= {
        "set": campaign.about.template_set,
        "statistics": compute_statistics(results),
        "intervals": template_intervals(campaign, results),
        "shown": _shown(list(page.object_list), campaign.kind.answers),
    }
    return render(request, "conditional/template_results.html", context)


def _shown(
    results: Sequence[Result], words: Mapping[str, str]
) -> list[tuple[Result, ShownTemplate, dict[int | None, int], list[str]]]:
    """Join results with pictures, the number of picks of each, and the other answers in words."""
    rows = []
    for one, shown in zip(results, shown_templates(one.template for one in results), strict=True):
        said = Counter(vote.choice for vote in one.votes)
        others = [f"{said[name]} × {word.lower()}" for name, word in words.items() if said[name]]
        picks = dict(Counter(vote.picked for vote in one.votes))
        rows.append((one, shown, picks, others))
    return rows

"""The page that admins land on: what needs attention, and which step comes next."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import admin_required, signed_in
from accounts.attention import Attention
from annotation.models import Campaign, CampaignState
from annotation.queries.numbers import campaign_numbers
from catalog.queries import catalogs_with_images
from evaluation.models import Result
from jobs.models import OPEN_STATES, Job
from notices.services import n_unseen
from notices.sources import attention_lines
from pooling.models import Pool
from pooling.pools.queries import pools_for_pages

MAX_SHOWN = 5


@dataclass(frozen=True)
class Step:
    """One step of the main job."""

    title: str
    text: str
    is_done: bool
    url: str


@require_safe
@admin_required
def attention_fragment(request: HttpRequest) -> HttpResponse:
    """Give what needs attention to the overview, which asks every few seconds; 204 if it knows."""
    lines = attention_lines()
    if request.GET.get("seen") == _digest(lines):
        return HttpResponse(status=204)
    return render(request, "_attention.html", _attention(lines))


@admin_required
def overview_page(request: HttpRequest) -> HttpResponse:
    """Show what needs attention, or the first steps as long as one of them was never done."""
    steps = first_steps()
    overview = {
        "steps": steps,
        "is_new": not all(step.is_done for step in steps),
        "next_step": next((step for step in steps if not step.is_done), None),
        "running": list(
            Job.objects.select_related("owner").filter(state__in=OPEN_STATES)[:MAX_SHOWN]
        ),
        "campaigns": campaign_numbers(
            Campaign.objects.filter(state=CampaignState.OPEN)[:MAX_SHOWN]
        ),
        "n_unseen": n_unseen(signed_in(request)),
        "pools": list(pools_for_pages()[:MAX_SHOWN]),
    }
    return render(request, "overview.html", {"overview": overview, **_attention(attention_lines())})


def _attention(lines: list[Attention]) -> dict[str, object]:
    return {"attention": lines, "attention_digest": _digest(lines)}


def _digest(lines: list[Attention]) -> str:
    return hashlib.sha256(repr(lines).encode()).hexdigest()[:16]


def first_steps() -> list[Step]:
    """Return the steps from an empty installation to results, with what is done."""
    return [
        Step(
            "Import a catalog",
            "A folder or zip of pictures, with a table of products and attributes if there is one.",
            catalogs_with_images().exists(),
            reverse("catalog:new"),
        ),
        Step(
            "Pool candidates",
            "Several models propose, for each query, the pictures most like it.",
            Pool.objects.filter(sources__done_at__isnull=False).exists(),
            reverse("pooling:new"),
        ),
        Step(
            "Start a campaign",
            "A panel of experts judges every pair of the pool, blind to who proposed it.",
            Campaign.objects.exists(),
            reverse("pooling:pools"),
        ),
        Step(
            "Have it judged",
            "Your judges find it when they sign in; its page shows how far each of them is.",
            Campaign.objects.filter(panel__n_done__gt=0).exists(),
            reverse("annotation:campaigns"),
        ),
        Step(
            "Read the results",
            "Majority labels, scores of every model, and how far the pool itself favours any.",
            Result.objects.exists(),
            reverse("evaluation:home"),
        ),
    ]

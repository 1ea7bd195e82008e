"""The page that admins land on: what needs attention, and which step comes next."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from accounts.access import admin_required
from annotation.models import Campaign, CampaignState
from annotation.queries.numbers import campaign_numbers
from catalog.models import Catalog
from jobs.models import OPEN_STATES, Job, JobState
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


@admin_required
def overview_page(request: HttpRequest) -> HttpResponse:
    """Show what needs attention, or the first steps as long as one of them was never done."""
    steps = first_steps()
    pools = list(pools_for_pages()[:MAX_SHOWN])
    jobs = Job.objects.select_related("owner")
    overview = {
        "steps": steps,
        "is_new": not all(step.is_done for step in steps),
        "next_step": next((step for step in steps if not step.is_done), None),
        "running": list(jobs.filter(state__in=OPEN_STATES)[:MAX_SHOWN]),
        "failed": _failed_last(),
        "to_open": [pool for pool in pools if pool.has_ended and not pool.campaign_links.all()],
        "campaigns": campaign_numbers(
            Campaign.objects.filter(state=CampaignState.OPEN)[:MAX_SHOWN]
        ),
        "pools": pools,
    }
    return render(request, "overview.html", {"overview": overview})


def _failed_last() -> list[Job]:
    """Return the jobs that failed and whose subject nothing later succeeded with."""
    latest = Job.objects.order_by("task", "subject", "-id").distinct("task", "subject")
    failed = Job.objects.filter(pk__in=latest.values("pk"), state=JobState.FAILED)
    return list(failed.order_by("-finished_at")[:MAX_SHOWN])


def first_steps() -> list[Step]:
    """Return the steps from an empty installation to results, with what is done."""
    return [
        Step(
            "Import a catalog",
            "A folder or zip of pictures, with a table of products and attributes if there is one.",
            Catalog.objects.filter(images__isnull=False).exists(),
            reverse("catalog:new"),
        ),
        Step(
            "Pool candidates",
            "Several models propose, for each query, the pictures most like it.",
            Pool.objects.filter(sources__done_at__isnull=False).exists(),
            reverse("pooling:new"),
        ),
        Step(
            "Open a campaign",
            "A panel of experts judges every pair of the pool, blind to who proposed it.",
            Campaign.objects.exists(),
            reverse("pooling:pools"),
        ),
        Step(
            "Read the results",
            "Majority labels, scores of every model, and how far the pool itself favours any.",
            Campaign.objects.filter(panel__n_done__gt=0).exists(),
            reverse("evaluation:home"),
        ),
    ]

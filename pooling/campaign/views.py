"""The page that opens a campaign on a pool."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from accounts.access import admin_required, signed_in
from accounts.form_refusals import add_refusal
from annotation.notions import learned_notions
from catalog.short_names import name_check_page
from lookalike.core.errors import Refused
from pooling.campaign.forms import CampaignForm
from pooling.campaign.services import campaign_name, open_pool_campaign
from pooling.models import Pool
from pooling.pools.queries import pools_for_pages


@require_safe
@admin_required
def name(request: HttpRequest) -> HttpResponse:
    """Tell somebody who types a campaign's name whether it is free."""
    typed = request.GET.get("name", "")
    return name_check_page(request, campaign_name(typed) if typed.strip() else None)


def suggested_campaign(pool: Pool) -> dict[str, str]:
    """Return what the form begins with: a pool made with one notion most likely asks about it."""
    specs = set(pool.sources.values_list("spec", flat=True))
    learned = [one for one in learned_notions() if one.spec in specs]
    if len(learned) != 1:
        return {"name": pool.name}
    return {
        "name": pool.name, "notion": learned[0].name.lower(), "notion_model": learned[0].spec,
    }  # fmt: skip


@admin_required
def new_campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a panel and its rules, and keep a draft; to open it, all is confirmed first."""
    pool = get_object_or_404(pools_for_pages(), slug=slug)
    form = CampaignForm(request.POST or None, initial=suggested_campaign(pool))
    if request.method == "POST" and form.is_valid():
        try:
            campaign = open_pool_campaign(
                pool=pool,
                owner=signed_in(request),
                is_draft=True,
                rules=form.rules,
                **form.others,
            )
        except Refused as problem:
            add_refusal(form, problem)
        else:
            messages.success(request, f"“{campaign}” is a draft; no judge sees it yet.")
            page = "opening" if "open" in request.POST else "campaign"
            return redirect(f"annotation:{page}", campaign.slug)
    return render(request, "pooling/new_campaign.html", {"pool": pool, "form": form})

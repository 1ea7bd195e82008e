"""What plans and rounds ask of an admin, as the overview says it."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from accounts.attention import Attention
from annotation.models import CampaignState
from evaluation.models import PlannedCampaign, RoundPlan
from evaluation.rounds.services import is_met, look_of
from lookalike.stats.text_tables import PAGE


def attention() -> Iterator[Attention]:
    """Yield drafts that plans have made, and campaigns whose last round is judged and looked at."""
    yield from _drafts()
    at_work = RoundPlan.objects.filter(stopped_at=None, campaign__state=CampaignState.OPEN)
    for plan in at_work.select_related("campaign"):
        last = plan.rounds.order_by("number").last()
        look = look_of(last) if last else None
        if last is None or look is None:
            continue
        known = f"Round {last.number} is judged, {PAGE.share(look.judged, 0)} of the pool."
        if is_met(plan, look):
            step = "The goals are met: stop, or go on."
        elif plan.opens_itself and last.number < plan.n_looks:
            continue
        else:
            step = "Open the next round, or stop."
        yield Attention(
            "Round done", plan.campaign.name, f"{known} {step}",
            reverse("evaluation:rounds", args=[plan.campaign.slug]),
        )  # fmt: skip


def _drafts() -> Iterator[Attention]:
    drafts = PlannedCampaign.objects.filter(campaign__state=CampaignState.DRAFT)
    for planned in drafts.select_related("campaign", "pool"):
        assert planned.campaign is not None  # noqa: S101 - for the type checker
        yield Attention(
            "Draft", planned.campaign.name, f"“{planned.pool}” is filled; its campaign is planned "
            "and waits to be opened.",
            reverse("annotation:campaign", args=[planned.campaign.slug]),
        )  # fmt: skip

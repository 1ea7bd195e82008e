"""What plans and rounds ask of an admin, as the overview says it."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from accounts.attention import Attention
from annotation.models import CampaignState
from annotation.queries.reviewing.adjudication import has_open_pair
from evaluation.models import PlannedCampaign, RoundPlan
from evaluation.rounds.progress import rounds_progress, unfinished_problem
from evaluation.rounds.services import is_met, look_of
from lookalike.stats.text_tables import PAGE


def attention() -> Iterator[Attention]:
    """Yield drafts that plans have made, and campaigns whose last round is judged."""
    yield from _drafts()
    at_work = RoundPlan.objects.filter(campaign__state=CampaignState.OPEN)
    for plan in at_work.select_related("campaign"):
        campaign = reverse("annotation:campaign", args=[plan.campaign.slug])
        if plan.stopped_at:
            kind, page = "Stopped", campaign
            text = "No round comes any more: close it, then freeze a release."
        else:
            kind, page = "Round done", reverse("evaluation:rounds", args=[plan.campaign.slug])
            text = _next_step(plan)
        if text:
            instead_of = ("Complete", campaign)
            yield Attention(kind, plan.campaign.name, text, page, instead_of=instead_of)


def _next_step(plan: RoundPlan) -> str:
    """Return what is to be done about the last round; "" while judges or workers are at it."""
    last = plan.rounds.order_by("number").last()
    if last is None:
        return ""
    look = look_of(last)
    if look is None:
        if has_open_pair(plan.campaign) or unfinished_problem(rounds_progress(plan)):
            return ""
        return f"Round {last.number} is judged. Look at what is known, or open the next round."
    known = f"Round {last.number} is judged, {PAGE.share(look.judged, 0)} of the pool."
    if is_met(plan, look):
        return f"{known} The goals are met: stop, or go on."
    if plan.opens_itself and last.number < plan.n_looks:
        return ""
    return f"{known} Open the next round, or stop."


def _drafts() -> Iterator[Attention]:
    drafts = PlannedCampaign.objects.filter(campaign__state=CampaignState.DRAFT)
    for planned in drafts.select_related("campaign", "pool"):
        assert planned.campaign is not None  # noqa: S101 - for the type checker
        page = reverse("annotation:campaign", args=[planned.campaign.slug])
        yield Attention(
            "Draft", planned.campaign.name, f"“{planned.pool}” is filled; its campaign is planned "
            "and waits to be opened.", page, instead_of=("Draft", page),
        )  # fmt: skip

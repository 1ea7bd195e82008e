"""People put on a panel: annotators, and those who are invited straight onto it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.access import admin_required, signed_in
from accounts.invitations.services import Outcome, invite_people
from accounts.invitations.views import InvitationsForm, take_invitations
from accounts.models import Role, User
from annotation.errors import CampaignError
from annotation.forms import MembersForm
from annotation.models import Campaign, Serving
from annotation.services import add_members
from annotation.views.campaign_changes import is_sound
from annotation.views.campaigns import campaign_named, posted_from


@posted_from("panel")
def add_to_panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Put annotators on the panel."""
    campaign = campaign_named(slug)
    form = MembersForm(request.POST, campaign=campaign)
    if is_sound(request, form):
        _put_on_panel(request, campaign, form.cleaned_data["annotators"])
    return redirect("annotation:panel", slug)


@admin_required
def invite_to_panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Make accounts for the people of a list, and put them on a campaign's panel; all or none."""
    campaign = campaign_named(slug)
    form = InvitationsForm(request.POST, actor=signed_in(request), role=Role.ANNOTATOR)
    if request.method == "POST" and form.is_valid() and (refused := _refused(request, form)):
        messages.error(request, "Nobody is added: correct the lines that are refused.")
        context: dict[str, Any] = {"form": form, "invited": [], "refused": refused}
    else:
        context = take_invitations(request, Role.ANNOTATOR)
    if people := [outcome.person for outcome in context["invited"]]:
        _put_on_panel(request, campaign, people)
    return render(request, "annotation/panel_invitations.html", {**context, "campaign": campaign})


def _refused(request: HttpRequest, form: InvitationsForm) -> list[Outcome]:
    """Return the lines of which no account can be made: all are tried, and nothing is kept."""
    with transaction.atomic():
        outcomes = invite_people(
            actor=signed_in(request), lines=form.cleaned_data["people"], role=Role.ANNOTATOR,
            site="", sends_mail=False,
        )  # fmt: skip
        transaction.set_rollback(True)
    return [outcome for outcome in outcomes if outcome.person is None]


def _put_on_panel(request: HttpRequest, campaign: Campaign, people: Iterable[User]) -> None:
    """Put people on a panel, and tell the admin how much more is wanted for each."""
    try:
        members = add_members(campaign=campaign, annotators=list(people))
    except CampaignError as problem:
        messages.error(request, str(problem))
        return
    told = f"{len(members)} added to the panel."
    fresh = campaign.panel.filter(pk__in=[member.pk for member in members])
    wanted = list(fresh.values_list("n_total", flat=True))
    if any(wanted) and campaign.serving == Serving.EVERYONE:
        each = f", {wanted[0]:,} from each" if len(set(wanted)) == 1 < len(wanted) else ""
        told = f"{told} {sum(wanted):,} more answers are wanted{each}."
    messages.success(request, told)

"""The page that invites people straight onto a panel."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.access import admin_required
from accounts.invitations.views import take_invitations
from accounts.models import Role
from annotation.services import add_members
from annotation.views.campaign_changes import telling
from annotation.views.campaigns import campaign_named


@admin_required
def invite_to_panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Make accounts for the people of a list, and put them on a campaign's panel."""
    campaign = campaign_named(slug)
    context = take_invitations(request, Role.ANNOTATOR)
    if people := [outcome.person for outcome in context["invited"]]:
        with telling(request, f"{len(people)} added to the panel."):
            add_members(campaign=campaign, annotators=people)
    return render(request, "annotation/panel_invitations.html", {**context, "campaign": campaign})

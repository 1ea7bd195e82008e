"""The page that shows what one judge's votes change, for admins."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import admin_required, signed_in
from annotation.models import PanelMember
from annotation.views.campaigns import page_frame
from evaluation.results.leaderboard import HEADINGS
from evaluation.without_judge.choices import choice_changes
from evaluation.without_judge.comparison import (
    TASK,
    label_changes,
    ranking_subject,
    request_ranking,
)
from jobs.conflicts import conflict_as_message
from jobs.models import JobState
from jobs.queries import latest_job


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def without(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the labels without a judge at once; the ranking of models is a job."""
    members = PanelMember.objects.select_related("campaign", "annotator")
    member = get_object_or_404(members, campaign__slug=slug, number=min(number, 2**15 - 1))
    is_choice = member.campaign.kind.is_choice
    if request.method == "POST":
        if is_choice:
            raise Http404  # there are no models to rank
        with conflict_as_message(request):
            request_ranking(member=member, by=signed_in(request))
        return redirect("evaluation:without", slug, number)
    job = latest_job(TASK, ranking_subject(member))
    ranked = job.result["measures"] if job and job.state == JobState.SUCCEEDED else {}
    context = {
        **page_frame(member.campaign, "quality"),
        "member": member,
        "changes": choice_changes(member) if is_choice else label_changes(member),
        "job": job,
        "rankings": [
            (HEADINGS.get(name, name), list(map(_shown, rows))) for name, rows in ranked.items()
        ],
    }
    return render(request, "evaluation/without.html", context)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a model's line with a dash for a place without a value."""
    places = {"place": "value", "place_without": "value_without"}
    return row | {place: "–" for place, value in places.items() if row[value] is None}

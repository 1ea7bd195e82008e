"""The page of a campaign's further study."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import signed_in
from annotation.models import Campaign
from evaluation.access import of_campaign
from evaluation.results.leaderboard import HEADINGS
from evaluation.results.queries import latest_result
from evaluation.study.queries import is_current, latest_study, opinion_rows
from evaluation.study.services import STUDY_TASK, request_study, study_subject
from jobs.conflicts import conflict_as_message
from jobs.queries import unfinished_job


@require_http_methods(["GET", "HEAD", "POST"])
@of_campaign
def study(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show what was found, and have it looked at anew."""
    if request.method == "POST":
        with conflict_as_message(request):
            request_study(campaign=campaign, owner=signed_in(request))
        return redirect("evaluation:study", campaign.slug)
    found = latest_study(campaign)
    context: dict[str, object] = {
        "campaign": campaign,
        "result": latest_result(campaign),
        "job": unfinished_job(STUDY_TASK, study_subject(campaign)),
        "study": found,
    }
    if found is not None:
        context |= {
            "measure": HEADINGS.get(found.measure, found.measure),
            "opinions": opinion_rows(campaign, found),
            "is_old": not is_current(campaign, found),
        }
    return render(request, "evaluation/study.html", context)

"""The page that says how a benchmark wears over its versions, for members."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import reader_required, signed_in
from jobs.conflicts import conflict_as_message
from jobs.queries import unfinished_job
from releases.health.services import (
    HEALTH_TASK,
    MEASURE,
    K,
    health_subject,
    latest_health,
    request_health,
)
from releases.site.queries import list_versions, release_or_404


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def health(request: HttpRequest, slug: str) -> HttpResponse:
    """Show each version beside the one before, and have them compared anew."""
    person = signed_in(request)
    release = release_or_404(person, slug)
    if request.method == "POST":
        with conflict_as_message(request):
            request_health(slug=slug, owner=person)
        return redirect("releases:health", slug)
    found = latest_health(slug)
    versions = {one.version for one in list_versions(person, slug)}
    context = {
        "release": release,
        "job": unfinished_job(HEALTH_TASK, health_subject(slug)),
        "health": found,
        "is_old": found is not None and {line.version for line in found.lines} != versions,
        "measure": MEASURE,
        "k": K,
    }
    return render(request, "releases/health.html", context)

"""Submit a run to a release, publish it, delete it."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import reader_required, signed_in
from evaluation.runs.disk_quota import disk_quota, disk_use
from jobs.services import JobConflictError
from lookalike.io.errors import InputError
from lookalike.release.errors import ReleaseError
from releases.forms import SubmissionForm
from releases.models import Release, Submission
from releases.site.queries import quota, release_or_404, submission_or_404
from releases.submissions import services


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def submit(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The form that submits a run."""
    person = signed_in(request)
    release = release_or_404(person, slug, version)
    form = SubmissionForm(release, person.pk, request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and _taken(request, release, form):
        return redirect("releases:release", slug=slug, version=version)
    context = {
        "release": release,
        "form": form,
        "quota": quota(person, release),
        "disk_use": disk_use(person),
        "disk_quota": disk_quota(person),
    }
    return render(request, "releases/submit.html", context)


def _taken(request: HttpRequest, release: Release, form: SubmissionForm) -> bool:
    try:
        services.submit(release=release, owner=signed_in(request), **form.cleaned_data)
    except (InputError, JobConflictError, OSError) as problem:
        form.add_error(None, str(problem))
        return False
    messages.success(request, f"“{form.cleaned_data['name']}” is being scored; only you see it.")
    return True


def own_or_404(request: HttpRequest, uid: uuid.UUID) -> Submission:
    """Return a person's own submission, or for an admin also a published one of somebody else."""
    person = signed_in(request)
    submission = submission_or_404(person, uid)
    if submission.owner_id != person.pk and not person.is_admin:
        raise Http404
    return submission


@require_POST
@reader_required
def publish(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Show one's submission on the leaderboard, or take it off."""
    submission = own_or_404(request, uid)
    try:
        services.publish(submission=submission, is_published=request.POST.get("show") == "yes")
    except ReleaseError as problem:
        messages.error(request, str(problem))
    return _back(submission.release)


@require_POST
@reader_required
def delete(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete one's submission."""
    submission = own_or_404(request, uid)
    services.delete(submission=submission)
    messages.success(request, f"“{submission.name}” is deleted.")
    return _back(submission.release)


def _back(release: Release) -> HttpResponse:
    return redirect("releases:release", slug=release.slug, version=release.version)

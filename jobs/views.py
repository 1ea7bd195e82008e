"""A job's progress, as a page and as the fragment that polls itself; cancelling, trying again."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.middleware import HtmxDetails
from redis import RedisError

from accounts.access import reader_required, signed_in
from jobs.models import Job
from jobs.queries import ended_jobs, known_workers, open_jobs, visible_job
from jobs.services import JobError, cancel_job, dismiss_job, retry_job
from jobs.status import site_status
from lookalike import __version__


@require_safe
@reader_required
def jobs(request: HttpRequest) -> HttpResponse:
    """Show what waits, runs and has ended: all of it to admins, their own to researchers."""
    person = signed_in(request)
    status = None
    if person.is_admin:
        with suppress(RedisError):  # the page says so
            status = site_status()
    context = {
        "open_jobs": open_jobs(person),
        "ended_jobs": ended_jobs(person),
        "workers": known_workers() if person.is_admin else [],
        "status": status,
        "version": __version__,
    }
    return render(request, "jobs/jobs.html", context)


@require_safe
@login_required
def job(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Show how far a job is: the panel alone for htmx, else a page around it."""
    return _shown(request, visible_job(signed_in(request), uid))


@require_POST
@login_required
def cancel(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Cancel a job; one that has ended stays as it is."""
    found = visible_job(signed_in(request), uid)
    cancel_job(job=found)
    return _answer(request, found)


@require_POST
@login_required
def retry(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Queue a failed or cancelled job again."""
    return _do(request, uid, lambda job: retry_job(job=job))


@require_POST
@login_required
def dismiss(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Take a failed job off the overview."""
    return _do(request, uid, lambda job: dismiss_job(job=job))


def _do(request: HttpRequest, uid: uuid.UUID, change: Callable[[Job], None]) -> HttpResponse:
    found = visible_job(signed_in(request), uid)
    try:
        change(found)
    except JobError as problem:
        messages.error(request, str(problem))
        return _answer(request, found, status=409)
    return _answer(request, found)


def _answer(request: HttpRequest, found: Job, status: int = 200) -> HttpResponse:
    if request.POST.get("next") == "overview":
        return redirect("overview")
    if not HtmxDetails(request):
        return redirect("jobs:job", found.uid)
    found.refresh_from_db()
    return _shown(request, found, status)


def _shown(request: HttpRequest, found: Job, status: int = 200) -> HttpResponse:
    template = "jobs/_job.html" if HtmxDetails(request) else "jobs/job.html"
    return render(request, template, {"job": found}, status=status)

"""Uploaded runs of a campaign: list, upload, delete."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import signed_in
from annotation.models import Campaign
from evaluation.access import of_campaign
from evaluation.models import Run
from evaluation.results.queries import latest_result, list_runs, run_jobs
from evaluation.runs.disk_quota import disk_quota, disk_use
from evaluation.runs.forms import RunForm
from evaluation.runs.services import delete_run, take_in_run
from jobs.services import JobConflictError
from lookalike.io.errors import InputError


@require_http_methods(["GET", "HEAD", "POST"])
@of_campaign
def runs(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The uploaded runs of a campaign, and the form that adds one."""
    form = RunForm(campaign, request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and _queued(request, form, campaign):
        messages.success(request, f"“{form.cleaned_data['name']}” is being checked.")
        return redirect("evaluation:runs", slug=campaign.slug)
    person = signed_in(request)
    context = {
        "campaign": campaign,
        "result": latest_result(campaign),
        "form": form,
        "disk_use": disk_use(person),
        "disk_quota": disk_quota(person),
        "jobs": run_jobs(campaign),
        "runs": [
            (run, _may_delete(person.pk, person.is_admin, run)) for run in list_runs(campaign)
        ],
    }
    return render(request, "evaluation/runs.html", context)


def _queued(request: HttpRequest, form: RunForm, campaign: Campaign) -> bool:
    """Keep the files and queue their check; on failure say why in the form."""
    try:
        take_in_run(campaign=campaign, owner=signed_in(request), given=form.cleaned_data)
    except (InputError, JobConflictError, OSError) as problem:
        form.add_error(None, str(problem))
        return False
    return True


@require_POST
@of_campaign
def delete(request: HttpRequest, campaign: Campaign, uid: uuid.UUID) -> HttpResponse:
    """Delete a run: its owner may, and admins."""
    run = get_object_or_404(list_runs(campaign), uid=uid)
    person = signed_in(request)
    if not _may_delete(person.pk, person.is_admin, run):
        raise PermissionDenied
    name = run.name
    delete_run(run=run, by=person)
    messages.success(request, f"The run “{name}” is deleted; the leaderboard follows.")
    return redirect("evaluation:runs", slug=campaign.slug)


def _may_delete(person_id: int, is_admin: bool, run: Run) -> bool:
    return is_admin or run.owner_id == person_id

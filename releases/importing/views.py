"""Import a release or labels as a campaign: the form, and the imports so far."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import admin_required, signed_in
from annotation.models import Campaign
from jobs.models import Job
from jobs.services import JobConflictError
from lookalike.io.errors import InputError
from releases.forms import ImportForm
from releases.importing.jobs import request_import
from releases.site.queries import import_jobs

N_SHOWN = 10


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def import_back(request: HttpRequest) -> HttpResponse:
    """The form that imports, above what was imported lately."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and _queued(request, form):
        messages.success(request, f"“{form.cleaned_data['file'].name}” is being imported.")
        return redirect("releases:import")
    jobs = [(job, _campaigns_of(job)) for job in import_jobs()[:N_SHOWN]]
    return render(request, "releases/import.html", {"form": form, "jobs": jobs})


def _queued(request: HttpRequest, form: ImportForm) -> bool:
    """Keep the file and queue its import; on failure say why in the form."""
    try:
        request_import(owner=signed_in(request), **form.cleaned_data)
    except (InputError, JobConflictError, OSError) as problem:
        form.add_error(None, str(problem))
        return False
    return True


def _campaigns_of(job: Job) -> list[Campaign]:
    """Return what an import made, as far as it is still there."""
    return list(Campaign.objects.filter(slug__in=job.result.get("campaigns", [])).order_by("name"))

"""The page on which admins import templates and triplets, and the imports so far."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.access import admin_required, signed_in
from accounts.form_refusals import add_refusal
from catalog.queries import catalogs_with_images
from conditional.models import TemplateSet, TripletSet
from conditional.uploads.files import Kind
from conditional.uploads.forms import ImportForm
from conditional.uploads.services import import_jobs, request_import
from jobs.models import Job
from lookalike.core.errors import Refused


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def import_file(request: HttpRequest) -> HttpResponse:
    """The form that imports, above what was imported lately."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and _queued(request, form):
        messages.success(request, f"“{form.cleaned_data['name']}” is being imported.")
        return redirect("conditional:import")
    context = {
        "form": form,
        "has_catalogs": catalogs_with_images().exists(),
        "jobs": [(job, _set_of(job)) for job in import_jobs()],
    }
    return render(request, "conditional/import.html", context)


def _queued(request: HttpRequest, form: ImportForm) -> bool:
    """Keep the files and queue their import; on failure say why in the form."""
    try:
        request_import(owner=signed_in(request), **form.cleaned_data)
    except Refused as problem:
        add_refusal(form, problem)
    except OSError as problem:
        form.add_error(None, str(problem))
    else:
        return True
    return False


def _set_of(job: Job) -> tuple[str, str, int] | None:
    """Return address, name and size of what an import made, if it is still there."""
    is_triplets = Kind(job.arguments["kind"]).is_triplets
    page, count = ("triplets", "n_triplets") if is_triplets else ("set", "templates")
    rows = TripletSet.objects if is_triplets else TemplateSet.objects
    made = rows.filter(report__job=str(job.uid)).values_list("slug", "name").first()
    if made is None or count not in job.result:
        return None
    return reverse(f"conditional:{page}", args=[made[0]]), made[1], job.result[count]

"""The page about how well vectors tell the values of a catalog's attributes apart."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import reader_required, signed_in
from catalog.browsing.pages import page_frame
from catalog.models import Catalog
from evaluation.classes.forms import ClassesForm
from evaluation.classes.queries import class_jobs, class_tables
from evaluation.classes.services import request_classes
from jobs.conflicts import conflict_as_message
from lookalike.metrics.class_tables import CLUSTERS, MOST_CLUSTERS, RETRIEVAL


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def classes(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what was scored, and queue the scoring of an embedding set on some columns."""
    catalog = get_object_or_404(Catalog, slug=slug)
    form = ClassesForm(catalog, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with conflict_as_message(request):
            request_classes(owner=signed_in(request), **form.cleaned_data)
        return redirect("evaluation:classes", slug)
    context = {
        **page_frame(request, catalog),
        "form": form,
        "has_vectors": form.fields["embedding_set"].queryset.exists(),  # type: ignore[attr-defined]
        "has_columns": bool(form.fields["columns"].choices),  # type: ignore[attr-defined]
        "tables": class_tables(catalog),
        "class_jobs": class_jobs(catalog),
        "headings": [*RETRIEVAL, *CLUSTERS],
        "n_columns": 1 + len(RETRIEVAL) + len(CLUSTERS),
        "most_clusters": MOST_CLUSTERS,
    }
    return render(request, "evaluation/classes.html", context)

"""Pages of catalogs: the list, a new one, filling, looking, deleting."""

from __future__ import annotations

import csv
import io

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import admin_required, reader_required
from audit.actions import Action
from audit.services import record
from catalog.browsing.browse import image_page, without_lost
from catalog.browsing.facets import facets, list_attributes
from catalog.browsing.filters import parse_filter, parse_place
from catalog.browsing.pages import page_frame
from catalog.forms import DeleteForm, ImportForm, NewCatalogForm
from catalog.importing.views import begin_import
from catalog.models import Catalog
from catalog.queries import catalog_cards, latest_report
from catalog.services import (
    catalog_name,
    create_catalog,
    delete_catalog,
    dependents,
)
from catalog.short_names import name_check_page
from lookalike.core.errors import Refused
from lookalike.images.problems import safe_cell

REPORT_LISTS = (
    ("refused", "broken"),
    ("noticed", "warnings"),
    ("hard to compare", "unusual"),
)
MAX_SHOWN = 200  # problems on a page; the download has all


@require_safe
@reader_required
def home(request: HttpRequest) -> HttpResponse:
    """List the catalogs."""
    return render(request, "catalog/home.html", {"cards": catalog_cards()})


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def new(request: HttpRequest) -> HttpResponseBase:
    """Make a catalog and start its first import."""
    form = NewCatalogForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            catalog = create_catalog(
                slug=given["slug"], name=given["name"], description=given["description"]
            )
        except Refused as problem:  # somebody else took the name just now
            form.add_error("slug", str(problem))
        else:
            answer = begin_import(request, form, catalog)
            if answer is not None:
                return answer
            delete_catalog(catalog=catalog)
    return render(request, "catalog/new.html", {"form": form})


@require_safe
@admin_required
def name(request: HttpRequest) -> HttpResponse:
    """Tell somebody who types a catalog's name whether it is free."""
    typed = request.GET.get("slug") or request.GET.get("name", "")
    return name_check_page(request, catalog_name(typed) if typed.strip() else None)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def fill(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Import more pictures or newer metadata into a catalog."""
    catalog = get_object_or_404(Catalog, slug=slug)
    form = ImportForm(request.POST or None, request.FILES or None, catalog=catalog)
    if request.method == "POST" and form.is_valid():
        answer = begin_import(request, form, catalog)
        if answer is not None:
            return answer
    return render(request, "catalog/fill.html", {**page_frame(request, catalog), "form": form})


@require_safe
@reader_required
def catalog(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the images of a catalog, by attributes if wanted."""
    catalog = get_object_or_404(Catalog, slug=slug)
    parameters = dict(request.GET.lists())
    names = [attribute.name for attribute in list_attributes(catalog)]
    asked, ranking, problems = without_lost(catalog, parse_filter(parameters, names))
    context = {
        **page_frame(request, catalog),
        "asked": asked,
        "ranking": ranking,
        "problems": problems,
        "facets": facets(catalog, asked),
        "page": image_page(catalog, asked, parse_place(parameters), ranking=ranking),
    }
    return render(request, "catalog/catalog.html", context)


@require_safe
@reader_required
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what the last import refused and noticed."""
    catalog = get_object_or_404(Catalog, slug=slug)
    job = latest_report(catalog)
    result = job.result if job else {}
    context = {
        **page_frame(request, catalog),
        "report": job,
        "broken": result.get("broken", [])[:MAX_SHOWN],
        "warnings": result.get("warnings", [])[:MAX_SHOWN],
        "unusual": result.get("unusual", [])[:MAX_SHOWN],
        "max_shown": MAX_SHOWN,
    }
    return render(request, "catalog/report.html", context)


@require_safe
@reader_required
def report_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the whole report as CSV."""
    catalog = get_object_or_404(Catalog, slug=slug)
    job = latest_report(catalog)
    record(request, Action.EXPORTED, catalog, what="import report", format="csv")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["kind", "file", "reason"])
    for kind, key in REPORT_LISTS:
        for entry in (job.result if job else {}).get(key, []):
            writer.writerow([kind, safe_cell(entry["file"]), safe_cell(entry["reason"])])
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="import-report.csv"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def delete(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Delete a catalog whose short name was typed, unless somebody's work depends on it."""
    catalog = get_object_or_404(Catalog, slug=slug)
    form = DeleteForm(request.POST or None, catalog=catalog)
    if request.method == "POST" and form.is_valid():
        try:
            delete_catalog(catalog=catalog)
        except Refused as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"The catalog “{catalog.name}” is deleted.")
            return redirect("catalog:home")
    context = {**page_frame(request, catalog), "form": form, "dependents": dependents(catalog)}
    return render(request, "catalog/delete.html", context)

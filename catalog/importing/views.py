"""Begin an import from a form; first ask about a table whose columns or values need a person."""

from __future__ import annotations

from dataclasses import asdict, replace

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from accounts.access import admin_required, signed_in
from catalog.browsing.pages import page_frame
from catalog.forms import ImportForm
from catalog.importing.origins import Origin
from catalog.importing.table_form import TableForm
from catalog.models import Catalog
from catalog.services import start_import
from lookalike.core.errors import Refused
from lookalike.images.metadata import MetadataError, UnknownColumnsError


def begin_import(request: HttpRequest, form: ImportForm, catalog: Catalog) -> HttpResponse | None:
    """Store the uploads and queue the import, or ask about the table first.

    Returns:
        Where the browser goes; None where it failed, and the form says why.
    """
    try:
        origin = form.keep()
        if form.needs_check:
            request.session[_key(catalog)] = asdict(origin)
            return _to(request, "catalog:check", catalog)
        start_import(catalog=catalog, origin=origin, owner=signed_in(request))
    except (Refused, OSError) as problem:
        form.add_error(None, str(problem))
        return None
    return _to(request, "catalog:catalog", catalog)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def check(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the first rows of a table; a person says what its columns are, and accepts values."""
    catalog = get_object_or_404(Catalog, slug=slug)
    stored = request.session.get(_key(catalog))
    if stored is None:
        return redirect("catalog:fill", catalog.slug)
    origin = Origin(**stored)
    try:
        preview = origin.preview()
        findings = _findings(origin)
    except MetadataError as problem:  # the upload was removed meanwhile
        frame = page_frame(request, catalog)
        context = {**frame, "form": ImportForm(catalog=catalog), "problem": str(problem)}
        return render(request, "catalog/fill.html", context)
    if preview is None:
        return redirect("catalog:fill", catalog.slug)
    form = TableForm(request.POST or None, preview=preview)
    if request.method == "POST" and form.is_valid():
        answer = _import_table(request, form, catalog, origin)
        if answer is not None:
            return answer
        findings = _findings(replace(origin, columns=asdict(form.cleaned_data["choice"])))
    context = {
        **page_frame(request, catalog),
        "form": form,
        "origin": origin,
        "preview": preview,
        "findings": findings,
    }
    return render(request, "catalog/check.html", context)


def _import_table(
    request: HttpRequest, form: TableForm, catalog: Catalog, origin: Origin
) -> HttpResponse | None:
    """Queue the import as the person says; None where the form says why not."""
    is_accepted = form.cleaned_data["accept_findings"]
    chosen = replace(
        origin, columns=asdict(form.cleaned_data["choice"]), accept_findings=is_accepted
    )
    try:
        if _findings(chosen) and not is_accepted:
            form.add_error(None, "Correct the table, or take the values as they stand.")
            return None
        start_import(catalog=catalog, origin=chosen, owner=signed_in(request))
    except (Refused, MetadataError) as problem:
        form.add_error(None, str(problem))
        return None
    del request.session[_key(catalog)]
    return redirect("catalog:catalog", catalog.slug)


def _findings(origin: Origin) -> list[str]:
    try:
        metadata = origin.read_table()
    except UnknownColumnsError:
        return []
    return metadata.grave_findings if metadata is not None else []


def _key(catalog: Catalog) -> str:
    return f"import into {catalog.pk}"


def _to(request: HttpRequest, name: str, catalog: Catalog) -> HttpResponse:
    answer = redirect(name, catalog.slug)
    return HttpResponseClientRedirect(answer.url) if "HX-Request" in request.headers else answer

"""What the pages of one catalog have in common: name, counts, tabs, the import under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from accounts.access import signed_in
from catalog.models import Catalog
from catalog.queries import catalog_counts, import_jobs, n_refused


@dataclass(frozen=True)
class Tab:
    """A link to one of the pages of a catalog or a campaign."""

    label: str
    url: str
    is_current: bool
    n: int | None = None


def page_frame(request: HttpRequest, catalog: Catalog) -> dict[str, Any]:
    """Return the context of the head that every page of a catalog has."""
    counts = catalog_counts(catalog)
    latest = import_jobs(catalog).defer("result").first()
    tabs = [
        ("Images", "catalog:catalog", counts.n_images),
        ("Words", "learning:words", None),
        ("Map", "pooling:map", None),
        ("Duplicates", "catalog:duplicates", counts.n_duplicates),
        ("Classes", "evaluation:classes", None),
        ("Import report", "catalog:report", n_refused(catalog) or None),
    ]
    here = request.resolver_match.view_name if request.resolver_match else ""
    return {
        "catalog": catalog,
        "counts": counts,
        "tabs": [
            Tab(label, reverse(name, args=[catalog.slug]), name == here, n)
            for label, name, n in tabs
        ],
        "job": latest if latest and latest.state != "succeeded" else None,
        "may_import": signed_in(request).is_admin,
    }

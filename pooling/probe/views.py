"""The probe of a pool that is not made yet: started from its form, shown beside it."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, signed_in
from jobs.queries import visible_job
from lookalike.core.errors import Refused
from lookalike.pooling.probe import Addition
from pooling.new_pool.forms import PoolForm
from pooling.new_pool.prediction import request_in
from pooling.pools.costs import Cost, CostForm, costs_in
from pooling.probe.services import start_probe


@admin_required
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Begin to probe what the form asks for."""
    try:
        wanted, query_ids = request_in(PoolForm(request.POST, request.FILES))
        job = start_probe(request=wanted, query_ids=query_ids, owner=signed_in(request))
    except Refused as problem:
        return render(request, "pooling/_probe.html", {"reason": problem.message})
    return render(request, "pooling/_probe.html", {"job": job})


@admin_required
@require_safe
def show(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Show how far a probe is, or what it found."""
    job = visible_job(signed_in(request), uid)
    context: dict[str, object] = {"job": job}
    if job.state == "succeeded":
        seconds, n_judges, hourly = costs_in(CostForm(request.GET))

        def priced(addition: Addition) -> dict[str, object]:
            cost, low, high = (
                Cost(round(n), seconds, n_judges, hourly)
                for n in (addition.pairs, addition.low, addition.high)
            )
            return {"addition": addition, "cost": cost, "low": low, "high": high}

        context |= {
            "rows": [priced(Addition.from_json(row)) for row in job.result["rows"]],
            "whole": priced(Addition.from_json(job.result["whole"])),
            "n_judges": n_judges,
            "hourly": hourly,
        }
    return render(request, "pooling/_probe.html", context)

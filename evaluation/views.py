"""Result pages for researchers and admins, and downloads of labels."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.access import reader_required, signed_in
from annotation.models import Campaign
from evaluation.errors import InputError
from evaluation.exports import FORMATS, export_pieces, file_name
from evaluation.presentation import AREAS, COVERAGE, RANKED, leave_one_out, measure_table
from evaluation.queries import (
    campaign_lines,
    campaigns_with_judges,
    latest_evaluation,
    latest_result,
)
from evaluation.services import request_evaluation
from jobs.services import JobConflictError


def _campaign(slug: str) -> Campaign:
    return get_object_or_404(campaigns_with_judges(), slug=slug)


@require_GET
@reader_required
def home(request: HttpRequest) -> HttpResponse:
    """Every campaign with its newest result."""
    return render(request, "evaluation/home.html", {"lines": campaign_lines()})


@require_GET
@reader_required
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest result of a campaign: labels, measures, what leaving a model out does."""
    campaign = _campaign(slug)
    result = latest_result(campaign)
    job = latest_evaluation(campaign)
    context: dict[str, object] = {
        "campaign": campaign,
        "result": result,
        "job": job if job and (job.is_open or job.error) else None,
        "formats": FORMATS.values(),
    }
    if result is not None:
        context |= {
            "ranked": measure_table(result, RANKED),
            "areas": measure_table(result, AREAS),
            "coverage": measure_table(result, COVERAGE),
            "leave_one_out": leave_one_out(result),
            "findings": result.bias.get("findings", []),
        }
    return render(request, "evaluation/results.html", context)


@require_POST
@reader_required
def evaluate(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue an evaluation."""
    campaign = _campaign(slug)
    try:
        request_evaluation(campaign=campaign, owner=signed_in(request))
    except JobConflictError as problem:
        messages.warning(request, str(problem))
    return redirect("evaluation:results", slug=slug)


@require_GET
@reader_required
def export(request: HttpRequest, slug: str, name: str) -> StreamingHttpResponse:
    """Download the labels as they are now."""
    campaign = _campaign(slug)
    try:
        pieces = export_pieces(campaign, name)
    except InputError as problem:
        raise Http404(str(problem)) from problem
    return StreamingHttpResponse(
        pieces,
        headers={
            "Content-Type": FORMATS[name].content_type,
            "Content-Disposition": f'attachment; filename="{file_name(campaign, name)}"',
            "Cache-Control": "private, no-store",
        },
    )

"""The page about the bias of a campaign's pool."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Campaign
from evaluation.access import of_campaign
from evaluation.bias_report.tables import bias_context
from evaluation.results.stored import StoredResult
from evaluation.results.views import latest_or_404, negatives_context


@require_GET
@of_campaign
def bias(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """What judging only proposed pairs does to the numbers of a campaign."""
    result = latest_or_404(campaign)
    stored = StoredResult(result)
    if stored.report is None:
        raise Http404
    context = {
        "campaign": campaign,
        "result": result,
        "sample": stored.summary.sample,
        **negatives_context(stored),
        **bias_context(stored.report),
    }
    return render(request, "evaluation/bias.html", context)

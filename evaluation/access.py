"""Who may see the results of a campaign."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from accounts.access import reader_required, signed_in
from evaluation.results.queries import may_see, opened_campaigns

CampaignView = Callable[..., HttpResponseBase]


def of_campaign(view: CampaignView) -> CampaignView:
    """Give a view the campaign of its address, for readers.

    Labels that a release hides can be told from any page about them. So a campaign that keeps
    them back answers researchers with where to submit, and 403.
    """

    @reader_required
    @wraps(view)
    def guarded(
        request: HttpRequest, slug: str, *args: object, **kwargs: object
    ) -> HttpResponseBase:
        campaign = get_object_or_404(opened_campaigns(), slug=slug)
        if not may_see(signed_in(request), campaign):
            context = {"campaign": campaign}
            return render(request, "evaluation/kept_back.html", context, status=403)
        return view(request, campaign, *args, **kwargs)

    return guarded

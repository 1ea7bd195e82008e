"""The page about what lies below a campaign's pool: draw pairs there, read the estimates."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import signed_in
from annotation.models import Campaign
from evaluation.access import of_campaign
from evaluation.below_pool.forms import SampleForm
from evaluation.below_pool.page import estimate_tiles, strata_table
from evaluation.below_pool.services import (
    SAMPLE_TASK,
    find_sample,
    request_sample,
    sample_subject,
    sampling_problem,
)
from evaluation.results.queries import latest_result
from evaluation.results.stored import StoredResult
from jobs.queries import unfinished_job
from jobs.services import JobConflictError
from lookalike.io.errors import InputError


@require_http_methods(["GET", "HEAD", "POST"])
@of_campaign
def below(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """What is known of the pairs that no model proposed; admins may have some judged."""
    person = signed_in(request)
    form = SampleForm(request.POST or None) if person.is_admin else None
    if request.method == "POST":
        if form is None:
            raise PermissionDenied
        if form.is_valid() and _queued(request, form, campaign):
            return redirect("evaluation:below", slug=campaign.slug)
    sample, result = find_sample(campaign), latest_result(campaign)
    job = unfinished_job(SAMPLE_TASK, sample_subject(campaign))
    estimates = StoredResult(result).summary.sample if result else None
    context = {
        "campaign": campaign,
        "result": result,
        "sample": sample,
        "problem": "" if sample else sampling_problem(campaign),
        "form": form,
        "job": job if job and (job.is_open or not sample) else None,
        "estimates": estimates,
        "tiles": estimate_tiles(estimates) if estimates else [],
        "table": strata_table(sample, estimates) if sample else None,
    }
    return render(request, "evaluation/below.html", context)


def _queued(request: HttpRequest, form: SampleForm, campaign: Campaign) -> bool:
    """Queue the draw; on failure say why in the form."""
    fields = form.cleaned_data
    try:
        request_sample(
            campaign=campaign, n_pairs=fields["n_pairs"], aim=fields["aim"], seed=fields["seed"],
            owner=signed_in(request),
        )  # fmt: skip
    except (InputError, JobConflictError) as problem:
        form.add_error(None, str(problem))
        return False
    return True

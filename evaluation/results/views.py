"""Result pages for researchers and admins, and downloads of labels."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.access import reader_required, signed_in
from annotation.models import Campaign
from audit.actions import Action
from audit.services import record
from evaluation.access import of_campaign
from evaluation.exports import FORMATS, export_pieces, file_name
from evaluation.models import Result
from evaluation.results.leaderboard import (
    TITLES,
    area_lines,
    corrected_lines,
    coverage_table,
    interval_chart,
    leaderboard,
    negatives_groups,
    negatives_table,
    share_within,
)
from evaluation.results.leaderboard_files import leaderboard_response
from evaluation.results.left_out import left_out_sentence
from evaluation.results.queries import campaign_lines, has_votes, latest_result
from evaluation.results.services import EVALUATE_TASK, evaluation_subject, request_evaluation
from evaluation.results.stored import StoredResult
from jobs.conflicts import conflict_as_message
from jobs.queries import unfinished_job
from lookalike.io.errors import InputError


def latest_or_404(campaign: Campaign) -> Result:
    """Return the newest result of a campaign."""
    result = latest_result(campaign)
    if result is None:
        raise Http404
    return result


@require_GET
@reader_required
def home(request: HttpRequest) -> HttpResponse:
    """Every campaign with its newest result."""
    return render(request, "evaluation/home.html", {"lines": campaign_lines(signed_in(request))})


@require_GET
@of_campaign
def results(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The newest result of a campaign: the leaderboard, and what of it may be compared."""
    result = latest_result(campaign)
    context: dict[str, object] = {
        "campaign": campaign,
        "result": result,
        "job": unfinished_job(EVALUATE_TASK, evaluation_subject(campaign)),
        "formats": FORMATS.values(),
        "has_votes": result is not None or has_votes(campaign),
    }
    if result is not None:
        stored = StoredResult(result)
        board = leaderboard(stored, request.GET.get("by", ""))
        context |= {
            "board": board,
            "sorted_by": board.columns[board.sorted_at].name,
            "without_list": [m.name for m in stored.summary.models if not m.has_list],
            "chart": interval_chart(
                board, stored.intervals, in_part=stored.summary.rounds is not None
            ),
            "human": stored.summary.human,
            "rounds": stored.summary.rounds,
            "left_out": left_out_sentence(stored.summary.labels.left_out),
        }
        if stored.summary.rounds is None:
            context |= {
                "areas": area_lines(stored),
                "share_within": share_within(stored),
                "coverage": coverage_table(stored),
                **negatives_context(stored),
            }
        else:
            context["not_for"] = [TITLES.get(one, one) for one in stored.summary.rounds.not_for]
    return render(request, "evaluation/results.html", context)


def negatives_context(stored: StoredResult) -> dict[str, Any]:
    """Return what pages show of the areas on drawn negatives."""
    table = negatives_table(stored)
    return {
        "negatives": stored.summary.negatives,
        "negatives_table": table,
        "negatives_groups": negatives_groups(table),
        "corrected": corrected_lines(stored),
    }


@require_GET
@of_campaign
def leaderboard_file(request: HttpRequest, campaign: Campaign, ending: str) -> HttpResponse:
    """Download the newest leaderboard, sorted as the page is: csv, md or tex."""
    stored = StoredResult(latest_or_404(campaign))
    known = stored.summary.rounds
    name = f"{campaign.slug}-{100 * known.judged:.0f}-percent" if known else campaign.slug
    response = leaderboard_response(
        leaderboard(stored, request.GET.get("by", "")),
        name,
        ending,
        human=stored.summary.human,
        is_simulated=stored.summary.is_simulated,
        notes=[left_out_sentence(stored.summary.labels.left_out)],
    )
    record(request, Action.EXPORTED, campaign, what="leaderboard", format=ending)
    return response


@require_POST
@of_campaign
def evaluate(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Queue an evaluation."""
    with conflict_as_message(request):
        request_evaluation(campaign=campaign, owner=signed_in(request))
    return redirect("evaluation:results", slug=campaign.slug)


@require_GET
@of_campaign
def export(request: HttpRequest, campaign: Campaign, name: str) -> StreamingHttpResponse:
    """Download the labels as they are now."""
    try:
        pieces = export_pieces(campaign, name)
    except InputError as problem:
        raise Http404(str(problem)) from problem
    record(request, Action.EXPORTED, campaign, what="labels", format=name)
    return StreamingHttpResponse(
        pieces,
        headers={
            "Content-Type": FORMATS[name].content_type,
            "Content-Disposition": f'attachment; filename="{file_name(campaign, name)}"',
            "Cache-Control": "private, no-store",
        },
    )

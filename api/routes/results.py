"""The API's routes about results."""

from __future__ import annotations

import uuid
from dataclasses import asdict

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router

from accounts.access import signed_in
from api.access import reads
from api.board_schemas import BoardOut, BoardQuery, ComparisonQuery, ComparisonsOut
from api.errors import errors
from api.paging import Page, PageQuery, Part, read_part
from api.result_schemas import (
    BiasOut,
    CampaignQuery,
    ResultOut,
    ResultWhole,
    SecondOpinionsOut,
)
from evaluation.models import Result
from evaluation.results.api_queries import results_seen_by
from evaluation.results.board_api import board_values, comparison_values
from evaluation.results.queries import campaigns_seen_by
from evaluation.study.queries import is_current, latest_study, opinion_rows

router = Router(tags=["Runs and results"], auth=reads)


@router.get("/results", response={200: Page[ResultOut], **errors(422)}, summary="List results")
def results(
    request: HttpRequest, wanted: Query[CampaignQuery], page: Query[PageQuery]
) -> Part[Result]:
    """Return results, newest first: each evaluation of a campaign is one."""
    results = results_seen_by(signed_in(request))
    if wanted.campaign:
        results = results.filter(campaign__slug=wanted.campaign)
    return read_part(results, page, newest_first=True)


@router.get("/results/{uuid:uid}", response={200: ResultWhole, **errors(404)}, summary="One result")
def result(request: HttpRequest, uid: uuid.UUID) -> Result:
    """Return every measure of every model, with the number of queries each is the mean of."""
    return get_object_or_404(results_seen_by(signed_in(request)), uid=uid)


@router.get(
    "/results/{uuid:uid}/bias",
    response={200: BiasOut, **errors(404)},
    summary="Bias report of a result",
)
def bias_report(request: HttpRequest, uid: uuid.UUID) -> Result:
    """Return what a result says of its pool's bias; nothing of a campaign without a pool."""
    return get_object_or_404(results_seen_by(signed_in(request)).exclude(bias={}), uid=uid)


@router.get(
    "/campaigns/{slug:slug}/board",
    response={200: BoardOut, **errors(404)},
    summary="Board of a campaign",
)
def board(request: HttpRequest, slug: str, wanted: Query[BoardQuery]) -> dict[str, object]:
    """Return the newest result's board: values, intervals, letters, and what may be compared."""
    return board_values(_newest(request, slug), wanted.by)


@router.get(
    "/campaigns/{slug:slug}/comparisons",
    response={200: ComparisonsOut, **errors(404, 422)},
    summary="Paired comparisons of models",
)
def comparisons(
    request: HttpRequest, slug: str, wanted: Query[ComparisonQuery]
) -> dict[str, object]:
    """Return each two models of the newest result compared by a measure; none without tests."""
    return comparison_values(_newest(request, slug), wanted.measure)


def _newest(request: HttpRequest, slug: str) -> Result:
    """Return a campaign's newest result that the person may see; 404 without one."""
    found = results_seen_by(signed_in(request)).filter(campaign__slug=slug).order_by("-pk").first()
    if found is None:
        raise Http404
    return found


@router.get(
    "/campaigns/{slug:slug}/second-opinions",
    response={200: SecondOpinionsOut, **errors(404)},
    summary="Pairs of a campaign worth a second opinion",
)
def second_opinions(request: HttpRequest, slug: str) -> dict[str, object]:
    """Return what the newest further study of a campaign found; 404 before somebody made one."""
    campaign = get_object_or_404(campaigns_seen_by(signed_in(request)), slug=slug)
    found = latest_study(campaign)
    if found is None:
        raise Http404
    return {
        "campaign": campaign.slug,
        "measure": found.measure,
        "is_current": is_current(campaign, found),
        "pairs": [
            {
                **asdict(row.line),
                "query": row.question.query.uid,
                "candidate": row.question.candidate.uid,
            }
            for row in opinion_rows(campaign, found)
        ],
    }

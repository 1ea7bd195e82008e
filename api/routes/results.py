"""The API's routes about results."""

from __future__ import annotations

import uuid

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router

from accounts.access import signed_in
from api.access import reads
from api.errors import errors
from api.paging import Page, PageQuery, Part, read_part
from api.result_schemas import (
    BiasOut,
    CampaignQuery,
    ResultOut,
    ResultWhole,
)
from evaluation.models import Result
from evaluation.results.api_queries import results_seen_by

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

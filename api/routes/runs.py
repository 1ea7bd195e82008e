"""The API's routes about runs: list them, upload one, see how far its check is."""

from __future__ import annotations

import uuid

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.datastructures import MultiValueDict
from ninja import File, Form, Query, Router, Status
from ninja.files import UploadedFile

from accounts.access import signed_in
from api.access import reads, uploads_runs
from api.errors import ApiError, Detail, errors
from api.limits import UPLOADS, spend
from api.paging import Page, PageQuery, Part, read_part
from api.result_schemas import (
    CampaignQuery,
    RunDetails,
    RunOut,
    RunWhole,
    UploadOut,
)
from evaluation.models import Run
from evaluation.results.api_queries import find_upload, runs_seen_by
from evaluation.results.queries import campaigns_seen_by
from evaluation.runs.forms import RunForm
from evaluation.runs.services import take_in_run
from jobs.models import Job
from jobs.services import JobError
from lookalike.io.errors import InputError

router = Router(tags=["Runs and results"], auth=reads)


@router.get("/runs", response={200: Page[RunOut], **errors(422)}, summary="List runs")
def runs(request: HttpRequest, wanted: Query[CampaignQuery], page: Query[PageQuery]) -> Part[Run]:
    """Return the uploaded runs that were checked, newest first."""
    runs = runs_seen_by(signed_in(request))
    if wanted.campaign:
        runs = runs.filter(campaign__slug=wanted.campaign)
    return read_part(runs, page, newest_first=True)


@router.get("/runs/{uuid:uid}", response={200: RunWhole, **errors(404)}, summary="One run")
def run(request: HttpRequest, uid: uuid.UUID) -> Run:
    """Return a run with its newest score."""
    return get_object_or_404(runs_seen_by(signed_in(request)), uid=uid)


@router.post(
    "/campaigns/{slug:slug}/runs",
    auth=uploads_runs,
    response={202: UploadOut, **errors(400, 404, 409, 413, 422)},
    summary="Upload a run",
)
def upload_run(
    request: HttpRequest,
    slug: str,
    details: Form[RunDetails],
    file: File[UploadedFile],
    ids_file: File[UploadedFile | None] = None,
) -> Status[Job]:
    """Upload scores or embeddings to be checked and scored; the answer says where to look.

    TREC run, CSV or parquet (query, candidate, score), or embeddings as .npy (with `ids_file`),
    .npz or parquet. Images are named by path, uid, SHA-256 or a release's image_id.
    """
    owner = signed_in(request)
    campaign = get_object_or_404(campaigns_seen_by(owner), slug=slug)
    spend(UPLOADS, owner.pk)
    files = {"file": [file], **({"ids_file": [ids_file]} if ids_file else {})}
    form = RunForm(campaign, details.dict(), MultiValueDict(files))
    if not form.is_valid():
        problems = [
            Detail(where=f"form.{field}", message=str(message))
            for field, messages in form.errors.items()
            for message in messages
        ]
        message = "The run cannot be taken; see the details."
        raise ApiError(422, "invalid_run", message, details=problems)
    try:
        job = take_in_run(campaign=campaign, owner=owner, given=form.cleaned_data)
    except InputError as problem:
        raise ApiError(422, "invalid_run", str(problem)) from problem
    except JobError as problem:
        raise ApiError(409, "conflict", str(problem)) from problem
    return Status(202, job)


@router.get("/uploads/{uuid:uid}", response={200: UploadOut, **errors(404)}, summary="An upload")
def upload(request: HttpRequest, uid: uuid.UUID) -> Job:
    """Return how far the check of an upload is; `run` is there once it is stored."""
    return find_upload(signed_in(request), uid)

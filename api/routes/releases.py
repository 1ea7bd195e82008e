"""The API's routes about releases: what is public is open to strangers, too."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from ninja import Field, File, Form, Query, Router, Schema, Status
from ninja.files import UploadedFile

from accounts.access import signed_in
from api.access import reads, reads_public, uploads_runs
from api.errors import ApiError, errors
from api.job_schemas import JobOut
from api.limits import UPLOADS, spend
from api.paging import Page, PageQuery, Part, Text, keys_in, make_cursor, read_part
from jobs.services import JobError
from lookalike.io.errors import InputError
from lookalike.metrics.match import Missing
from lookalike.release.errors import ReleaseError
from releases.blindness.images import WithheldError, why_not_shown
from releases.models import Release, Submission
from releases.site.downloads import download
from releases.site.queries import (
    FileLine,
    Negative,
    archive_line,
    file_lines,
    frozen_negatives,
    is_withheld,
    line_or_404,
    manifest_of_release,
    open_release,
    submission_or_404,
    visible_releases,
)
from releases.site.signing import Signature, signature_of
from releases.submissions.services import QuotaError, submit

router = Router(tags=["Releases"], auth=reads_public)
BYTES = {
    200: {
        "description": "The file, or with 206 the part of it that Range asks for.",
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class FileOut(Schema):
    """A file to download; it resumes (Range, with its hash as ETag)."""

    path: str = Field(description="In the release; empty for the archive.")
    name: str
    sha256: str
    n_bytes: int
    n_rows: int | None = Field(description="Rows or lines of a table; null for other files.")
    url: str = Field(description="Where it is fetched, on this site.")

    @staticmethod
    def resolve_url(line: FileLine) -> str:
        at = [line.release.slug, line.release.version]
        if not line.path:
            return reverse("api:release_archive", args=at)
        return reverse("api:release_file", args=[*at, line.path])


class ReleaseOut(Schema):
    """A frozen version of a benchmark; it never changes."""

    uid: uuid.UUID
    slug: str
    version: str
    title: str
    description: str
    visibility: str = Field(description="public, or members.")
    why_not_shown: str = Field(
        description="Why its content is not public now, such as a campaign whose judges see its "
        "images; empty where it is public. Withheld content answers 403 with the code withheld."
    )
    seal: str = Field(description="Of the manifest: names the content.")
    has_hidden_labels: bool
    archive: FileOut
    created_at: datetime

    @staticmethod
    def resolve_why_not_shown(release: Release, context: dict[str, Any]) -> str:
        if is_withheld(release, context["request"].user):  # strangers learn of no campaign
            return str(WithheldError(release))
        return why_not_shown(release)

    @staticmethod
    def resolve_archive(release: Release) -> FileLine:
        return archive_line(release)


class SignatureOut(Schema):
    """The check of a release's signature, with the key that this site signs with."""

    state: str = Field(description="absent, valid, invalid, or unchecked: the site has no key.")
    key: str = Field(description="The public key, as minisign writes it.")
    reason: str = Field(description="Why it is invalid.")


class ReleaseWhole(ReleaseOut):
    """A release with its files and what is known of it."""

    signature: SignatureOut
    doi: str = Field(description="Under which it was deposited; empty if it was not.")

    info: dict[str, Any] = Field(description="release.json.")
    statistics: dict[str, Any] = Field(description="statistics.json.")
    files: list[FileOut]

    @staticmethod
    def resolve_signature(release: Release) -> Signature:
        return signature_of(release)

    @staticmethod
    def resolve_files(release: Release) -> list[FileLine]:
        return list(file_lines(release))


class NegativeOut(Schema):
    """A pair that nobody judged, taken for not similar; images by their ids in the release."""

    query: str
    candidate: str


class SubmissionOut(Schema):
    """Scores or embeddings that somebody gave for a release."""

    uid: uuid.UUID
    release: str = Field(validation_alias="release.slug")
    version: str = Field(validation_alias="release.version")
    name: str
    is_published: bool
    job: JobOut | None
    scored_at: datetime | None
    coverage: dict[str, int] = Field(
        description="n_pairs put to the judges, and n_scored of them; empty until scored."
    )
    results: dict[str, Any] = Field(description="By measure, on the public labels.")
    hidden_results: dict[str, Any] = Field(description="On the hidden ones, in coarse steps.")


class SubmissionDetails(Schema):
    """What is said about a submission."""

    name: Text = Field(min_length=1, max_length=200, description="As on the leaderboard.")
    description: Text = Field("", max_length=2000, description="How it was made.")
    missing: Missing = Field(
        "error",
        description="error refuses a run without a score for every pair put to the judges; worst "
        "lets missing ones count as the worst.",
    )
    lower_is_better: bool = Field(False, description="Whether its scores are distances.")


@router.get("/releases", response={200: Page[ReleaseOut], **errors(422)}, summary="List releases")
def releases(request: HttpRequest, page: Query[PageQuery]) -> Part[Release]:
    """Return every version that you may see, newest first."""
    return read_part(visible_releases(request.user), page, newest_first=True)


@router.get(
    "/releases/{slug:slug}/{version}",
    response={200: ReleaseWhole, **errors(404, 503)},
    summary="One release",
)
def release(request: HttpRequest, slug: str, version: str) -> Release:
    """Return a version of a benchmark with its files."""
    release = open_release(request.user, slug, version)
    manifest_of_release(release)  # here its damage has a status; inside the schema it has none
    return release


@router.get(
    "/releases/{slug:slug}/{version}/negatives",
    response={200: Page[NegativeOut], **errors(404, 422, 503)},
    summary="Random negatives of a release",
)
def negatives(
    request: HttpRequest, slug: str, version: str, page: Query[PageQuery]
) -> Part[Negative]:
    """Return the random negatives that its areas under curves are also measured with.

    They are frozen with the release: drawn by its seed from what was neither judged nor proposed.
    """
    release = open_release(request.user, slug, version)
    [start] = keys_in(page.after, 1) if page.after else (0,)
    rows = frozen_negatives(release, start, page.limit + 1)
    more = make_cursor([start + page.limit]) if len(rows) > page.limit else None
    return Part(rows[: page.limit], more)


@router.get(
    "/releases/{slug:slug}/{version}/archive",
    response=errors(404, 503),
    openapi_extra={"responses": BYTES},
    summary="The archive of a release",
)
def release_archive(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    """Download everything in one zip; Range resumes."""
    return download(request, archive_line(open_release(request.user, slug, version)))


@router.get(
    "/releases/{slug:slug}/{version}/files/{path:path}",
    response=errors(404, 503),
    openapi_extra={"responses": BYTES},
    summary="A file of a release",
)
def release_file(request: HttpRequest, slug: str, version: str, path: str) -> HttpResponseBase:
    """Download one file of the manifest; Range resumes."""
    return download(request, line_or_404(open_release(request.user, slug, version), path))


@router.post(
    "/releases/{slug:slug}/{version}/submissions",
    auth=uploads_runs,
    response={202: SubmissionOut, **errors(400, 404, 413, 422)},
    summary="Submit a run",
)
def submit_run(
    request: HttpRequest,
    slug: str,
    version: str,
    details: Form[SubmissionDetails],
    file: File[UploadedFile],
) -> Status[Submission]:
    """Submit scores or embeddings to be scored on a release; private until published."""
    owner = signed_in(request)
    release = open_release(request.user, slug, version)
    spend(UPLOADS, owner.pk)
    try:
        submission = submit(
            release=release,
            owner=owner,
            name=details.name,
            file=file,
            description=details.description,
            missing=details.missing,
            lower_is_better=details.lower_is_better,
        )
    except QuotaError as problem:
        raise ApiError(429, "quota_used", str(problem)) from problem
    except (ReleaseError, InputError, JobError) as problem:
        raise ApiError(422, "invalid_run", str(problem)) from problem
    return Status(202, submission)


@router.get(
    "/submissions/{uuid:uid}",
    auth=reads,
    response={200: SubmissionOut, **errors(404)},
    summary="A submission",
)
def submission(request: HttpRequest, uid: uuid.UUID) -> Submission:
    """Return a submission that is published or your own, with its scores once there are any."""
    return submission_or_404(signed_in(request), uid)

"""The API's routes about filling catalogs: send pictures or a table, read the report."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.datastructures import MultiValueDict
from ninja import Field, File, Form, Router, Schema, Status
from ninja.files import UploadedFile

from accounts.access import signed_in
from api.access import fills_catalogs, reads
from api.errors import ApiError, Detail, errors
from api.job_schemas import JobOut
from api.limits import UPLOADS, spend
from catalog.forms import ImportForm
from catalog.importing.origins import ACCEPT, Origin
from catalog.importing.uploads import drop_upload
from catalog.models import Catalog
from catalog.queries import latest_report
from catalog.services import start_import
from jobs.models import Job
from jobs.services import JobConflictError
from lookalike.core.errors import Refused
from lookalike.images.metadata import Choice, MetadataError

router = Router(tags=["Catalogs"], auth=reads)
MAX_NAME = 100


class ImportDetails(Schema):
    """How pictures and metadata are read."""

    layout: str = Field("", description="Name of a published data set's layout.")
    where: str = Field("", max_length=200, description="attribute=value: only these images.")
    names_encoding: str = Field(
        "", max_length=40, description="Of a zip's names that do not say theirs; or guessed."
    )
    path_column: str = Field("", max_length=MAX_NAME, description="Names the file; or detected.")
    product_column: str = Field(
        "", max_length=MAX_NAME, description="Names the product; - for none; or detected."
    )
    ignore_column: list[str] = Field([], max_length=200, description="Columns to leave out.")
    accept_findings: bool = Field(
        False,
        description="Take values as they stand that would merge or split products or classes.",
    )


class ImportReportOut(Schema):
    """The newest import of a catalog that has ended."""

    job: JobOut | None = Field(description="null before the first.")
    report: dict[str, Any] = Field(description="As docs/importing.md lists it.")


@router.post(
    "/catalogs/{slug:slug}/imports",
    auth=fills_catalogs,
    response={202: JobOut, **errors(400, 404, 409, 413, 422)},
    summary="Import pictures or metadata",
)
def import_catalog(
    request: HttpRequest,
    slug: str,
    details: Form[ImportDetails],
    upload: File[UploadedFile | None] = None,
    metadata: File[UploadedFile | None] = None,
) -> Status[Job]:
    """Send a zip of pictures, metadata, or both; a worker imports them.

    Metadata alone give the catalog's images new products and attributes.
    """
    owner = signed_in(request)
    catalog = get_object_or_404(Catalog, slug=slug)
    spend(UPLOADS, owner.pk)
    given = {"upload": upload, "metadata": metadata}
    files = MultiValueDict({name: [file] for name, file in given.items() if file is not None})
    form = ImportForm(details.dict(), files, catalog=catalog)
    if not form.is_valid():
        raise _invalid(
            [
                Detail(where=f"form.{field}", message=str(message))
                for field, messages in form.errors.items()
                for message in messages
            ]
        )
    try:
        origin = _checked(form.keep(), details)
        return Status(202, start_import(catalog=catalog, origin=origin, owner=owner))
    except JobConflictError as problem:
        raise ApiError(409, "conflict", str(problem)) from problem
    except Refused as problem:
        raise _invalid([Detail(where="form.upload", message=str(problem))]) from problem


def _checked(origin: Origin, details: ImportDetails) -> Origin:
    """Return the origin with what was said of the columns, after a look at the table.

    Raises:
        ApiError: 422, the columns are unknown, or values need a yes.
    """
    choice = Choice(details.path_column, details.product_column, tuple(details.ignore_column))
    chosen = replace(origin, columns=asdict(choice), accept_findings=details.accept_findings)
    try:
        table = chosen.read_table()
        if table is not None:
            table.require_yes(chosen.accept_findings, ACCEPT)
    except MetadataError as problem:
        for name in filter(None, (origin.upload, origin.metadata_upload)):
            drop_upload(name)
        raise _invalid([Detail(where="form.metadata", message=str(problem))]) from problem
    return chosen


def _invalid(details: list[Detail]) -> ApiError:
    return ApiError(
        422, "invalid_import", "The import cannot be taken; see the details.", details=details
    )


@router.get(
    "/catalogs/{slug:slug}/import-report",
    response={200: ImportReportOut, **errors(404)},
    summary="Report of the newest import",
)
def import_report(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Return what the newest import read, converted, refused and left out."""
    job = latest_report(get_object_or_404(Catalog, slug=slug))
    return {"job": job, "report": job.result if job else {}}

"""Answer with the bytes of a picture: fixed types, no names, kept by the browser."""

from __future__ import annotations

import hashlib
import io
import logging

from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.crypto import salted_hmac

from audit.actions import Action
from audit.services import record
from catalog.images.blobs import SIZES, blob_name, read_blob, read_preview
from catalog.models import Image
from lookalike.images.formats import CONTENT_TYPES
from lookalike.images.strip import StripError, has_metadata, strip_metadata

YEAR = 31_536_000
logger = logging.getLogger(__name__)


def image_response(
    request: HttpRequest, image: Image, size: str, *, scope: str = ""
) -> HttpResponseBase:
    """Return one size of a picture; whoever calls has checked that the person may see it.

    Originals are recorded in the audit log. Only admins get their metadata, such as EXIF; others
    get the same pixels without them.

    Nothing in the answer tells a file name, product, hash or id: the ETag is keyed with the
    site's secret. The bytes of an address never change, so browsers keep them and ask again with
    their ETag only when forced.

    Args:
        request: GET or HEAD; If-None-Match is honoured.
        image: its row.
        size: `thumb`, `view` (both WebP, without the camera's notes) or `original`.
        scope: the campaign for which it is shown, so that the ETag is another in each.

    Raises:
        Http404: no such size, or the file is missing or damaged.
        PermissionDenied: its metadata cannot be removed, and the person is no admin.
    """
    if size not in SIZES:
        raise Http404
    is_original = size == "original"
    is_whole = is_original and getattr(request.user, "is_admin", False)
    what = f"{scope} {image.pk} {size}{' whole' if is_whole else ''}"
    keyed = salted_hmac("catalog.images.serving", what, algorithm="sha256")
    etag = f'"{keyed.hexdigest()[:32]}"'
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None:
        response = _original(image, is_whole=is_whole) if is_original else _bytes(image, size)
        if is_original and request.method == "GET":
            record(request, Action.DOWNLOADED, image, what="original")
    response["ETag"] = etag
    response["Cache-Control"] = f"private, max-age={YEAR}, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    # a browser that shows a picture alone styles the page that it makes for it
    response["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _bytes(image: Image, size: str) -> HttpResponse:
    try:
        content = read_preview(image.sha256, size)
    except FileNotFoundError:
        raise _missing(image, size) from None
    return HttpResponse(content, content_type=CONTENT_TYPES["WEBP"])


def _original(image: Image, *, is_whole: bool) -> HttpResponseBase:
    try:
        content = read_blob(image.sha256, "original")
    except FileNotFoundError:
        raise _missing(image, "original") from None
    if hashlib.sha256(content).hexdigest() != image.sha256:
        raise _missing(image, "original")
    if not is_whole:
        try:
            content = strip_metadata(content)
        except StripError as problem:
            if has_metadata(content):
                raise PermissionDenied(str(problem)) from problem
    response = FileResponse(io.BytesIO(content), content_type=CONTENT_TYPES[image.image_format])
    response["Content-Length"] = str(len(content))
    return response


def _missing(image: Image, size: str) -> Http404:
    name = blob_name(image.sha256, size)
    logger.error("The file %s is missing or damaged; import the catalog again.", name)
    return Http404()

"""Answer with the bytes of a picture: fixed types, no names, kept by the browser."""

from __future__ import annotations

import logging

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.crypto import salted_hmac

from catalog.images.blobs import SIZES, blob_name, open_blob, read_preview
from catalog.models import Image
from lookalike.images.formats import CONTENT_TYPES

YEAR = 31_536_000
logger = logging.getLogger(__name__)


def image_response(
    request: HttpRequest, image: Image, size: str, *, scope: str = ""
) -> HttpResponseBase:
    """Return one size of a picture; whoever calls has checked that the person may see it.

    Nothing in the answer tells a file name, product, hash or id: the ETag is keyed with the
    site's secret. The bytes of an address never change, so browsers keep them and ask again with
    their ETag only when forced.

    Args:
        request: GET or HEAD; If-None-Match is honoured.
        image: its row.
        size: `thumb`, `view` (both WebP, without the camera's notes) or `original`.
        scope: the campaign for which it is shown, so that the ETag is another in each.

    Raises:
        Http404: no such size, or the file is missing.
    """
    if size not in SIZES:
        raise Http404
    keyed = salted_hmac("catalog.images.serving", f"{scope} {image.pk} {size}", algorithm="sha256")
    etag = f'"{keyed.hexdigest()[:32]}"'
    response = get_conditional_response(request, etag=etag) or _bytes(image, size)
    response["ETag"] = etag
    response["Cache-Control"] = f"private, max-age={YEAR}, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    # a browser that shows a picture alone styles the page that it makes for it
    response["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _bytes(image: Image, size: str) -> HttpResponseBase:
    content_type = CONTENT_TYPES[image.image_format if size == "original" else "WEBP"]
    try:
        if size != "original":
            return HttpResponse(read_preview(image.sha256, size), content_type=content_type)
        response = FileResponse(open_blob(image.sha256, size), content_type=content_type)
    except FileNotFoundError:
        name = blob_name(image.sha256, size)
        logger.error("The file %s is missing or damaged; import the catalog again.", name)
        raise Http404 from None
    del response["Content-Disposition"]
    return response

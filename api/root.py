"""The root of the REST API: mounts each app's router, and gives every error one shape."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from api.access import PublicAccess, TokenAccess
from api.errors import ApiError, Detail, ErrorOut
from api.limits import Spent
from api.routes.audit import router as audit_router
from api.routes.campaigns import router as annotation_router
from api.routes.catalogs import router as catalog_router
from api.routes.comments import router as comments_router
from api.routes.conditional import router as conditional_router
from api.routes.imports import router as imports_router
from api.routes.people import router as accounts_router
from api.routes.pools import router as pooling_router
from api.routes.releases import router as releases_router
from api.routes.results import router as evaluation_router
from api.routes.review import router as review_router
from api.routes.runs import router as runs_router
from catalog.importing.upload_handlers import NoRoomError
from releases.blindness.images import WithheldError
from releases.site.integrity import DamagedFileError

DESCRIPTION = """Read catalogs, pools, templates, triplets, campaigns, judgements, runs, results and
releases of a Lookalike site, and upload runs to be scored. Requests carry an access token, which
researchers and admins make under their profile. docs/api.md tells more."""


class Api(NinjaAPI):
    """Ninja's API with the rate in every answer's headers."""

    def create_response(self, request: HttpRequest, data: Any, **given: Any) -> HttpResponse:
        """Return an answer that says how many requests are left."""
        response = super().create_response(request, data, **given)
        spent: Spent | None = getattr(request, "api_spent", None)
        if spent is not None:
            response["RateLimit-Limit"] = str(spent.limit)
            response["RateLimit-Remaining"] = str(spent.left)
            response["RateLimit-Reset"] = str(spent.seconds)
        return response

    def get_openapi_schema(self, **_: Any) -> OpenAPISchema:
        """Return the document, which is the same whoever asks."""
        return self._document

    @cached_property
    def _document(self) -> OpenAPISchema:
        """The document; routes that strangers may ask say that a token is optional."""
        document = super().get_openapi_schema()
        document["components"]["securitySchemes"].pop(PublicAccess.__name__, None)
        for routes in document["paths"].values():
            for route in routes.values():
                if {PublicAccess.__name__: []} in route.get("security", []):
                    route["security"] = [{}, {TokenAccess.__name__: []}]
        return document

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the name of the route's function: programs make methods of it."""
        return operation.view_func.__name__


api = Api(
    title="Lookalike",
    version="1",
    description=DESCRIPTION,
    docs_url=None,
    urls_namespace="api",
)
for router in (
    accounts_router,
    catalog_router,
    imports_router,
    pooling_router,
    conditional_router,
    annotation_router,
    review_router,
    comments_router,
    evaluation_router,
    runs_router,
    releases_router,
    audit_router,
):
    api.add_router("", router)


def _answer(request: HttpRequest, problem: ApiError) -> HttpResponse:
    body = ErrorOut(code=problem.code, message=problem.message, details=problem.details)
    response = api.create_response(request, body.dict(), status=problem.status)
    for name, value in problem.headers.items():
        response[name] = value
    return response


@api.exception_handler(ApiError)
def _refused(request: HttpRequest, problem: ApiError) -> HttpResponse:
    return _answer(request, problem)


@api.exception_handler(DamagedFileError)
def _damaged(request: HttpRequest, problem: DamagedFileError) -> HttpResponse:
    return _answer(request, ApiError(503, "damaged", str(problem)))


@api.exception_handler(WithheldError)
def _withheld(request: HttpRequest, problem: WithheldError) -> HttpResponse:
    return _answer(request, ApiError(403, "withheld", str(problem)))


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, problem: Http404) -> HttpResponse:
    return _answer(request, ApiError(404, "not_found", "There is nothing at this address."))


@api.exception_handler(PermissionDenied)
def _forbidden(request: HttpRequest, problem: PermissionDenied) -> HttpResponse:
    return _answer(request, ApiError(403, "forbidden", "Your role does not allow this."))


@api.exception_handler(RequestDataTooBig)
def _too_large(request: HttpRequest, problem: RequestDataTooBig) -> HttpResponse:
    message = str(problem) if isinstance(problem, NoRoomError) else "The upload is too large."
    return _answer(request, ApiError(413, "too_large", message))


@api.exception_handler(MultiPartParserError)
@api.exception_handler(SuspiciousOperation)
def _unreadable(request: HttpRequest, problem: Exception) -> HttpResponse:
    return _answer(request, ApiError(400, "unreadable", f"The request cannot be read: {problem}"))


@api.exception_handler(HttpError)
def _bad(request: HttpRequest, problem: HttpError) -> HttpResponse:
    return _answer(request, ApiError(problem.status_code, "unreadable", str(problem)))


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, problem: ValidationError) -> HttpResponse:
    details = [
        Detail(where=".".join(map(str, error["loc"])), message=str(error["msg"]))
        for error in problem.errors
    ]
    message = "The request is not as the API wants it; see the details."
    return _answer(request, ApiError(422, "invalid_request", message, details=details))

"""Headers that depend on where a page lies and who looks at it."""

from __future__ import annotations

from collections.abc import Callable

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.urls import reverse

Handler = Callable[[HttpRequest], HttpResponseBase]

# Alpine, which the back office is made of, evaluates its attributes and sets inline styles.
# Everything still has to come from this site.
BACK_OFFICE_SOURCES = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}


def back_office_policy(get_response: Handler) -> Handler:
    """Relax the content security policy for the back office alone; stands after CSPMiddleware."""
    prefix = reverse("admin:index")

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path_info.startswith(prefix):
            response._csp_update = BACK_OFFICE_SOURCES  # type: ignore[attr-defined]  # as csp's decorators do
        return response

    return respond


# What no page here uses, and no page that somebody slips in shall use.
UNUSED_FEATURES = ", ".join(
    f"{name}=()"
    for name in (
        *("accelerometer", "autoplay", "browsing-topics", "camera", "display-capture"),
        *("encrypted-media", "geolocation", "gyroscope", "hid", "magnetometer", "microphone"),
        *("midi", "payment"),
        *("screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
    )
)


def unused_features(get_response: Handler) -> Handler:
    """Switch off the powers of a browser that the site does not use, on every answer."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response["Permissions-Policy"] = UNUSED_FEATURES
        return response

    return respond


def private_pages(get_response: Handler) -> Handler:
    """Keep what a signed-in person sees out of every cache, unless the view says otherwise."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        user = getattr(request, "user", None)
        if "Cache-Control" not in response and user is not None and user.is_authenticated:
            response["Cache-Control"] = "private, no-store"
        return response

    return respond


API = "/api/v1/"  # /api/ itself is a page


def drop_null_characters(get_response: Handler) -> Handler:
    """Drop NUL characters from a page's query: PostgreSQL can neither store nor compare one.

    The API rejects them by its own rules.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "")
        if "%00" in query and not request.path_info.startswith(API):
            request.META["QUERY_STRING"] = query.replace("%00", "")
        return get_response(request)

    return respond


API_ERRORS = {
    400: ("unreadable", "The request cannot be read."),
    403: ("forbidden", "This is not allowed."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
    500: ("server_error", "An error of the program; its log says more."),
}


def api_errors(get_response: Handler) -> Handler:
    """Answer in JSON where the API's own handlers are not reached: no such address, a crash."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        status = response.status_code
        is_json = response.get("Content-Type", "").startswith("application/json")
        if not request.path_info.startswith(API) or status not in API_ERRORS or is_json:
            return response
        code, message = API_ERRORS[status]
        answer = JsonResponse({"code": code, "message": message, "details": []}, status=status)
        if "Allow" in response:
            answer["Allow"] = response["Allow"]
        return answer

    return respond

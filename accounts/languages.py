"""In which language a page is: the person's, or what their browser asks for.

What a judge sees is there in every language of `LANGUAGES`. The pages of admins and researchers
are in English alone, whatever their language: half a page in each would be worse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from accounts.models import Role, User

API = "/api/v1/"
ENGLISH = "en"
YEAR = 365 * 86_400
# By name or application; the pages of an annotator are all of them.
TRANSLATED = frozenset(
    {
        *("accounts:profile", "accounts:sessions", "accounts:end_session", "accounts:end_sessions"),
        *("accounts:language", "home"),
    }
)
TRANSLATED_STARTS = ("account_", "mfa_", "socialaccount_", "openid_connect_")


def choices() -> list[tuple[str, str]]:
    """Return each language with its own name for itself."""
    named = [
        (code, translation.get_language_info(code)["name_local"]) for code, _ in settings.LANGUAGES
    ]
    return [(code, name[0].upper() + name[1:]) for code, name in named]


def language_choices(_request: HttpRequest) -> dict[str, Callable[[], list[tuple[str, str]]]]:
    """Give every template `language_choices`, computed where a page offers them."""
    return {"language_choices": choices}


class ByBrowser:
    """Use the language of the browser's cookie, or the first that it asks for; needs no database.

    It stands outside of nearly everything, so that pages of errors are in that language, too.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in that language, and say so."""
        is_api = request.path_info.startswith(API)
        translation.activate(ENGLISH if is_api else translation.get_language_from_request(request))
        response = self.get_response(request)
        if not is_api and response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ("Accept-Language", "Cookie"))
            response.headers.setdefault("Content-Language", translation.get_language())
        return response


class ByPerson:
    """Use the language that the person has chosen; stands behind AuthenticationMiddleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in that language."""
        if not request.path_info.startswith(API) and request.session.session_key:
            person = request.user
            if person.is_authenticated and person.language in dict(settings.LANGUAGES):
                translation.activate(person.language)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Leave pages that nobody has translated in English."""
        is_annotator = getattr(request.user, "role", None) == Role.ANNOTATOR
        if not is_annotator and not _is_translated(request):
            translation.activate(ENGLISH)


def _is_translated(request: HttpRequest) -> bool:
    name = request.resolver_match.view_name if request.resolver_match else ""
    return name in TRANSLATED or name.startswith(TRANSLATED_STARTS)


@require_POST
def choose(request: HttpRequest) -> HttpResponseBase:
    """Keep the language that somebody has chosen, and go back to where they were."""
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    response = HttpResponseRedirect(back) if back and is_ours else redirect("home")
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return response
    if request.user.is_authenticated:
        User.objects.filter(pk=request.user.pk).update(language=language)
    keep(response, language)
    return response


def keep(response: HttpResponseBase, language: str) -> None:
    """Let the browser keep a language, for pages that know nobody."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=YEAR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def forget(request: HttpRequest, response: HttpResponseBase) -> None:
    """Leave the language to what the browser asks for, in the rest of this request, too."""
    request.COOKIES.pop(settings.LANGUAGE_COOKIE_NAME, None)
    response.delete_cookie(settings.LANGUAGE_COOKIE_NAME, samesite="Lax")


def after_sign_in(request: HttpRequest, response: HttpResponseBase, person: User) -> None:
    """Bring the browser's choice and the person's together; the person's comes first."""
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    if person.language:
        keep(response, person.language)
    elif chosen in dict(settings.LANGUAGES):
        User.objects.filter(pk=person.pk).update(language=chosen)


def language_of(person: User) -> str:
    """Return the language in which to write to somebody."""
    return person.language if person.language in dict(settings.LANGUAGES) else ENGLISH

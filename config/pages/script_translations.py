"""The words of JavaScript in one language, as a script of their own."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import translation
from django.utils.translation.trans_real import DjangoTranslation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

DOMAIN = "djangojs"
ENGLISH = "en"


class _Words(JavaScriptCatalog):
    """Django's script, with our words alone."""

    def get(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Return the script in the active language."""
        self.translation = DjangoTranslation(
            translation.get_language(),
            domain=DOMAIN,
            localedirs=[str(path) for path in settings.LOCALE_PATHS],
        )
        answer: HttpResponse = self.render_to_response(self.get_context_data())
        return answer


@require_safe
@cache_control(public=True, max_age=31_536_000, immutable=True)  # the address names the content
def words(request: HttpRequest, language: str, version: str) -> HttpResponse:
    """Return `gettext` and `ngettext` for a language, with its words."""
    if language not in dict(settings.LANGUAGES) or version != _version(language):
        raise Http404
    with translation.override(language):
        answer = _Words.as_view()(request)
    assert isinstance(answer, HttpResponse)  # noqa: S101  (as `get` above returns)
    return answer


def words_url(_request: HttpRequest) -> dict[str, str]:
    """Give every template `words_url`, "" in English, in which the scripts are written."""
    language = translation.get_language() or ENGLISH
    version = "" if language == ENGLISH else _version(language)
    return {"words_url": reverse("words", args=[language, version]) if version else ""}


@lru_cache(maxsize=32)
def _version(language: str) -> str:
    """Return a digest of a language's words; "" where it has none."""
    name = f"{translation.to_locale(language)}/LC_MESSAGES/{DOMAIN}.mo"
    files = [path for folder in settings.LOCALE_PATHS if (path := Path(folder) / name).exists()]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    return digest[:16] if files else ""

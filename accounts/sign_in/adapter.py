"""How allauth behaves here: accounts are given, not taken, and nobody locks another's owner out."""

from __future__ import annotations

import logging
from copy import copy
from typing import Any, cast
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.context import request_context
from allauth.core.internal import ratelimit
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import languages
from accounts.models import User
from accounts.sign_in.addresses import moved, site_address
from accounts.sign_in.afterwards import do_afterwards
from accounts.sign_in.devices import known_device, remember_device
from accounts.sign_in.refused_page import refusal

logger = logging.getLogger(__name__)


class InvitedOnlyAdapter(DefaultAccountAdapter):
    """Close the public sign-up, and slow down those who guess passwords.

    Wrong passwords count for a name and an address together, so that a stranger who guesses
    stops himself and not the owner; for an address alone, whatever the names; and for a name
    alone, wherever they come from. A browser in which somebody has signed in before is no
    stranger to that name: it is counted by itself, and the last two do not stop it.
    """

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": gettext_lazy("The user name or password is not correct."),
        "email_password_mismatch": gettext_lazy("The email address or password is not correct."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: nobody signs up alone."""
        return False

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return what wrong passwords are counted for: a name from a device or an address."""
        name = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{name}:{known_device(request, _login(credentials)) or ratelimit.get_ip(request)}"

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count an attempt.

        Raises:
            ValidationError: there were too many.
        """
        self._elsewhere: list[Any] = []
        super().pre_authenticate(request, **credentials)
        login = _login(credentials)
        if known_device(request, login):
            return
        for action in ("login_failed_address", "login_failed_name"):
            usage = ratelimit.consume(
                request, app="allauth.account", action=action, key=login.lower()
            )
            if usage is None:
                raise self.validation_error("too_many_login_attempts")
            self._elsewhere.append(usage)

    def _rollback_login_failed_rl_usage(self) -> None:
        """Forget the attempt: the password was right."""
        super()._rollback_login_failed_rl_usage()
        for usage in self._elsewhere:
            usage.rollback()

    def post_login(
        self, request: HttpRequest, user: AbstractBaseUser, **kwargs: Any
    ) -> HttpResponse:
        """Go on to the page that was asked for, and know this browser the next time."""
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_device(request, response, cast(User, user))
        languages.after_sign_in(request, response, cast(User, user))
        return response

    def pre_login(
        self,
        request: HttpRequest,
        user: User,
        *,
        signal_kwargs: dict[str, Any] | None,
        **given: Any,
    ) -> HttpResponse | None:
        """Refuse a password where the institution answers for somebody.

        Whoever leaves it would else get in again by “Forgotten your password?”.
        """
        response: HttpResponse | None = super().pre_login(
            request, user, signal_kwargs=signal_kwargs, **given
        )
        if response or "sociallogin" in (signal_kwargs or {}):
            return response
        if settings.OIDC is None or user.is_superuser:
            return None
        if SocialAccount.objects.filter(user=user).exists():
            return refusal(
                request,
                _("Your account is signed in through %(name)s alone.")
                % {"name": settings.OIDC.name},
            )
        return None

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the address at which a password is chosen."""
        return moved(super().get_reset_password_from_key_url(key), self.request)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail once the request is answered: how long it takes tells nobody of an account.

        A failure is logged, as an error page would tell the same.
        """
        person = context.get("user")
        own = languages.language_of(person) if person and person.language else None
        language = own or translation.get_language()
        request, host = copy(self.request), urlsplit(site_address(self.request)).netloc
        request.get_host = lambda: host  # in the words of the mail

        def send() -> None:
            try:
                with translation.override(language), request_context(request):
                    super(InvitedOnlyAdapter, self).send_mail(template_prefix, email, context)
            except OSError:
                logger.exception("No mail could be sent; see EMAIL_URL.")

        do_afterwards(self.request, send)


def _login(credentials: dict[str, Any]) -> str:
    return str(credentials.get("email") or credentials.get("username") or "")

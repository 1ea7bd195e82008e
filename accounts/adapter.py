"""How allauth behaves here: accounts are given, not taken."""

from __future__ import annotations

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.models import User
from accounts.refusal import refusal

logger = logging.getLogger(__name__)


class InvitedOnlyAdapter(DefaultAccountAdapter):
    """Close the public sign-up; admins make accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: nobody signs up alone."""
        return False

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
                request, f"Your account is signed in through {settings.OIDC.name} alone."
            )
        return None

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail; a failure is logged, as an error page would tell who has an account."""
        try:
            super().send_mail(template_prefix, email, context)
        except OSError:
            logger.exception("No mail could be sent; see EMAIL_URL.")

"""Sign-in through the institution's OpenID Connect provider, and what its groups make of people.

The provider is asked over TLS, whose certificate vouches for the ID token (OpenID Connect Core
1.0, 3.1.3.7, 6). `docs/deployment.md` says who is let in, in which role.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NoReturn

from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _

from accounts.models import Role, User
from accounts.services import follow_groups
from accounts.sessions.services import end_sessions
from accounts.sign_in.refused_page import refusal
from accounts.tokens.services import end_tokens
from audit.actions import Action
from audit.services import record

Claims = dict[str, Any]
logger = logging.getLogger(__name__)


class Provider(OpenIDConnectProvider):
    """allauth's provider, asked with a nonce, and believed about verified addresses only."""

    def redirect(
        self, request: HttpRequest, process: str, next_url: str | None = None, *args: Any, **_: Any
    ) -> HttpResponse:
        """Send somebody to the provider; the address that led here adds nothing to the request."""
        nonce = get_random_string(32)
        asked = self.get_auth_params() | {"nonce": nonce}
        known = self.get_oauth2_adapter(request).openid_config.get("scopes_supported", [])
        scope = [*self.get_scope(), *({"groups"} & set(known))]  # some tell groups only if asked
        response: HttpResponse = super().redirect(
            request, process, next_url, auth_params=asked, scope=scope, nonce=nonce
        )
        return response

    def sociallogin_from_response(self, request: HttpRequest, response: Claims) -> SocialLogin:
        """Join what the ID token and the provider's answer about the person say."""
        token, info = response.get("id_token") or {}, response.get("userinfo") or {}
        if not token.get("sub") or info.get("sub", token["sub"]) != token["sub"]:
            raise OAuth2Error("The ID token is missing, or is somebody else's.")
        claims = token | info | {"nonce": token.get("nonce")}
        return super().sociallogin_from_response(request, claims)

    def extract_common_fields(self, data: Claims) -> Claims:
        """Return name and address, the address only if it is verified."""
        fields: Claims = super().extract_common_fields(data)
        return fields if _has_verified_address(data) else fields | {"email": None}

    def extract_email_addresses(self, data: Claims) -> list[Any]:
        """Return the address if it is verified."""
        return super().extract_email_addresses(data) if _has_verified_address(data) else []


class SingleSignOn(DefaultSocialAccountAdapter):
    """Who is let in, and as what."""

    def get_provider(self, *args: Any, **given: Any) -> Provider:
        """Return our provider instead of allauth's."""
        found = super().get_provider(*args, **given)
        return Provider(found.request, app=found.app)

    def get_requests_session(self) -> Any:
        """Return a session for requests; without an answer, people are told so."""
        session = super().get_requests_session()
        ask = session.request

        def request(method: str, url: str, **given: Any) -> Any:
            try:
                reply = ask(method, url, **given)
                if method == "GET":  # for what else is asked, allauth looks at the status
                    reply.raise_for_status()
            except OSError as problem:
                logger.warning("The OpenID Connect provider fails: %s", problem)
                words = _("Your institution’s sign-in does not answer. Try again in a minute.")
                raise ImmediateHttpResponse(refusal(context.request, words, 503)) from problem
            return reply

        session.request = request
        return session

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return True: whoever comes this far has a group with a role."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse whom nothing lets in, and give the others the role of their group.

        An account that was there before is linked by its verified address, an admin's never: who
        can set addresses at the provider must not become an admin here by that.
        """
        name = sociallogin.provider.name
        said = {"name": name}
        claims, person = sociallogin.account.extra_data, sociallogin.user
        is_linked = sociallogin.account.pk is not None
        if sociallogin.state.get("process") != "login":
            _refuse(
                request,
                _("Accounts are not linked by hand: sign in through %(name)s instead.") % said,
            )
        if not claims["nonce"] or claims["nonce"] != sociallogin.state.get("nonce"):
            _refuse(
                request, _("This answer of %(name)s belongs to another sign-in. Try again.") % said
            )
        role = role_of(claims.get("groups"), sociallogin.provider.app.settings["roles"])
        if role is None:
            _refuse(
                request,
                _(
                    "%(name)s knows you, but none of your groups may use this site. Ask an admin "
                    "of this site which group it must be."
                )
                % said,
            )
        if not sociallogin.is_existing:
            person.role, person.is_staff = role, role == Role.ADMIN
            return
        if not is_linked and (person.is_admin or person.is_staff or person.is_superuser):
            _refuse(
                request,
                _(
                    "An admin of this site has your email address, and is not linked to "
                    "%(name)s. If it is you, sign in with your password."
                )
                % said,
            )
        if not is_linked:
            person.set_unusable_password()
            person.save(update_fields=["password"])
            end_sessions(person=person)
            end_tokens(owner=person, why=f"the account was linked to {name}")
        follow_groups(person=person, role=role, source=name)
        person.refresh_from_db()  # allauth saves it once more

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Make an account at the first sign-in."""
        person: User = super().save_user(request, sociallogin, form)
        how = f"a sign-in through {sociallogin.provider.name}"
        record(person, Action.PERSON_MADE, person, role=person.role, how=how)
        return person


def role_of(groups: object, roles: Mapping[str, str]) -> Role | None:
    """Return the role of the first group in `roles` that somebody is in; `*` is everybody."""
    theirs = ["*", *(groups if isinstance(groups, list) else [groups])]
    return next((Role(role) for group, role in roles.items() if group in theirs), None)


def _has_verified_address(claims: Claims) -> bool:
    return claims.get("email_verified") in (True, "true")  # some providers send words


def _refuse(request: HttpRequest, words: str) -> NoReturn:
    raise ImmediateHttpResponse(refusal(request, words))

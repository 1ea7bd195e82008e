"""Who may use a route of the API: a token with its scope, or a signed-in reader's browser.

Judging is blind, so annotators are let into nothing here, whatever their token once allowed.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from ninja.security import HttpBearer

from accounts.access import signed_in
from accounts.models import Scope, User
from accounts.sign_in.limits import network_of
from accounts.tokens.services import TokenRefusedError, allowed_scopes, use_token
from api.errors import ApiError
from api.limits import REQUESTS, STRANGERS, UNKNOWN_TOKENS, spend

Person = User | AnonymousUser
SAFE_METHODS = {"GET", "HEAD"}
CHALLENGE = 'Bearer realm="lookalike"'


class TokenAccess(HttpBearer):
    """Let in whoever presents a token with `scope` and still has a role that allows it.

    A browser session may read, so that addresses can be opened from the documentation; it
    changes nothing, so that no other site can make a browser do so.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Person:
        """Return the person for whom the request is made, and count it.

        Raises:
            ApiError: 401, 403 or 429.
        """
        header = request.headers.get("Authorization", "")
        if header:
            person = self.authenticate(request, _token_in(header))
        elif request.method in SAFE_METHODS and request.user.is_authenticated:
            person = signed_in(request)
            _require(self.scope in allowed_scopes(person))
        else:
            raise ApiError(
                401,
                "not_authenticated",
                "Send an access token: Authorization: Bearer lkl_…",
                headers={"WWW-Authenticate": CHALLENGE},
            )
        request.api_spent = spend(REQUESTS, person.pk)  # type: ignore[attr-defined]  # for headers
        return person

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """Return the owner of a token.

        Raises:
            ApiError: 401 if it opens nothing, 403 if not this.
        """
        try:
            row = use_token(token=token)
        except TokenRefusedError as problem:
            spend(UNKNOWN_TOKENS, network_of(request))
            raise ApiError(
                401,
                problem.code,
                str(problem),
                headers={"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'},
            ) from problem
        request.user = row.owner
        _require(self.scope in allowed_scopes(row.owner))
        if self.scope not in row.scopes:
            raise ApiError(
                403, "missing_scope", f"This token has no scope {self.scope.value}; make another."
            )
        return row.owner


def _token_in(header: str) -> str:
    kind, _, token = header.partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _require(is_allowed: bool) -> None:
    if not is_allowed:
        raise ApiError(403, "forbidden", "Your role does not allow this.")


class PublicAccess(TokenAccess):
    """Let in whom `TokenAccess` lets in, and strangers, who are shown what is public.

    Whoever is signed in to judge is let into nothing, as everywhere in the API.
    """

    def __call__(self, request: HttpRequest) -> Person:
        """Return the person for whom the request is made, and count it.

        Raises:
            ApiError: 401 for a token that opens nothing, 403 or 429.
        """
        if request.headers.get("Authorization") or request.user.is_authenticated:
            return super().__call__(request)
        request.api_spent = spend(STRANGERS, network_of(request))  # type: ignore[attr-defined]  # for headers
        return AnonymousUser()


reads = TokenAccess(Scope.READ)
reads_judgements = TokenAccess(Scope.JUDGEMENTS)
reviews_judgements = TokenAccess(Scope.REVIEW)
uploads_runs = TokenAccess(Scope.RUNS)
fills_catalogs = TokenAccess(Scope.CATALOGS)
reads_audit = TokenAccess(Scope.AUDIT)
reads_public = PublicAccess(Scope.READ)

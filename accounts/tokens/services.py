"""Make, use and revoke access tokens; each is made and revoked on the record."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.access import SECOND_FACTOR, lacks_second_factor
from accounts.models import AccessToken, Role, Scope, User
from accounts.tokens.secret import new_token, read_prefix, token_digest
from audit.actions import Action
from audit.services import record
from lookalike.core.errors import Refused

MAX_USABLE = 20
MAX_DAYS = 366
NOTICED_EVERY = timedelta(minutes=1)
SCOPES_OF = {
    Role.ANNOTATOR: frozenset[Scope](),  # judging is blind: nothing that the API tells is theirs
    Role.RESEARCHER: frozenset({Scope.READ, Scope.RUNS}),
    Role.ADMIN: frozenset(Scope),
}


class TokenRefusedError(Exception):
    """A token opens nothing; `code` is stable, the message is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def token_owner(token: str) -> User | None:
    """Return the owner of a usable token, or None. Nothing is recorded: `use_token` does that."""
    if read_prefix(token) is None:
        return None
    rows = AccessToken.objects.select_related("owner")
    found = rows.filter(digest=token_digest(token), revoked_at=None, owner__is_active=True).first()
    return found.owner if found is not None and not found.is_expired else None


def allowed_scopes(person: User) -> frozenset[Scope]:
    """Return what a person's tokens may be used for."""
    return SCOPES_OF[Role(person.role)]


@transaction.atomic
def create_token(
    *, owner: User, name: str, scopes: Collection[Scope], days: int
) -> tuple[AccessToken, str]:
    """Make a token; the second value is the token itself, which nobody can read again.

    Args:
        owner: for whom it acts.
        name: where it is used.
        scopes: at least one of `allowed_scopes(owner)`.
        days: how long it lasts, 1 to 366.

    Raises:
        PermissionDenied: the owner's role has no such scope.
        Refused: no scope, a time out of range, or too many usable tokens.
    """
    owner = User.objects.select_for_update().get(pk=owner.pk)
    if not owner.is_active or not set(scopes) <= allowed_scopes(owner):
        raise PermissionDenied
    if not scopes:
        raise Refused("", "Choose at least one thing that the token may do.")
    if not 1 <= days <= MAX_DAYS:
        raise Refused("", f"A token lasts 1 to {MAX_DAYS} days.")
    usable = AccessToken.objects.filter(owner=owner, revoked_at=None, expires_at__gt=timezone.now())
    if usable.count() >= MAX_USABLE:
        raise Refused("", f"You have {MAX_USABLE} usable tokens; revoke one first.")
    token, prefix = new_token()
    made = AccessToken.objects.create(
        owner=owner,
        name=name,
        prefix=prefix,
        digest=token_digest(token),
        scopes=sorted(scopes),
        expires_at=timezone.now() + timedelta(days=days),
    )
    record(owner, Action.TOKEN_MADE, owner, token=made, scopes=made.scopes, days=days)
    return made, token


@transaction.atomic
def revoke_token(*, token: AccessToken) -> None:
    """Make a token open nothing from now on; twice is as good as once."""
    n_revoked = AccessToken.objects.filter(pk=token.pk, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if n_revoked:
        record(None, Action.TOKEN_REVOKED, token.owner, token=token)


@transaction.atomic
def end_tokens(*, owner: User, why: str) -> None:
    """Make all tokens of a person open nothing from now on."""
    now = timezone.now()
    usable = AccessToken.objects.filter(owner=owner, revoked_at=None, expires_at__gt=now)
    if n_ended := usable.update(revoked_at=now):
        record(None, Action.TOKEN_REVOKED, owner, n=n_ended, why=why)


def use_token(*, token: str) -> AccessToken:
    """Return the row of a token that is presented now, and note its use to the minute.

    Raises:
        TokenRefusedError: it is unknown, expired or revoked, its owner's account is closed, or
            its owner lacks the second factor that this site demands.
    """
    found = None
    if read_prefix(token) is not None:
        rows = AccessToken.objects.select_related("owner")
        found = rows.filter(digest=token_digest(token)).first()
    if found is None:
        raise TokenRefusedError("invalid_token", "There is no such access token.")
    if not found.owner.is_active:
        raise TokenRefusedError("account_closed", "The account of this access token is closed.")
    if found.revoked_at is not None:
        raise TokenRefusedError("token_revoked", f"The access token {found} was revoked.")
    if found.is_expired:
        raise TokenRefusedError(
            "token_expired", f"The access token {found} expired on {found.expires_at:%Y-%m-%d}."
        )
    if lacks_second_factor(found.owner):
        raise TokenRefusedError("second_factor_required", f"{SECOND_FACTOR} Sign in to set it up.")
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - NOTICED_EVERY)
    AccessToken.objects.filter(stale, pk=found.pk).update(last_used_at=now)
    return found

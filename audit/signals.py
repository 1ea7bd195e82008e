"""Record what Django and allauth do themselves: sign-ins, passwords, second factors."""

from __future__ import annotations

from typing import Any

from allauth.account import signals as account
from allauth.mfa import signals as mfa
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Q
from django.dispatch import receiver
from django.http import HttpRequest

from audit.actions import Action
from audit.context import acting_for, origin_of
from audit.services import record


def _record(request: HttpRequest | None, user: Any, action: Action, **details: Any) -> None:
    """Record an act of `user`, whom the request may not know yet or no longer."""
    if request is None:
        record(user, action, user, **details)
        return
    with acting_for(origin_of(request)):
        record(user, action, user, **details)


@receiver(user_logged_in)
def _signed_in(request: HttpRequest | None, user: Any, **_: Any) -> None:
    _record(request, user, Action.SIGNED_IN)


@receiver(user_logged_out)
def _signed_out(request: HttpRequest | None, user: Any, **_: Any) -> None:
    if user is not None:
        _record(request, user, Action.SIGNED_OUT)


@receiver(user_login_failed)
def _sign_in_failed(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    """Record whose account was tried; what else was typed may be a password in the wrong box."""
    tried = str(credentials.get("username") or credentials.get("email") or "")[:254]
    named = Q(username=tried) | Q(email__iexact=tried)
    user = get_user_model().objects.filter(named).first() if tried else None
    origin = request if request is not None else None
    record(origin, Action.SIGN_IN_FAILED, user)


@receiver([account.password_changed, account.password_reset, account.password_set])
def _password_changed(request: HttpRequest, user: Any, **_: Any) -> None:
    _record(request, user, Action.PASSWORD_CHANGED)


def _second_factor(action: Action) -> Any:
    def recorded(request: HttpRequest, user: Any, authenticator: Any = None, **_: Any) -> None:
        _record(request, user, action, kind=str(getattr(authenticator, "type", "")))

    return recorded


SECOND_FACTOR = {
    mfa.authenticator_added: _second_factor(Action.SECOND_FACTOR_ADDED),
    mfa.authenticator_removed: _second_factor(Action.SECOND_FACTOR_REMOVED),
    mfa.authenticator_reset: _second_factor(Action.SECOND_FACTOR_RESET),
    mfa.authentication_failed: _second_factor(Action.SECOND_FACTOR_FAILED),
}
for _signal, _receiver in SECOND_FACTOR.items():
    _signal.connect(_receiver)

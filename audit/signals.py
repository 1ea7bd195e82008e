"""Record what Django and allauth do themselves: sign-ins, passwords, second factors."""

from __future__ import annotations

from typing import Any

from allauth.account import signals as account
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Q
from django.db.models.signals import post_delete, post_save
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


@receiver(mfa.authentication_failed)
def _second_factor_failed(request: HttpRequest, user: Any, **_: Any) -> None:
    _record(request, user, Action.SECOND_FACTOR_FAILED)


# allauth's own signals come once the transaction is over; these are part of it
@receiver(post_save, sender=Authenticator)
def _second_factor_stored(instance: Authenticator, created: bool, **_: Any) -> None:
    if created:
        is_codes = instance.type == Authenticator.Type.RECOVERY_CODES
        action = Action.RECOVERY_CODES_MADE if is_codes else Action.SECOND_FACTOR_ADDED
        record(None, action, instance.user, kind=instance.type)


@receiver(post_delete, sender=Authenticator)
def _second_factor_removed(instance: Authenticator, **_: Any) -> None:
    if instance.type != Authenticator.Type.RECOVERY_CODES:
        record(None, Action.SECOND_FACTOR_REMOVED, instance.user, kind=instance.type)

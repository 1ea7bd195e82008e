"""Make admins whom nobody invited."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import FirstAdminLink, Role, User
from accounts.tokens.secret import token_digest
from audit.actions import Action
from audit.services import record
from lookalike.core.errors import Refused

LASTS = timedelta(days=1)
GONE = (
    "This link does not work: it was used, it is over a day old, the server was started again "
    "since, or the site has an admin by now."
)


def has_admin() -> bool:
    """Tell whether anybody is an admin, with an open account or a closed one."""
    return User.objects.filter(role=Role.ADMIN).exists()


@transaction.atomic
def make_secret() -> str | None:
    """Return the secret of a new link, which replaces the last; None once there is an admin."""
    if has_admin():
        return None
    secret = secrets.token_urlsafe(32)
    kept = {"digest": token_digest(secret), "expires_at": timezone.now() + LASTS}
    FirstAdminLink.objects.update_or_create(pk=1, defaults=kept)
    return secret


def links_with(secret: str) -> QuerySet[FirstAdminLink]:
    """Return the link with this secret, if it may still be used."""
    links = FirstAdminLink.objects.filter(
        digest=token_digest(secret), expires_at__gt=timezone.now()
    )
    return links.none() if has_admin() else links


@transaction.atomic
def make_first_admin(*, secret: str, username: str, email: str, password: str) -> User:
    """Make the first admin with a link, which is used up by it.

    Raises:
        Refused: the link does not work any more.
    """
    # whoever comes second waits for the row, and finds it gone
    if not links_with(secret).select_for_update().exists():
        raise Refused("", GONE)
    return make_admin(username=username, email=email, password=password, how="the one-time link")


@transaction.atomic
def make_admin(*, username: str, email: str, password: str, how: str) -> User:
    """Make an admin who may make others; no link makes a first one after that."""
    FirstAdminLink.objects.all().delete()
    person = User.objects.create_superuser(username, email, password)
    record(person, Action.PERSON_MADE, person, role=Role.ADMIN, how=how)
    return person

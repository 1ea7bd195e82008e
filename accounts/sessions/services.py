"""End sessions."""

from __future__ import annotations

from allauth.usersessions.models import UserSession

from accounts.models import User


def list_sessions(person: User) -> list[UserSession]:
    """Return the sessions that still let a person in, last seen first."""
    living: list[UserSession] = UserSession.objects.purge_and_list(person)
    return sorted(living, key=lambda session: session.last_seen_at, reverse=True)


def end_sessions(*, person: User) -> None:
    """Sign a person out on every device."""
    for session in UserSession.objects.filter(user=person):
        session.end()

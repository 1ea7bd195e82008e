"""Where somebody is signed in, and how it ends."""

from __future__ import annotations

from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import User


def list_sessions(person: User) -> list[UserSession]:
    """Return the sessions that still let a person in, last seen first; the others are dropped."""
    listed = UserSession.objects.filter(user=person).order_by("-last_seen_at")
    keys = [one.session_key for one in listed]
    stored = Session.objects.filter(expire_date__gt=timezone.now()).in_bulk(keys)
    living = {key for key, session in stored.items() if _lets_in(session, person)}
    if gone := [one.pk for one in listed if one.session_key not in living]:
        UserSession.objects.filter(pk__in=gone).delete()
    return [one for one in listed if one.session_key in living]


def _lets_in(session: Session, person: User) -> bool:
    """Whether a session is that of a person, by the password that they have now."""
    held = session.get_decoded()
    if not person.is_active or held.get(SESSION_KEY) != str(person.pk):
        return False
    hashes = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    return any(constant_time_compare(held.get(HASH_SESSION_KEY, ""), one) for one in hashes)


def end_sessions(*, person: User) -> None:
    """Sign a person out on every device."""
    for session in UserSession.objects.filter(user=person):
        session.end()


def remove_expired_sessions() -> int:
    """Delete sessions that have expired or rested too long, with their devices; return how many."""
    now = timezone.now()
    ended = Session.objects.filter(expire_date__lte=now)
    n_removed, _ = ended.delete()
    if settings.SESSION_IDLE_HOURS:
        earliest = now - timedelta(hours=settings.SESSION_IDLE_HOURS)
        idle = UserSession.objects.filter(last_seen_at__lt=earliest).values("session_key")
        n_idle, _ = Session.objects.filter(session_key__in=idle).delete()
        n_removed += n_idle
    living = Session.objects.filter(session_key=OuterRef("session_key"))
    UserSession.objects.filter(~Exists(living)).delete()
    return n_removed

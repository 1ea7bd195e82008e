"""What pages read about people."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet

from accounts.models import AccessToken, Role, User
from audit.actions import Action
from audit.models import Entry

COMING_AND_GOING = (Action.SIGNED_IN, Action.SIGNED_OUT, Action.SIGN_IN_FAILED)
SHOWN = {"active": Q(is_active=True), "inactive": Q(is_active=False), "all": Q()}


def people_matching(*, words: str = "", role: str = "", shown: str = "active") -> QuerySet[User]:
    """Return people by name, by role and by whether their account is open."""
    found = User.objects.filter(SHOWN.get(shown, Q(is_active=True)))
    if role in Role.values:
        found = found.filter(role=role)
    for word in words.split()[:5]:
        found = found.filter(
            Q(username__icontains=word)
            | Q(first_name__icontains=word)
            | Q(last_name__icontains=word)
            | Q(email__icontains=word)
        )
    return found.order_by("username")


def people_per_role() -> dict[str, int]:
    """Count the open accounts of each role."""
    counted = User.objects.filter(is_active=True).values("role").annotate(n=Count("pk"))
    return dict.fromkeys(Role.values, 0) | {row["role"]: row["n"] for row in counted}


def read_history(person: User) -> QuerySet[Entry]:
    """Return what the audit log has of an account, latest first, but for signing in and out."""
    kind = str(User._meta.verbose_name)
    entries = Entry.objects.filter(subject_kind=kind, subject_id=str(person.pk))
    return entries.exclude(action__in=COMING_AND_GOING)


def list_tokens(person: User) -> QuerySet[AccessToken]:
    """Return a person's access tokens, newest first."""
    return AccessToken.objects.filter(owner=person).select_related("owner").order_by("-id")

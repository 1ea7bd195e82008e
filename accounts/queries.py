"""What pages read about people."""

from __future__ import annotations

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Count, Q, QuerySet

from accounts.models import AccessToken, Role, User

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


def read_history(person: User) -> QuerySet[LogEntry]:
    """Return what was done to an account, latest first."""
    return (
        LogEntry.objects.filter(
            content_type=ContentType.objects.get_for_model(User), object_id=str(person.pk)
        )
        .select_related("user")
        .order_by("-action_time")
    )


def list_tokens(person: User) -> QuerySet[AccessToken]:
    """Return a person's access tokens, newest first."""
    return AccessToken.objects.filter(owner=person).select_related("owner").order_by("-id")

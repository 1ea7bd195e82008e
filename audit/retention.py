"""Forget what was kept for its time: the one way past the trigger that guards the log."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone

from audit.models import Entry

MIN_DAYS = 30  # that entries stay at least; the trigger holds it, too


@transaction.atomic
def blank_addresses(*, days: int) -> int:
    """Take the addresses from entries older than so many days; return from how many.

    Raises:
        ValueError: fewer than one day.
    """
    if days < 1:
        raise ValueError("Addresses are kept for at least a day.")
    _open("lookalike.audit_address_days", days)
    old = Entry.objects.filter(at__lt=_before(days), address__isnull=False)
    n_blanked = old.update(address=None)
    _open("lookalike.audit_address_days", 0)
    return n_blanked


@transaction.atomic
def remove_entries(*, days: int) -> int:
    """Remove entries older than so many days; return how many.

    Raises:
        ValueError: fewer than MIN_DAYS.
    """
    if days < MIN_DAYS:
        raise ValueError(f"Entries are kept for at least {MIN_DAYS} days.")
    _open("lookalike.audit_days", days)
    n_removed, _ = Entry.objects.filter(at__lt=_before(days)).delete()
    _open("lookalike.audit_days", 0)
    return n_removed


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def _open(setting: str, days: int) -> None:
    """Tell the trigger, for this transaction, what may go; 0 shuts it again."""
    with connection.cursor() as cursor:
        cursor.execute("select set_config(%s, %s, true)", [setting, str(days)])

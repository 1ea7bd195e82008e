"""The Celery task that forgets on time."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from audit.retention import blank_addresses, remove_entries


@shared_task(name="audit.forget")
def forget() -> dict[str, int]:
    """Blank old addresses, and remove old entries where the site says how long they stay."""
    done = {"blanked": blank_addresses(days=settings.AUDIT_ADDRESS_DAYS)}
    if settings.AUDIT_DAYS:
        done["removed"] = remove_entries(days=settings.AUDIT_DAYS)
    return done

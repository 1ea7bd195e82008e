"""The Celery task that removes what has expired."""

from __future__ import annotations

from celery import shared_task

from accounts.sessions.services import remove_expired_sessions


@shared_task(name="accounts.remove_expired_sessions")
def remove_sessions() -> dict[str, int]:
    """Remove sessions that let nobody in any more."""
    return {"removed": remove_expired_sessions()}

"""The only writer of the audit log."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models, transaction
from django.http import HttpRequest
from django.utils import timezone

from audit.actions import Action
from audit.context import current_origin, origin_of
from audit.models import Entry

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser

log = logging.getLogger("audit")

HOUR = timedelta(hours=1)
MOST_REFUSALS = 100  # of one person in an hour that are recorded
MAX_TEXT = 500  # characters of a detail


def record(
    source: HttpRequest | AbstractUser | None,
    action: Action,
    subject: models.Model | None = None,
    /,
    **details: Any,
) -> Entry:
    """Write down an act, in the transaction of the act: neither stands without the other.

    Args:
        source: the request, or who acts; None takes whoever the present request or job is for.
        action: what was done.
        subject: to what.
        details: small and without secrets: what it was and what it is now.
    """
    origin = origin_of(source) if isinstance(source, HttpRequest) else current_origin()
    actor = origin.person() if source is None or isinstance(source, HttpRequest) else source
    entry = Entry.objects.create(
        actor_id=None if actor is None else actor.pk,
        actor_name="" if actor is None else actor.get_username(),
        action=action.value,
        subject_kind="" if subject is None else str(subject._meta.verbose_name)[:40],
        subject_id="" if subject is None else str(subject.pk)[:40],
        subject_label="" if subject is None else str(subject)[:200],
        details={name: _small(value) for name, value in details.items()},
        address=origin.address,
        request_id=origin.request_id,
    )
    if settings.AUDIT_LOG:
        transaction.on_commit(lambda: _forward(entry))
    return entry


def _forward(entry: Entry) -> None:
    """Write an entry as one JSON line into the log, from which it can leave the machine."""
    line = {field.attname: getattr(entry, field.attname) for field in Entry._meta.concrete_fields}
    log.info("%s", json.dumps(line, default=str, ensure_ascii=False))


def record_part(
    request: HttpRequest, subject: models.Model | None, /, *, what: str, is_first: bool
) -> None:
    """Write down an export that is read in parts: one line for a whole list.

    A part that is not the first has a line, too, if its reader has none of the last hour: whoever
    begins in the middle leaves a trace.
    """
    if not is_first:
        wanted = Entry.objects.filter(
            action=Action.EXPORTED.value, details__what=what, details__format="json",
            actor_id=request.user.pk, at__gte=timezone.now() - HOUR,
        )  # fmt: skip
        if subject is not None:
            kind = str(subject._meta.verbose_name)[:40]
            wanted = wanted.filter(subject_kind=kind, subject_id=str(subject.pk))
        if wanted.exists():
            return
    record(request, Action.EXPORTED, subject, what=what, format="json")


def record_refusal(request: HttpRequest) -> None:
    """Write down that somebody signed in was refused something, at most `MOST_REFUSALS` an hour."""
    person = getattr(request, "user", None)
    if person is None or not person.is_authenticated:
        return
    recent = Entry.objects.filter(
        actor_id=person.pk, action=Action.ACCESS_REFUSED.value, at__gte=timezone.now() - HOUR
    )
    if recent[:MOST_REFUSALS].count() < MOST_REFUSALS:
        record(request, Action.ACCESS_REFUSED, method=request.method, path=request.path)


def _small(value: Any) -> Any:
    """Return a detail as JSON can hold it, cut where somebody wrote a novel."""
    if isinstance(value, bool | int | float) or value is None:
        return value
    if isinstance(value, dict):
        return {str(key): _small(part) for key, part in list(value.items())[:50]}
    if isinstance(value, list | tuple):
        return [_small(part) for part in value[:50]]
    return str(value).replace("\x00", "")[:MAX_TEXT]

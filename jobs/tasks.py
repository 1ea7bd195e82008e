"""What a worker does at its beginning and end."""

from __future__ import annotations

from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from jobs.work.heartbeat import say_goodbye, start_heartbeat, start_watch

_heartbeats: list[Any] = []


@worker_ready.connect
def begin(sender: Any = None, **_: Any) -> None:
    """Report a device worker alive; have a light worker watch over jobs."""
    if settings.WORKER_NAME:
        _heartbeats.append(start_heartbeat())
    else:
        clock = getattr(getattr(sender, "controller", None), "beat", None)
        start_watch(lambda: clock is None or bool(clock.is_alive()))


@worker_shutting_down.connect
def end(**_: Any) -> None:
    """Report a device worker gone, when it is told to stop."""
    for stop in _heartbeats:
        stop.set()
    if _heartbeats:
        say_goodbye()

"""Celery tasks: look for what is new, and send what waits."""

from celery import shared_task

from notices.services import due_channels, look, send_waiting

HARD_SECONDS = 120  # a name server or a mail server that hangs costs no more


@shared_task(name="notices.look")
def look_and_send() -> int:
    """Write new notices down; hand each channel that has something to send to a worker."""
    n = look()
    for channel_id in due_channels():
        send.delay(channel_id)
    return n


@shared_task(name="notices.send", time_limit=HARD_SECONDS)
def send(channel_id: int) -> int:
    """Send what waits on one channel."""
    return send_waiting(channel_id=channel_id)

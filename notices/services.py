"""Write notices down, and send them; called by the clock, so that nothing waits for either."""

from __future__ import annotations

import json
import secrets
from datetime import timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.db import connection, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from accounts.attention import Attention, Urgency
from accounts.models import Role, User
from audit.actions import Action
from audit.models import Entry
from audit.services import record
from lookalike.core.errors import Refused
from notices.models import (
    FACTOR,
    FIRST_PAUSE,
    MAX_ATTEMPTS,
    Channel,
    ChannelKind,
    Delivery,
    Notice,
    Reading,
)
from notices.sources import every_line
from notices.webhook import WebhookError, check_url, post

MAX_WEBHOOKS = 10
LOCK = 7_201_503
EVENTS = {Action.CAMPAIGN_OPENED: "Opened", Action.CAMPAIGN_CLOSED: "Closed"}
EVENT_AGE = timedelta(hours=1)  # older entries of the audit log are no news
MAX_SUBJECT = 150


@transaction.atomic
def look() -> int:
    """Write a notice for each matter that is new, end those that are over; return how many."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            return 0  # another worker looks just now
    lines = {
        (line.kind, line.title[:200], line.url[:300]): line
        for line in every_line()
        if line.urgency != Urgency.HINT
    }
    standing = {
        (notice.kind, notice.title, notice.path): notice.pk
        for notice in Notice.objects.filter(ended_at=None, entry_id=None)
    }
    over = [pk for matter, pk in standing.items() if matter not in lines]
    Notice.objects.filter(pk__in=over).update(ended_at=timezone.now())
    fresh = [_notice(line) for matter, line in lines.items() if matter not in standing]
    notices = Notice.objects.bulk_create([*fresh, *_events()])
    Delivery.objects.bulk_create(
        Delivery(channel=channel, notice=notice)
        for channel in _channels()
        for notice in notices
        if notice.is_urgent or not channel.only_urgent
    )
    return len(notices)


def _notice(line: Attention) -> Notice:
    return Notice(
        kind=line.kind, title=line.title[:200], text=line.text, path=line.url[:300],
        is_urgent=line.urgency == Urgency.NOW,
    )  # fmt: skip


def _events() -> list[Notice]:
    """Return a notice for each act of the audit log that admins are told of."""
    since = timezone.now() - EVENT_AGE
    told = Notice.objects.filter(entry_id__isnull=False).values("entry_id")
    entries = Entry.objects.filter(action__in=[a.value for a in EVENTS], at__gte=since)
    return [
        Notice(
            kind=EVENTS[Action(entry.action)], title=entry.subject_label[:200],
            path=reverse("annotation:campaigns"),
            text=f"By {entry.actor_name or 'the command line'}.", entry_id=entry.pk,
            ended_at=timezone.now(),
        )
        for entry in entries.exclude(pk__in=told).order_by("pk")
    ]  # fmt: skip


def _channels() -> list[Channel]:
    """Return the channels of people who are still admins."""
    return list(Channel.objects.filter(owner__role=Role.ADMIN, owner__is_active=True))


def due_channels() -> list[int]:
    """Return the channels that have something to send, and whose pause is over."""
    waiting = Delivery.objects.filter(sent_at=None, is_given_up=False)
    due = Channel.objects.filter(
        Q(next_at__lte=timezone.now()), owner__role=Role.ADMIN, owner__is_active=True,
        pk__in=waiting.values("channel"),
    )  # fmt: skip
    return list(due.values_list("pk", flat=True))


def send_waiting(*, channel_id: int) -> int:
    """Send what waits on a channel, in order, until one delivery fails; return how many went.

    A channel that fails is left alone for a pause that grows, whatever else comes to wait on
    it: an endpoint that hangs costs a worker SECONDS once in each pause, and nobody else waits.
    """
    n_sent = 0
    while delivery := _claim(channel_id):
        try:
            outcome = _send(delivery)
        except (WebhookError, OSError) as problem:
            _fail(delivery, str(problem))
            break
        now = timezone.now()
        Delivery.objects.filter(pk=delivery.pk).update(sent_at=now, outcome=outcome)
        Channel.objects.filter(pk=channel_id).update(n_failures=0, next_at=now)
        n_sent += 1
    return n_sent


@transaction.atomic
def _claim(channel_id: int) -> Delivery | None:
    """Take the oldest delivery that waits, and keep other workers off the channel meanwhile."""
    now = timezone.now()
    channel = (
        Channel.objects.select_for_update(skip_locked=True)
        .filter(pk=channel_id, next_at__lte=now)
        .first()
    )
    if channel is None:
        return None
    waiting = Delivery.objects.filter(channel=channel, sent_at=None, is_given_up=False)
    delivery = waiting.select_related("channel__owner", "notice").order_by("pk").first()
    if delivery is not None:
        channel.next_at = now + FIRST_PAUSE  # should this worker be killed, another goes on then
        channel.save(update_fields=["next_at"])
        delivery.n_attempts += 1
        delivery.tried_at = now
        delivery.save(update_fields=["n_attempts", "tried_at"])
    return delivery


def _send(delivery: Delivery) -> str:
    notice, channel = delivery.notice, delivery.channel
    address = settings.PUBLIC_URL.rstrip("/") + notice.path
    if channel.kind == ChannelKind.MAIL:
        if not channel.owner.email:
            raise WebhookError("Your account has no email address.")
        subject = " ".join(f"Lookalike: {notice}".split())[:MAX_SUBJECT]
        send_mail(subject, f"{notice.text}\n\n{address}\n", None, [channel.owner.email])
        return "Accepted by the mail server."
    body = {
        "id": str(notice.uid), "kind": notice.kind, "title": notice.title, "text": notice.text,
        "url": address, "is_urgent": notice.is_urgent, "at": notice.created_at.isoformat(),
    }  # fmt: skip
    status = post(
        channel.url, json.dumps(body, ensure_ascii=False).encode(), secret=channel.secret,
        headers={"Lookalike-Delivery": str(delivery.pk)},
    )  # fmt: skip
    return f"It answered {status}."


@transaction.atomic
def _fail(delivery: Delivery, problem: str) -> None:
    """Note why a delivery failed; after its last attempt, give up all that waits behind it."""
    Delivery.objects.filter(pk=delivery.pk).update(outcome=problem[:300])
    channel = Channel.objects.select_for_update().get(pk=delivery.channel_id)
    channel.n_failures += 1
    channel.next_at = timezone.now() + FIRST_PAUSE * FACTOR ** (channel.n_failures - 1)
    if delivery.n_attempts >= MAX_ATTEMPTS:
        channel.deliveries.filter(sent_at=None).update(is_given_up=True)
        channel.n_failures, channel.next_at = 0, timezone.now()
    channel.save(update_fields=["n_failures", "next_at"])


@transaction.atomic
def add_webhook(*, url: str, only_urgent: bool, by: User) -> Channel:
    """Send notices to an address from now on, signed with a secret of its own.

    Raises:
        Refused: the address may not be used, is there already, or there are MAX_WEBHOOKS.
    """
    check_url(url)
    webhooks = Channel.objects.filter(kind=ChannelKind.WEBHOOK)
    if webhooks.filter(url=url).exists():
        raise Refused("url", "Notices go there already.")
    if webhooks.count() >= MAX_WEBHOOKS:
        raise Refused("url", f"There are {MAX_WEBHOOKS} webhooks, as many as there may be.")
    channel = Channel.objects.create(
        kind=ChannelKind.WEBHOOK, owner=by, url=url, only_urgent=only_urgent,
        secret=secrets.token_urlsafe(32),
    )  # fmt: skip
    record(by, Action.WEBHOOK_ADDED, channel, url=url)
    return channel


@transaction.atomic
def remove_webhook(*, channel: Channel, by: User) -> None:
    """Send nothing more to an address; what waits is dropped."""
    record(by, Action.WEBHOOK_REMOVED, channel, url=channel.url)
    channel.delete()


@transaction.atomic
def choose_mail(*, person: User, choice: str) -> None:
    """Have notices mailed to an admin: "all", "urgent" or "none"."""
    mine = Channel.objects.filter(kind=ChannelKind.MAIL, owner=person)
    if choice == "none":
        mine.delete()
    else:
        Channel.objects.update_or_create(
            kind=ChannelKind.MAIL, owner=person, defaults={"only_urgent": choice == "urgent"}
        )
    record(person, Action.NOTICES_CHOSEN, person, mail=choice)


def mark_seen(*, person: User, last_id: int) -> None:
    """Remember the newest notice that an admin has seen."""
    Reading.objects.update_or_create(person=person, defaults={"last_id": last_id})


def n_unseen(person: User) -> int:
    """Return how many notices came since an admin last looked at them."""
    seen = Reading.objects.filter(person=person).values_list("last_id", flat=True).first()
    return Notice.objects.filter(pk__gt=seen or 0).count()

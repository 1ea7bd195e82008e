"""Notices, the channels that carry them out of the site, and what became of each."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

FIRST_PAUSE = timedelta(seconds=30)
MAX_ATTEMPTS = 7  # the last some eleven hours after the first
FACTOR = 4


class Notice(models.Model):
    """Something that came to need attention, or happened; never changed but for its end."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=60)
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    path = models.CharField(max_length=300, help_text="Where in the site it is looked at.")
    is_urgent = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(
        null=True, blank=True, help_text="When it no longer needed attention."
    )
    entry_id = models.BigIntegerField(
        null=True, blank=True, unique=True, help_text="Of the audit log, if that tells of it."
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "title", "path"],
                condition=models.Q(ended_at=None),
                name="one_open_notice_per_matter",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.title}"


class ChannelKind(models.TextChoices):
    """How notices leave the site."""

    MAIL = "mail", "Mail"
    WEBHOOK = "webhook", "Webhook"


class Channel(models.Model):
    """Where notices go: an admin's own mail, or an address that takes them."""

    kind = models.CharField(max_length=10, choices=ChannelKind)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="channels"
    )
    url = models.CharField(max_length=500, blank=True, help_text="Of a webhook.")
    secret = models.CharField(max_length=100, blank=True, help_text="Signs a webhook's body.")
    only_urgent = models.BooleanField(default=False)
    n_failures = models.PositiveSmallIntegerField(default=0, help_text="In a row.")
    next_at = models.DateTimeField(default=timezone.now, help_text="Nothing is sent before.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner"], condition=models.Q(kind="mail"), name="one_mail_channel_each"
            )
        ]

    def __str__(self) -> str:
        return self.url or "mail"


class Delivery(models.Model):
    """One notice on one channel: waiting, sent, or given up."""

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    created_at = models.DateTimeField(default=timezone.now)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    tried_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    is_given_up = models.BooleanField(default=False)
    outcome = models.CharField(max_length=300, blank=True, help_text="Of the last attempt.")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["channel", "notice"], name="one_delivery_each")
        ]


class Reading(models.Model):
    """The newest notice that an admin has seen."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    last_id = models.BigIntegerField(default=0)

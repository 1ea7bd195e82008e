"""Who did what, when and from where: rows that are only ever added."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from audit.actions import Action


class Entry(models.Model):
    """One act. A trigger refuses to change or remove it; see `audit.retention`."""

    at = models.DateTimeField(default=timezone.now)
    # without a constraint: an account that went takes nothing with it, and changes no row
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    actor_name = models.CharField(
        max_length=150, help_text="As it was then; empty: the program, or a stranger."
    )
    action = models.CharField(max_length=40)
    subject_kind = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=40)
    subject_label = models.CharField(max_length=200)
    details = models.JSONField(default=dict)
    address = models.GenericIPAddressField(null=True)
    request_id = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "entries"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["action", "-id"]),
            models.Index(fields=["actor_name", "-id"]),
            models.Index(fields=["subject_kind", "subject_id", "-id"]),
            models.Index(fields=["at"]),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name}: {self.action} {self.subject_label}"

    @property
    def detail_texts(self) -> list[tuple[str, str]]:
        """The details as a page and the CSV say them."""
        return [
            (
                name.replace("_", " "),
                ", ".join(map(str, value)) if isinstance(value, list) else str(value),
            )
            for name, value in self.details.items()
            if value not in ("", [])
        ]

    @property
    def words(self) -> str:
        """The action as a page says it."""
        return Action(self.action).words if self.action in Action.values else self.action

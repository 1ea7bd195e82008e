"""What judges ask of admins while they judge, and which guidelines they have read."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext

from annotation.models.campaigns import PanelMember
from annotation.models.questions import Question

MAX_COMMENT = 1000  # characters, of a comment and of its reply


class Comment(models.Model):
    """A judge's comment on one question, or a flag without words; an admin may reply.

    `uuid` is made in the browser, like that of an answer. No other judge sees either text, and
    no release holds them.
    """

    uuid = models.UUIDField(unique=True)
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="comments")
    member = models.ForeignKey(PanelMember, on_delete=models.CASCADE, related_name="comments")
    text = models.CharField(max_length=MAX_COMMENT, blank=True, help_text="Empty: a flag.")
    guideline_version = models.PositiveIntegerField(help_text="That the judge had read.")
    made_at = models.DateTimeField(help_text="By the judge's clock, never later than received.")
    received_at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    reply = models.CharField(max_length=MAX_COMMENT, blank=True)
    replied_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    replied_at = models.DateTimeField(null=True, blank=True)
    new_version = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of the guidelines, made with the reply."
    )
    seen_at = models.DateTimeField(null=True, blank=True, help_text="The reply, by the judge.")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["member"],
                condition=models.Q(replied_at=None, withdrawn_at=None),
                name="comment_open",
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(withdrawn_at=None) | models.Q(replied_at=None),
                name="comment_is_withdrawn_or_replied_to",
            )
        ]

    @property
    def words(self) -> str:
        """The comment as a page says it."""
        return self.text or gettext("Flagged without words.")


class GuidelineReading(models.Model):
    """A judge has read one version of the guidelines."""

    member = models.ForeignKey(
        PanelMember, on_delete=models.CASCADE, related_name="readings", db_index=False
    )
    version = models.PositiveIntegerField()
    read_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["member", "version"], name="one_reading_per_version")
        ]

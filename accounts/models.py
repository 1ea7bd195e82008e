"""People and their role."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What somebody does here; each role has its own home page."""

    ANNOTATOR = "annotator", _("Annotator")
    ADMIN = "admin", _("Admin")
    RESEARCHER = "researcher", _("Researcher")


class People(UserManager["User"]):
    """Makes accounts; a superuser is an admin, who would else be shown almost nothing."""

    use_in_migrations = False

    def create_superuser(self, *args: Any, **fields: Any) -> User:
        """Return a new superuser, in the role of an admin unless another is given."""
        return super().create_superuser(*args, **{"role": Role.ADMIN} | fields)


class User(AbstractUser):
    """A person, or a simulated expert of the demo."""

    role = models.CharField(max_length=16, choices=Role, default=Role.ANNOTATOR)
    is_simulated = models.BooleanField(
        default=False, help_text="Answers are made by a program, and are marked so everywhere."
    )
    # as in LANGUAGES; "" until somebody has chosen, then the browser decides
    language = models.CharField(max_length=16, blank=True, default="")

    objects: ClassVar[People] = People()

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="user_role_is_known"
            )
        ]

    @property
    def is_annotator(self) -> bool:
        """Whether this person judges pairs (and so must stay blind)."""
        return self.role == Role.ANNOTATOR

    @property
    def is_admin(self) -> bool:
        """Whether this person configures catalogs, pools and campaigns."""
        return self.role == Role.ADMIN

    @property
    def is_researcher(self) -> bool:
        """Whether this person reads results and downloads labels."""
        return self.role == Role.RESEARCHER


class Scope(models.TextChoices):
    """What a token may be used for; it never allows more than its owner's role does."""

    READ = "read", "Read catalogs, pools, campaigns, runs, results and releases"
    JUDGEMENTS = "judgements:read", "Read single judgements and pooled pairs (admins)"
    REVIEW = "judgements:write", "Exclude judgements from counting and pause judges (admins)"
    RUNS = "runs:write", "Upload runs to be scored"
    CATALOGS = "catalogs:write", "Import pictures and metadata into catalogs (admins)"
    AUDIT = "audit:read", "Read the audit log (admins)"


class AccessToken(models.Model):
    """Lets a program act for a person through the API; only its hash is kept."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens"
    )
    name = models.CharField(max_length=100, help_text="Where it is used.")
    prefix = models.CharField(max_length=8, help_text="By which its owner recognises it.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token.")
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope))
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at <= timezone.now()

    @property
    def is_usable(self) -> bool:
        """Whether it still opens anything."""
        return self.revoked_at is None and not self.is_expired


class FirstAdminLink(models.Model):
    """The one link that makes the first admin of an empty site; only its hash is kept."""

    digest = models.CharField(max_length=64, help_text="SHA-256 of its secret.")
    expires_at = models.DateTimeField()

"""People and their role."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class Role(models.TextChoices):
    """What somebody does here; each role has its own home page."""

    ANNOTATOR = "annotator", "Annotator"
    ADMIN = "admin", "Admin"
    RESEARCHER = "researcher", "Researcher"


class User(AbstractUser):
    """A person, or a simulated expert of the demo."""

    role = models.CharField(max_length=16, choices=Role, default=Role.ANNOTATOR)
    is_simulated = models.BooleanField(
        default=False, help_text="Answers are made by a program, and are marked so everywhere."
    )

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

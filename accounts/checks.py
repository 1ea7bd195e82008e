"""Checks of a site's accounts: whether its database is recent enough, and mails go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def check_upgrade(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Refuse a database to which a replaced migration was never applied.

    Its file is gone, and Django would leave out the whole app without a word.
    """
    if not databases:  # `manage.py migrate` names them
        return []
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    on_disk = loader.disk_migrations
    applied = MigrationRecorder(connection).applied_migrations().keys()
    replaced = [set(migration.replaces) - on_disk.keys() for migration in on_disk.values()]
    missing = sorted(name for names in replaced if names & applied for name in names - applied)
    return [
        Error(
            f"The migration {app}.{name} was never applied, and its file is gone.",
            hint="Migrate with the last checkout that has the file, then with this one.",
            id="accounts.E001",
        )
        for app, name in missing
    ]


def check_mail(**_kwargs: Any) -> list[CheckMessage]:
    """Warn where mails are printed instead of sent."""
    if not settings.EMAIL_BACKEND.endswith(".console.EmailBackend"):
        return []
    return [
        Warning(
            "Mails are printed to the log, not sent: nobody can reset a forgotten password.",
            hint="Set EMAIL_URL, such as submission://user:password@mail.example.org.",
            id="accounts.W001",
        )
    ]

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


def check_newer_schema(
    databases: Sequence[str] | None = None, **_kwargs: Any
) -> list[CheckMessage]:
    """Refuse a database that a newer version of this program has migrated."""
    if not databases:
        return []
    newer = newer_migrations()
    if not newer:
        return []
    return [
        Error(
            f"The database is of a newer version: it has {', '.join(newer[:5])}.",
            hint="Start the newer version, or restore a backup that this version made.",
            id="accounts.E002",
        )
    ]


def newer_migrations() -> list[str]:
    """Return the applied migrations of installed apps that this version does not have."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    known = {*loader.disk_migrations}
    known |= {name for one in loader.disk_migrations.values() for name in one.replaces}
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(
        f"{app}.{name}"
        for app, name in applied
        if app in loader.migrated_apps and (app, name) not in known
    )


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

"""A program does not start on a database that a newer one has migrated."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config.running.tables import make_tables

pytestmark = pytest.mark.django_db


def test_old_code_refuses_a_newer_schema() -> None:
    make_tables()
    MigrationRecorder(connection).record_applied("releases", "0099_from_the_future")
    with pytest.raises(CommandError, match=r"releases\.0099_from_the_future"):
        make_tables()
    with pytest.raises(SystemCheckError, match=r"releases\.0099_from_the_future"):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_migrations_of_apps_that_are_gone_are_no_newer_schema() -> None:
    MigrationRecorder(connection).record_applied("an_old_plugin", "0001_initial")
    make_tables()

"""A data folder made before the migrations were squashed."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


def forget_the_squashed_migrations() -> None:
    """Make this a database that applied only what the squashed migrations replace.

    Those are noted in a new database, too.
    """
    recorder = MigrationRecorder(connection)
    for app, name in MigrationExecutor(connection).loader.replacements:
        recorder.record_unapplied(app, name)


def test_nothing_is_left_to_migrate_and_the_squashed_migrations_are_noted() -> None:
    forget_the_squashed_migrations()
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    call_command("migrate", verbosity=0)
    noted = MigrationRecorder(connection).applied_migrations()
    assert noted.keys() >= MigrationExecutor(connection).loader.replacements.keys()


def test_a_database_that_missed_a_replaced_migration_is_refused_by_name() -> None:
    forget_the_squashed_migrations()
    MigrationRecorder(connection).record_unapplied("releases", "0002_keep_labels_back")
    with pytest.raises(SystemCheckError, match="0002_keep_labels_back was never applied"):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_models_and_migrations_agree() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)

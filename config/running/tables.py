"""Make the tables of a database that has none yet, or not all, as a server's start does."""

from __future__ import annotations

from collections.abc import Sequence

# Commands that need no tables, or deal with them themselves
WITHOUT_TABLES = frozenset(
    {
        *("migrate", "makemigrations", "showmigrations", "sqlmigrate", "squashmigrations"),
        *("optimizemigration", "dbshell", "flush", "sqlflush", "inspectdb", "test", "testserver"),
    }
)
_LOCK = 0x10_0CA1F  # PostgreSQL advisory lock: of two commands that start together, one migrates


def needs_tables(arguments: Sequence[str]) -> bool:
    """Whether a command line of `manage.py` reads or writes tables.

    Call it once Django is set up: it asks the apps for their commands.

    Args:
        arguments: as in `sys.argv`, the program first.
    """
    from django.core.management import get_commands  # noqa: PLC0415  (needs the settings)

    command = arguments[1] if len(arguments) > 1 else "help"
    asks_for_help = {"--help", "-h", "--version"}.intersection(arguments[1:])
    return command in get_commands() and command not in WITHOUT_TABLES and not asks_for_help


def make_tables() -> None:
    """Migrate the database where migrations are missing.

    Raises:
        CommandError: the data folder is of a version that is too old, and says which to use
            first; or of a newer one.
    """
    from django.core.management import CommandError, call_command  # noqa: PLC0415  (needs the apps)
    from django.db import connection  # noqa: PLC0415
    from django.db.migrations.executor import MigrationExecutor  # noqa: PLC0415

    from accounts.checks import newer_migrations  # noqa: PLC0415

    def is_behind() -> bool:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))

    if newer := newer_migrations():
        raise CommandError(
            f"The database is of a newer version: it has {', '.join(newer[:5])}. Start the newer "
            "version, or restore a backup that this version made."
        )
    if not is_behind():
        return
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_lock(%s)", [_LOCK])
    try:
        if is_behind():
            call_command("migrate", verbosity=0, skip_checks=False)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock(%s)", [_LOCK])

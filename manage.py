#!/usr/bin/env python
"""Run a management command, with the embedded services up and the tables made."""

import os
import sys
from contextlib import nullcontext

SERVICES_NOT_NEEDED = {"check", "collectstatic", "diffsettings", "help", "makemessages", "version"}


def main() -> None:
    """Start what the command needs, then hand over to Django."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django  # noqa: PLC0415
    from django.core.management import CommandError, execute_from_command_line  # noqa: PLC0415

    from config import embedded, settings  # noqa: PLC0415
    from config.running.claim import claim  # noqa: PLC0415
    from config.running.tables import make_tables, needs_tables  # noqa: PLC0415

    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    fills_alone = command == "demo"  # a whole data folder, which no server is to share
    with claim(settings.DATA_DIR, "server") if fills_alone else nullcontext():
        if command not in SERVICES_NOT_NEEDED:
            embedded.hold_services(settings.SERVICES)
            django.setup()
            if needs_tables(sys.argv):
                try:
                    make_tables()
                except CommandError as problem:
                    sys.exit(str(problem))
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()

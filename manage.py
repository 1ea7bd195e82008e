#!/usr/bin/env python
"""Run a management command, with the embedded services up while it runs."""

import os
import sys

SERVICES_NOT_NEEDED = {"check", "collectstatic", "diffsettings", "help", "makemessages", "version"}


def main() -> None:
    """Start what the command needs, then hand over to Django."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    from config import embedded, settings  # noqa: PLC0415

    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command not in SERVICES_NOT_NEEDED:
        try:
            embedded.hold_services(settings.SERVICES)
        except embedded.ServiceError as problem:
            sys.exit(str(problem))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()

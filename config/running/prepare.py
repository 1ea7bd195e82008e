"""Make the database and the static files ready, and invite a first admin, as a server's start does.

One process for all three: loading the site takes longer than any of them. It loads the site at
once, and begins when its standard input says so: the database may start meanwhile.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

import django
from django.conf import settings
from django.core.management import CommandError, call_command


def main() -> int:
    """Prepare the site; return the exit status."""
    parser = argparse.ArgumentParser(prog="config.running.prepare", description=__doc__)
    parser.add_argument("--address", required=True, help="of the site, for the first admin's link")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    import_module(settings.ROOT_URLCONF)
    if not sys.stdin.readline():
        return 1  # who started this is gone
    try:
        call_command("migrate", verbosity=0, skip_checks=False)
        # we bring our own htmx
        call_command(
            "collectstatic", interactive=False, ignore_patterns=["django_htmx"], verbosity=0
        )
        call_command("first_admin_link", address=options.address)
    except CommandError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`manage.py prune_audit`: forget now what the site no longer keeps."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from audit.retention import blank_addresses, remove_entries


class Command(BaseCommand):
    help = "Blank old addresses in the audit log; with --days also remove older entries."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--address-days", type=int, default=settings.AUDIT_ADDRESS_DAYS)
        parser.add_argument(
            "--days", type=int, default=settings.AUDIT_DAYS, help="0 removes no entry"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            n_blanked = blank_addresses(days=options["address_days"])
            n_removed = remove_entries(days=options["days"]) if options["days"] else 0
        except ValueError as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{n_blanked:,} addresses blanked, {n_removed:,} entries removed.")

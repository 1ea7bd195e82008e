"""manage.py deposit_release NAME VERSION [--dry-run]"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from lookalike.release.errors import ReleaseError
from releases.publishing.releases import find_release
from releases.publishing.zenodo import check_depositable, deposit, metadata_of
from releases.storage import archive_path


class Command(BaseCommand):
    help = "Deposit a public release at Zenodo; its DOI goes into CITATION.cff (ZENODO_TOKEN)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="short name of the benchmark")
        parser.add_argument("number", metavar="VERSION", help="MAJOR.MINOR.PATCH")
        parser.add_argument("--dry-run", action="store_true", help="say what would be sent")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            release = find_release(options["name"], options["number"])
            if options["dry_run"]:
                check_depositable(release)
                said = json.dumps(metadata_of(release), indent=1, ensure_ascii=False)
                self.stdout.write(f"To {settings.ZENODO_URL}, nothing is sent now:\n{said}")
                size = release.archive_bytes
                self.stdout.write(f"{archive_path(release).name} ({size:,} bytes), CITATION.cff")
                return
            found = deposit(release)
        except ReleaseError as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{found.doi} {found.url}".strip())

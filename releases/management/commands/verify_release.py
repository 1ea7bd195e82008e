"""manage.py verify_release DIR|ZIP"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lookalike.cli.verify import verdict_text
from lookalike.io.errors import InputError
from lookalike.release.signature import read_public_key
from lookalike.release.verify import verify


class Command(BaseCommand):
    help = "Recompute every hash and every number of a release; the same as lookalike verify."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", type=Path, help="folder or zip")
        parser.add_argument("--key", help="public key that it must be signed by")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            key = read_public_key(options["key"]) if options["key"] else None
            verdict = verify(options["release"], key=key)
        except (InputError, OSError) as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(verdict_text(verdict), ending="")
        if not verdict.is_right:
            sys.exit(1)

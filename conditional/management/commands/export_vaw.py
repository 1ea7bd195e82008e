"""`manage.py export_vaw SET FOLDER`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conditional.models import TemplateSet
from conditional.template_sets.vaw import INSTANCES, TYPES, write_facts
from lookalike.core.errors import Refused


class Command(BaseCommand):
    help = (
        "Write the attributes that a set of attribute templates was drawn from in the format of "
        f"VAW: {INSTANCES} and {TYPES}."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("set", help="slug of a set drawn from a catalog's attributes")
        parser.add_argument("folder", type=Path, help="made if it is not there")
        parser.add_argument(
            "--json", action="store_true", help="print the result as one JSON object"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Write the files."""
        template_set = TemplateSet.objects.filter(slug=options["set"]).first()
        if template_set is None:
            raise CommandError(f"there is no set “{options['set']}”.")
        try:
            found = write_facts(template_set=template_set, folder=options["folder"])
        except (Refused, OSError) as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(
            json.dumps(found, ensure_ascii=False)
            if options["json"]
            else f"{found['instances']:,} instances, {found['types']:,} types of attributes"
        )

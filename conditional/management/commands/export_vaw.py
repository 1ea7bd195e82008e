"""`manage.py export_vaw SET FOLDER`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from conditional.management.set_command import row_called
from conditional.models import TemplateSet
from conditional.template_sets.vaw import INSTANCES, TYPES, write_facts
from jobs.work.commands import JobCommand


class Command(JobCommand):
    help = (
        "Write the attributes that a set of attribute templates was drawn from in the format of "
        f"VAW: {INSTANCES} and {TYPES}."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("set", help="slug of a set drawn from a catalog's attributes")
        parser.add_argument("folder", type=Path, help="made if it is not there")

    def handle(self, *_: Any, **options: Any) -> None:
        template_set = row_called(TemplateSet, options["set"])
        result = write_facts(template_set=template_set, folder=options["folder"])
        line = f"{result['instances']:,} instances, {result['types']:,} types of attributes"
        self.report(result, as_json=options["json"], lines=[line])

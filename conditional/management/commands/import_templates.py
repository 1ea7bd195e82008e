"""`manage.py import_templates NAME FILE --catalog SLUG [--format cirr] [--keep-good]`."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from catalog.models import Catalog
from conditional.management.set_command import SetCommand, defect_lines, row_called
from conditional.models import TemplateSet
from conditional.uploads.files import TEMPLATES_TASK, Kind, SetFiles
from conditional.uploads.templates import import_templates
from lookalike.conditional.crops import DILATIONS
from lookalike.conditional.formats.genecis import TASKS
from lookalike.conditional.types import Task

FORMATS = (Kind.GENECIS.value, Kind.CIRR.value)


class Command(SetCommand):
    help = (
        "Import templates of GeneCIS or CIRR over the images of a catalog. Every entry that "
        "cannot go in is listed with its index and the reason."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", help="the set's name")
        parser.add_argument("file", type=Path)
        parser.add_argument("--catalog", required=True, help="slug: where the images are")
        parser.add_argument("--format", choices=FORMATS, default=FORMATS[0])
        parser.add_argument(
            "--task", choices=[task.value for task in TASKS], help="if the file's name is not it"
        )
        parser.add_argument(
            "--split", type=Path, metavar="FILE", help="of CIRR: the images of the split, as JSON"
        )
        parser.add_argument(
            "--crops", choices=DILATIONS, default=DILATIONS[0], help="context around boxes"
        )
        parser.add_argument("--keep-good", action="store_true", help="leave defective entries out")

    def handle(self, *_: Any, **options: Any) -> None:
        files = SetFiles(
            kind=Kind(options["format"]),
            paths=[options["file"]],
            split=options["split"],
            task=Task(options["task"]) if options["task"] else None,
            crops=options["crops"],
            keep_good=options["keep_good"],
        )
        catalog = row_called(Catalog, options["catalog"])
        result = self.make(
            TemplateSet,
            task=TEMPLATES_TASK,
            verb="Import",
            arguments={"catalog": catalog.pk, "name": options["name"], **files.as_arguments()},
            work=partial(import_templates, files),
        )
        lines = [
            f"“{result['set']}”: {result['templates']:,} of {result['n_entries']:,} entries "
            f"({result['task']})",
            *defect_lines(result["defects"]),
        ]
        self.report(result, as_json=options["json"], lines=lines)

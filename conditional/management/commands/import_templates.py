"""`manage.py import_templates NAME FILE --catalog SLUG [--format cirr] [--keep-good]`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.models import Catalog
from conditional.models import TemplateSet
from conditional.stored_sets import digest_of, slug_to_make
from conditional.uploads.template_files import FORMATS, IMPORT_TASK, import_set
from jobs.commands import JobCommand
from lookalike.conditional.crops import DILATIONS
from lookalike.conditional.formats.genecis import TASKS
from lookalike.conditional.types import Task
from lookalike.core.errors import Refused

MAX_SHOWN = 50


class Command(JobCommand):
    help = (
        "Import templates of GeneCIS or CIRR over the images of a catalog. Every entry that "
        "cannot go in is listed with its index and the reason."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
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
        """Read, check and store the file."""
        catalog = Catalog.objects.filter(slug=options["catalog"]).first()
        if catalog is None:
            raise CommandError(f"catalog: there is no catalog “{options['catalog']}”.")
        given = [path for path in (options["file"], options["split"]) if path]
        try:
            arguments = {
                "catalog": catalog.pk,
                "name": options["name"],
                "paths": [str(path.resolve()) for path in given],
                "sha256": digest_of(given),
                **{name: options[name] for name in ("format", "task", "crops", "keep_good")},
            }
            slug = slug_to_make(TemplateSet, options["name"], IMPORT_TASK, arguments)
        except (Refused, OSError) as problem:
            raise CommandError(str(problem)) from problem
        result = self.run_work(
            task=IMPORT_TASK,
            subject=f"template set {slug}",
            title=f"Import “{options['name'][:150]}”",
            arguments=arguments,
            work=lambda progress: import_set(
                catalog=catalog,
                name=options["name"],
                path=options["file"],
                file_format=options["format"],
                task=Task(options["task"]) if options["task"] else None,
                keep_good=options["keep_good"],
                owner=None,
                progress=progress,
                split=options["split"],
                crops=options["crops"],
            ),
        )
        self.report(result, as_json=options["json"], lines=_lines(result))


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [
        f"“{result['set']}”: {result['templates']:,} of {result['n_entries']:,} entries "
        f"({result['task']})"
    ]
    defects = result["defects"]
    lines += [f"  {one['index']}\t{one['code']}\t{one['reason']}" for one in defects[:MAX_SHOWN]]
    if len(defects) > MAX_SHOWN:
        lines.append(f"  and {len(defects) - MAX_SHOWN:,} more; --json lists them all")
    return lines

"""`manage.py import_triplets NAME FILE [FILE …] --catalog SLUG [--scale FILE]`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.models import Catalog
from conditional.models import TripletSet
from conditional.stored_sets import slug_to_make
from conditional.triplets.services import (
    IMPORT_TASK,
    MIN_VOTES,
    TripletFiles,
    import_triplet_set,
)
from jobs.commands import JobCommand
from lookalike.conditional.column_spec import parse_where
from lookalike.core.errors import Refused

MAX_SHOWN = 50


class Command(JobCommand):
    help = "Import answers to “which of two is more like the anchor?” over a catalog's images."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        super().add_arguments(parser)
        parser.add_argument("name", help="the set's name")
        parser.add_argument(
            "files", nargs="+", type=Path, help="one CSV file, or integer files of UT-Zappos"
        )
        parser.add_argument("--catalog", required=True, help="slug: where the images are")
        parser.add_argument("--names", type=Path, help="what integers are positions of")
        parser.add_argument("--scale", type=Path, help="CSV image,value: a known order")
        parser.add_argument(
            "--where",
            action="append",
            default=[],
            metavar="COLUMN=VALUE",
            help="only these rows; may be repeated",
        )
        parser.add_argument("--keep-good", action="store_true", help="leave defective rows out")

    def handle(self, *_: Any, **options: Any) -> None:
        """Read, check and store the files."""
        catalog = Catalog.objects.filter(slug=options["catalog"]).first()
        if catalog is None:
            raise CommandError(f"catalog: there is no catalog “{options['catalog']}”.")
        files = TripletFiles(
            options["files"], options["names"], _where(options["where"]), options["scale"]
        )
        try:
            arguments = {
                "catalog": catalog.pk,
                "name": options["name"],
                "keep_good": options["keep_good"],
                **files.asked(),
            }
            slug = slug_to_make(TripletSet, options["name"], IMPORT_TASK, arguments)
        except (Refused, OSError) as problem:
            raise CommandError(str(problem)) from problem
        result = self.run_work(
            task=IMPORT_TASK,
            subject=f"triplet set {slug}",
            title=f"Import “{options['name'][:150]}”",
            arguments=arguments,
            work=lambda progress: import_triplet_set(
                catalog=catalog,
                name=options["name"],
                files=files,
                keep_good=options["keep_good"],
                owner=None,
                progress=progress,
            ),
        )
        self.report(result, as_json=options["json"], lines=_lines(result))


def _where(texts: list[str]) -> dict[str, str]:
    try:
        return parse_where(texts)
    except ValueError as problem:
        raise CommandError(f"where: {problem}.") from problem


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [
        f"“{result['set']}”: {result['n_triplets']:,} of {result['n_entries']:,} rows, "
        f"{result['n_questions']:,} questions, {result['n_human_ties']:,} undecided",
        f"human ceiling {result['ceiling']:.3f}",
    ]
    if "scale" in result:
        scale = result["scale"]
        often = f"on {scale['n_questions']:,} questions with at least {MIN_VOTES} votes"
        lines.append(f"all votes on the scale {scale['all_votes']['accuracy']:.3f}")
        if scale["n_questions"]:
            single, majority = (scale[name]["accuracy"] for name in ("single_votes", "majority"))
            lines.append(f"single votes {single:.3f}, majority {majority:.3f} {often}")
    defects = result["defects"]
    lines += [f"  {one['index']}\t{one['code']}\t{one['reason']}" for one in defects[:MAX_SHOWN]]
    if len(defects) > MAX_SHOWN:
        lines.append(f"  and {len(defects) - MAX_SHOWN:,} more; --json lists them all")
    return lines

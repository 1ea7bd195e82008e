"""`manage.py import_triplets NAME FILE [FILE …] --catalog SLUG [--scale FILE]`."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.models import Catalog
from conditional.management.set_command import SetCommand, defect_lines, row_called
from conditional.models import TripletSet
from conditional.triplets.services import MIN_VOTES
from conditional.uploads.files import TRIPLETS_TASK, Kind, SetFiles
from conditional.uploads.triplets import import_triplets
from lookalike.conditional.column_spec import parse_where


class Command(SetCommand):
    help = "Import answers to “which of two is more like the anchor?” over a catalog's images."

    def add_arguments(self, parser: ArgumentParser) -> None:
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
        is_csv = [path.suffix.lower() for path in options["files"]] == [".csv"]
        files = SetFiles(
            kind=Kind.TRIPLETS if is_csv else Kind.INTEGERS,
            paths=options["files"],
            names=options["names"],
            scale=options["scale"],
            where=_where(options["where"]),
            keep_good=options["keep_good"],
        )
        catalog = row_called(Catalog, options["catalog"])
        result = self.make(
            TripletSet,
            task=TRIPLETS_TASK,
            verb="Import",
            arguments={"catalog": catalog.pk, "name": options["name"], **files.as_arguments()},
            work=partial(import_triplets, files),
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
    return [*lines, *defect_lines(result["defects"])]

"""`manage.py build_templates NAME --catalog SLUG --task TASK --same COLUMN --ask COLUMN`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.models import Catalog
from conditional.management.set_command import SetCommand, row_called
from conditional.models import TemplateSet
from conditional.template_sets.annotation_files import Annotations, build_file_set
from conditional.template_sets.services import BUILD_TASK, build_set
from lookalike.cli.options import comma_list, seed
from lookalike.conditional.crops import DILATIONS
from lookalike.conditional.recipes import BUILDABLE, Recipe
from lookalike.conditional.types import Task
from lookalike.pooling.query_rule import QueryRuleError, parse_filters

COLUMN_HELP = "NAME [sep=;] [path=/] [unknown=A,B] [text=WORD] [incomplete]; may be repeated"


class Command(SetCommand):
    help = (
        "Draw retrieval templates from a catalog's own attributes, or from a file of VAW or COCO "
        "panoptic over its images, and store them as a set."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", help="the set's name")
        parser.add_argument("--catalog", required=True, help="slug")
        parser.add_argument("--task", required=True, choices=[task.value for task in BUILDABLE])
        parser.add_argument(
            "--same",
            action="append",
            default=[],
            metavar="COLUMN",
            help=f"attribute that makes two images the same kind of thing: {COLUMN_HELP}",
        )
        parser.add_argument(
            "--ask",
            action="append",
            default=[],
            metavar="COLUMN",
            help=f"attribute that conditions are about: {COLUMN_HELP}",
        )
        parser.add_argument("--n", type=int, default=500, help="how many templates at most")
        parser.add_argument("--per-condition", type=int, default=50, help="0 for no cap")
        parser.add_argument("--per-reference", type=int, default=5, help="0 for no cap")
        parser.add_argument("--seed", type=seed, default=0, help="of the draw")
        parser.add_argument(
            "--filter",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="only images with that attribute; may be repeated",
        )
        parser.add_argument("--panoptic", type=Path, metavar="FILE", help="COCO panoptic JSON")
        parser.add_argument(
            "--vaw",
            type=Path,
            nargs="+",
            action="extend",
            default=[],
            metavar="FILE",
            help="instances of VAW, one file or several",
        )
        parser.add_argument(
            "--types",
            nargs="+",
            action="extend",
            default=[],
            metavar="FILE|NAME",
            help="VAW's attribute_types.json, and the attribute types to ask for, as color or "
            "color,material; by default all, but not VAW's catch-all “other”",
        )
        parser.add_argument(
            "--keep-good", action="store_true", help="leave out what a file cannot give"
        )
        parser.add_argument(
            "--crops", choices=DILATIONS, default=DILATIONS[0], help="context around boxes"
        )
        parser.add_argument(
            "--min-categories",
            type=int,
            default=Recipe.min_categories,
            help="of a reference's scene; default: %(default)s",
        )
        parser.add_argument(
            "--min-shared",
            type=int,
            default=Recipe.min_shared,
            help="with the target's scene; default: %(default)s",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        arguments = {
            "catalog": row_called(Catalog, options["catalog"]).pk,
            "name": options["name"],
            "recipe": _recipe(options).as_json(),
        }
        annotations = _annotations(options)
        if annotations is not None:
            arguments |= {"file": annotations.as_json(), "keep_good": options["keep_good"]}
        work = build_set if annotations is None else build_file_set
        result = self.make(
            TemplateSet, task=BUILD_TASK, verb="Build", arguments=arguments, work=work
        )
        self.report(result, as_json=options["json"], lines=_lines(result))


def _annotations(options: dict[str, Any]) -> Annotations | None:
    """Return the files to draw from, if some are named."""
    vaw, panoptic = options["vaw"], options["panoptic"]
    files, _ = _types(options["types"])
    if len(files) > 1:
        raise CommandError(f"types: two files, {files[0]} and {files[1]}; VAW has one.")
    if bool(vaw) != bool(files) or (panoptic and (vaw or options["types"])):
        raise CommandError("Give --vaw with --types attribute_types.json, or --panoptic alone.")
    if vaw:
        return Annotations(tuple(vaw), Path(files[0]))
    if panoptic:
        return Annotations((panoptic,))
    if not options["ask"]:
        raise CommandError("Give --ask with a column, or --vaw or --panoptic with a file.")
    return None


def _types(values: list[str]) -> tuple[list[str], list[str]]:
    """Return the files among the values of --types, and the names of types."""
    files = [value for value in values if value.endswith(".json") or Path(value).is_file()]
    return files, [name for value in values if value not in files for name in comma_list(value)]


def _recipe(options: dict[str, Any]) -> Recipe:
    try:
        filters = parse_filters(options["filter"])
    except QueryRuleError as problem:
        raise CommandError(f"filter: {problem}.") from problem
    return Recipe(
        task=Task(options["task"]),
        same=tuple(options["same"]),
        ask=tuple(options["ask"]),
        n_templates=options["n"],
        per_condition=options["per_condition"] or None,
        per_reference=options["per_reference"] or None,
        seed=options["seed"],
        filters=filters,
        types=tuple(_types(options["types"])[1]),
        min_categories=options["min_categories"],
        min_shared=options["min_shared"],
        crops=options["crops"],
    )


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [
        f"“{result['set']}”: {result['templates']:,} templates ({result['task']}) "
        f"from {result['n_images']:,} images",
        f"{result['n_tried']:,} references tried",
    ]
    lines += [f"  {n:,} × {why}" for why, n in result["rejected"].items()]
    lines += [f"  {n:,} images left out: {why}" for why, n in result["left_out"].items()]
    return lines

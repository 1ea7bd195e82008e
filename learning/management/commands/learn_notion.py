"""`manage.py learn_notion SPACE NAME --words red,blue,...`."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from jobs.job_task import serve
from jobs.work.commands import JobCommand
from learning.notions.recipes import (
    DIM,
    METHODS,
    TEMPLATE,
    NotionRecipe,
    parse_words,
    recipe_of_column,
)
from learning.notions.services import notion_job
from learning.text_spaces.queries import space_by_slug
from lookalike.cli.options import seed
from lookalike.core.errors import Refused


class Command(JobCommand):
    help = "Say in words what similar shall mean, as a model for pools: learned:SPACE#NAME."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("space", help="the text space's short name")
        parser.add_argument("name", help="of the notion")
        group = parser.add_mutually_exclusive_group(required=True)
        group.add_argument("--words", help="what differs, with commas between them")
        group.add_argument("--prompts", type=Path, metavar="FILE", help="whole sentences, by line")
        group.add_argument("--column", metavar="NAME", help="an attribute: its values differ")
        parser.add_argument(
            "--template", help=f"what a word goes into; default: {TEMPLATE}, or a column's caption"
        )
        parser.add_argument("--method", choices=METHODS, default="indirect")
        parser.add_argument("--dim", type=int, default=DIM, help="directions; default: %(default)s")
        parser.add_argument("--seed", type=seed, default=0)

    def handle(self, *_: Any, **options: Any) -> None:
        space = space_by_slug(options["space"])
        how = {name: options[name] for name in ("method", "dim", "seed")}
        if options["column"]:
            recipe = recipe_of_column(space, options["column"], **how)
            recipe = replace(recipe, template=options["template"] or recipe.template)
        else:
            template = "" if options["prompts"] else options["template"] or TEMPLATE
            words = _words(options["words"], options["prompts"])
            recipe = NotionRecipe(words=words, template=template, **how)
        job = notion_job(space=space, name=options["name"], recipe=recipe)
        work = partial(serve, "learning.notions.fit.learn_notion")
        result = self.run_work(**job, work=work)
        lines = [f"{result['model']}: {result['dim']} numbers, from {len(recipe.words)} prompts"]
        self.report(result, as_json=options["json"], lines=lines)


def _words(words: str | None, path: Path | None) -> tuple[str, ...]:
    if path is None:
        return parse_words(words or "")
    try:
        return parse_words(path.read_text(encoding="utf-8-sig"), are_prompts=True)
    except UnicodeDecodeError as problem:
        raise Refused("prompts", f"{path} is not UTF-8.") from problem

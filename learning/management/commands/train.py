"""`manage.py train RECIPE.toml [--resume]`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils.text import slugify

from catalog.models import Projection
from learning.models import TrainingRun
from lookalike.cli.recipe_file import read_recipe, words_of
from lookalike.core.did_you_mean import did_you_mean
from lookalike.core.errors import Refused

POSITIONAL = {
    "embedding": ("catalog", "name"),
    "combiner": ("catalog", "name"),
    "text-space": ("catalog",),
    "notion": ("space", "name"),
}


class Command(BaseCommand):
    help = (
        "Do what a recipe says, a TOML file: its `learn` is embedding, combiner, text-space or "
        "notion, and all else is a word or option of manage.py learn_embedding, learn_combiner, "
        "learn_text_space or learn_notion. A name that is taken is refused, unless --resume goes "
        "on with the run of that name."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe", type=Path, metavar="RECIPE", help=".toml")
        parser.add_argument("--resume", action="store_true", help="go on with the run of its name")
        parser.add_argument(
            "--json", action="store_true", help="print the result as one JSON object"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            recipe = read_recipe(options["recipe"])
            learn = str(recipe.pop("learn", ""))
            if learn not in POSITIONAL:
                hint = did_you_mean(learn, [*POSITIONAL])
                raise Refused("learn", f"{learn!r} trains nothing. {hint}")
            positional = POSITIONAL[learn]
            if absent := [name for name in positional if name not in recipe]:
                raise Refused("recipe", f"says no {absent[0]}")
            if not options["resume"]:
                _refuse_if_taken(learn, recipe)
            words = [*words_of(recipe, positional)]
        except (Refused, OSError) as problem:
            raise CommandError(str(problem)) from problem
        command = f"learn_{learn.replace('-', '_')}"
        json = ["--json"] * options["json"]
        call_command(command, *json, *words, stdout=self.stdout, stderr=self.stderr)


def _refuse_if_taken(learn: str, recipe: Mapping[str, Any]) -> None:
    """Raise Refused if there is a run, or a model, of the name that a recipe says."""
    name = str(recipe.get("name") or recipe["catalog"])
    slug, head = (str(recipe["space"]), slugify(name)) if learn == "notion" else (slugify(name), "")
    taken = Projection.objects.filter(slug=slug, head=head).exists()
    if taken or (not head and TrainingRun.objects.filter(slug=slug).exists()):
        raise Refused("name", f"there is a run of “{name}”; --resume goes on with it.")

"""`lookalike train`: what a recipe says, begun or gone on with."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, cast

from lookalike.cli.inputs import Inputs
from lookalike.cli.output import Report
from lookalike.cli.recipe_file import read_recipe, words_of
from lookalike.core.did_you_mean import did_you_mean
from lookalike.core.errors import Refused
from lookalike.learning.engine.loop import CHECKPOINT
from lookalike.learning.engine.processes import is_first, together

DESCRIPTION = (
    "Do what a recipe says, a TOML file: its `learn` names a sub-command of lookalike learn "
    "(combiner, embedding, network or text-space), `vectors` the file of vectors, and all else is "
    "an option of that sub-command. Paths start from the folder in which one is. A folder that "
    "holds a run is refused, unless --resume goes on with it. Under torchrun, processes share the "
    "batches of an embedding or a network. Needs the extra `models`."
)
EXAMPLE = "lookalike train own.toml --resume"
FOLDERS = {  # where each keeps a run
    "combiner": "run", "embedding": "run", "network": "run", "text-space": "space",
}  # fmt: skip


class RecipeParser(argparse.ArgumentParser):
    """A parser of options that a recipe gives."""

    def error(self, message: str) -> NoReturn:
        """Refuse the recipe."""
        raise Refused("recipe", message)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("recipe", type="input", metavar="RECIPE", help=".toml")
    parser.add_argument("--resume", action="store_true", help="go on with the run in its folder")


def run(arguments: argparse.Namespace) -> Report:
    """Do what the recipe says, or go on with it.

    Raises:
        InputError, Refused: a recipe that cannot be followed, or a folder that holds a run.
        OSError: a file cannot be read or written.
    """
    recipe = read_recipe(arguments.recipe)
    name = str(recipe.pop("learn", ""))
    if name not in FOLDERS:
        raise Refused("learn", f"{name!r} trains nothing. {did_you_mean(name, [*FOLDERS])}")
    command: Any = import_module(f"lookalike.cli.learn.{name.replace('-', '_')}")
    parser = RecipeParser(add_help=False, allow_abbrev=False)
    with Inputs() as inputs:
        parser.register("type", "input", inputs.path)
        command.add_options(parser)
        options = parser.parse_args([*words_of(recipe)])
        folder = recipe.get(FOLDERS[name])
        if folder and not arguments.resume and Path(folder, CHECKPOINT).exists():
            raise Refused(FOLDERS[name], f"{folder} holds a run; --resume goes on with it")
        with together():
            report = cast("Report", command.run(options))
            if is_first():
                return report
    arguments.json, arguments.out = False, None
    return Report(report.title, "", None)  # the first process speaks for all

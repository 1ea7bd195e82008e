"""Options that a `lookalike` command and a `manage.py` command both declare are the same.

A command of the site has the name of the library's command (`learn notion`: `learn_notion`,
`conditional score-triplets`: `score_triplets`) or is named in `OTHER_NAMES`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.forms import Form

from conditional.template_sets.forms import BuildForm, SuggestForm
from learning.combiners.recipes import CatalogCombiner
from learning.embeddings.recipes import CatalogEmbedding
from learning.notions.forms import NotionForm
from learning.notions.recipes import NotionRecipe
from learning.runs.forms import CombinerForm, EmbeddingForm, SpaceForm
from learning.text_spaces.recipes import SpaceRecipe
from lookalike.cli.main import COMMANDS, GROUPS
from lookalike.conditional.builders.objects import SceneRules
from lookalike.conditional.recipes import Recipe
from lookalike.conditional.suggestions import SuggestRecipe
from lookalike.conditional.types import Task
from tests.paths import ROOT

OTHER_NAMES = {
    "conditional alignment": "score_alignment",
    "classes": "score_classes",
    "verify": "verify_release",
}
# A path and a short name are both text: vectors are a file here and a stored set there.
TEXTS = (None, str, "input", Path)
DIFFER_ON_PURPOSE = {
    # A catalog's captions are few and short; trained as the table composition-drawn is.
    ("learn combiner", "--epochs", "default"),
}

Options = Mapping[str, argparse.Action]


def modules() -> Iterator[tuple[str, str]]:
    """Yield each library command with its module."""
    for name in COMMANDS:
        for word in GROUPS.get(name, ("",)):
            path = f"{name}.{word}" if word else name
            yield f"{name} {word}".strip(), f"lookalike.cli.{path.replace('-', '_')}"


def library_options(module: str) -> Options:
    parser = argparse.ArgumentParser()
    parser.register("type", "input", str)
    import_module(module).add_options(parser)
    return options_of(parser)


def site_commands() -> dict[str, str]:
    """Return our own management commands with their apps."""
    return {
        name: app
        for name, app in get_commands().items()
        if (ROOT / app / "management" / "commands" / f"{name}.py").is_file()
    }


def options_of(parser: argparse.ArgumentParser) -> Options:
    named = [action for action in parser._actions if action.option_strings]
    actions = [action for action in named if action.help != argparse.SUPPRESS]  # old names
    return {action.option_strings[0]: action for action in actions}


def pairs() -> Iterator[tuple[str, str, str]]:
    """Yield library command, its module and the site's command of the same work."""
    own = site_commands()
    for name, module in modules():
        words = name.replace("-", "_").split()
        for other in {OTHER_NAMES.get(name, ""), "_".join(words), words[-1]} & set(own):
            yield name, module, other


def declared(action: argparse.Action) -> dict[str, Any]:
    """Return what two declarations of one option must agree on."""
    kind: Callable[[str], Any] | str | None = action.type
    choices = {choice for choice in action.choices or () if choice}
    return {
        "action": type(action).__name__,
        "default": action.default,
        "type": "text" if kind in TEXTS else kind,
        "choices": choices,
        "nargs": action.nargs,
        "const": action.const,
        "dest": action.dest,
    }


@pytest.mark.parametrize(("name", "module", "other"), [*pairs()])
def test_options_of_a_command_are_those_of_the_sites_command(
    name: str, module: str, other: str
) -> None:
    ours = library_options(module)
    command = load_command_class(site_commands()[other], other)
    theirs = options_of(command.create_parser("manage.py", other))
    differences = [
        (option, what, value, declared(theirs[option])[what])
        for option in sorted(set(ours) & set(theirs) - {"--help", "--version", "-h"})
        for what, value in declared(ours[option]).items()
        if value != declared(theirs[option])[what] and (name, option, what) not in DIFFER_ON_PURPOSE
    ]
    assert differences == []


def test_the_doors_that_are_compared_are_those_of_the_same_work() -> None:
    found = {(name, other) for name, _, other in pairs()}
    assert {
        ("learn score-notions", "score_notions"),
        ("learn notion", "learn_notion"),
        ("learn embedding", "learn_embedding"),
        ("learn combiner", "learn_combiner"),
        ("learn text-space", "learn_text_space"),
        ("conditional score-triplets", "score_triplets"),
        *OTHER_NAMES.items(),
    } <= found


RECIPES: list[tuple[str, type, Callable[[], Form]]] = [
    ("build_templates", Recipe, BuildForm),
    ("suggest_triplets", SuggestRecipe, partial(SuggestForm, sources=[])),
    ("learn_combiner", CatalogCombiner, CombinerForm),
    ("learn_embedding", CatalogEmbedding, EmbeddingForm),
    ("learn_notion", NotionRecipe, NotionForm),
    ("learn_text_space", SpaceRecipe, SpaceForm),
]


def test_scenes_have_one_rule_in_library_recipe_command_and_page() -> None:
    rules = SceneRules()
    assert (rules.min_categories, rules.min_shared) == (8, 6)
    recipe = Recipe(Task.FOCUS_OBJECT, (), ())
    assert recipe.scene_rules == rules
    fields_of_page = BuildForm().fields
    for name in ("min_categories", "min_shared"):
        assert fields_of_page[name].initial == getattr(rules, name)


@pytest.mark.parametrize(("command", "recipe", "form"), RECIPES)
def test_a_command_a_page_and_a_recipe_have_the_same_defaults(
    command: str, recipe: type, form: Callable[[], Form]
) -> None:
    of_recipe = {
        one.name: one.default
        for one in fields(recipe)
        if one.default is not MISSING and isinstance(one.default, int | float | str)
    }
    made = load_command_class(site_commands()[command], command)
    actions = made.create_parser("manage.py", command)._actions
    of_command = {
        action.dest: action.default
        for action in actions
        if action.dest in of_recipe and action.default is not None
    }
    of_page = {
        name: field.initial
        for name, field in form().fields.items()
        if name in of_recipe and field.initial is not None
    }
    assert of_command == {name: of_recipe[name] for name in of_command}
    assert of_page == {name: of_recipe[name] for name in of_page}
    assert of_command

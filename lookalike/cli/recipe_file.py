"""A recipe for training: a TOML file whose entries are the options of a command."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.core.errors import Refused

REPEATED = ("caption", "triplets", "vectors", "ids")  # given once for each value of a list


def read_recipe(path: Path) -> dict[str, Any]:
    """Return what a recipe says.

    Raises:
        Refused: it is no TOML.
        OSError: it cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:  # that of tomllib, and of bytes that are no text
        raise Refused("recipe", f"{path.name}: {problem}") from problem


def words_of(recipe: Mapping[str, Any], positional: Sequence[str] = ()) -> Iterator[str]:
    """Yield a recipe's entries as the words of a command.

    >>> recipe = {"vectors": "v.npz", "columns": ["colour", "cut"], "seed": 3, "changes-only": True}
    >>> [*words_of(recipe)]
    ['--vectors=v.npz', '--columns=colour,cut', '--seed=3', '--changes-only']

    Args:
        recipe: the entries.
        positional: those that are no options, in their order.

    Raises:
        Refused: a table among them.
    """
    for name, value in recipe.items():
        if isinstance(value, dict):
            raise Refused("recipe", f"{name} is a table, but an option has a value")
        option = f"--{name.replace('_', '-')}"
        if name in positional or value is False:
            continue
        if value is True:
            yield option
            continue
        values = value if isinstance(value, list) else [value]
        if name not in REPEATED:
            values = [",".join(map(str, values))]
        yield from (f"{option}={one}" for one in values)
    if words := [str(recipe[name]) for name in positional if name in recipe]:
        yield from ("--", *words)

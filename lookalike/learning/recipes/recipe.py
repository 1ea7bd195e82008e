"""A recipe: what a published table was made from, how, and what it says.

Recipes are the TOML files of `tables/`. All that every recipe says is read here; what is in
`settings` belongs to the kind of table and is read by its runner (`runners.py`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from lookalike.core.did_you_mean import did_you_mean
from lookalike.core.errors import Refused

TABLES = Path(__file__).parent / "tables"
_KEYS = {"title", "source", "kind", "unit", "tolerance", "judged", "notes", "needs", "settings",
         "targets"}  # fmt: skip


@dataclass(frozen=True)
class Published:
    """A number of a table: mean and population standard deviation, 0 where none is printed."""

    mean: float
    std: float = 0.0


@dataclass(frozen=True)
class Need:
    """Something that has to lie in the data folder.

    Attributes:
        path: below the folder, * for any name; several where one of them is enough.
        what: what it is and where it comes from.
        rows: the rows of the table that need it; all if empty.
    """

    path: tuple[str, ...]
    what: str
    rows: tuple[str, ...] = ()

    def is_in(self, folder: Path) -> bool:
        """Whether it is there, in the folder or in one below."""
        return any(
            PurePosixPath(found, name).match(path)
            for found, _, names in os.walk(folder)
            for path in self.path
            for name in names
        )

    @property
    def shown(self) -> str:
        """Its name for people."""
        return " or ".join(self.path)


@dataclass(frozen=True)
class Recipe:
    """How a published table is made again.

    Attributes:
        name: of its file.
        title: what the table shows.
        source: paper and table.
        kind: names its runner.
        unit: of the numbers.
        tolerance: how far a number may be off, beside twice its published deviation.
        judged: methods whose numbers count; the others are only shown. All if empty.
        notes: what is known to differ from the paper, or from its code.
        needs: what must be in the data folder.
        settings: for the runner.
        targets: by row, method and measure.
    """

    name: str
    title: str
    source: str
    kind: str
    unit: str
    tolerance: float
    needs: tuple[Need, ...]
    settings: Mapping[str, Any]
    targets: Mapping[str, Mapping[str, Mapping[str, Published]]]
    judged: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def rows(self) -> list[str]:
        """The rows of the table."""
        return list(self.targets)

    def missing(self, folder: Path, rows: Sequence[str] = ()) -> list[Need]:
        """Return what is needed and not in a folder.

        Args:
            folder: of the data.
            rows: that are wanted; all if empty.
        """
        wanted = set(rows or self.rows)
        return [
            need
            for need in self.needs
            if (not need.rows or wanted & set(need.rows)) and not need.is_in(folder)
        ]


def recipe_names() -> list[str]:
    """Return the names of all recipes.

    >>> "indirect-cub200" in recipe_names()
    True
    """
    return sorted(path.stem for path in TABLES.glob("*.toml"))


def load_recipe(name: str) -> Recipe:
    """Return a recipe.

    Raises:
        Refused: there is none of that name.
    """
    names = recipe_names()
    if name not in names:
        raise Refused("table", f"there is no {name!r}. {did_you_mean(name, names)}")
    return read_recipe(TABLES / f"{name}.toml")


def read_recipe(path: Path) -> Recipe:
    """Return the recipe of a file.

    Raises:
        Refused: it is no TOML, or no recipe.
        OSError: it cannot be read.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
        if unknown := sorted(set(said) - _KEYS):
            raise ValueError(f"{unknown[0]} is not known; a recipe has {', '.join(sorted(_KEYS))}")
        return Recipe(
            name=path.stem,
            title=said["title"],
            source=said["source"],
            kind=said["kind"],
            unit=said.get("unit", "percent"),
            tolerance=float(said["tolerance"]),
            judged=tuple(said.get("judged", ())),
            notes=tuple(said.get("notes", ())),
            needs=tuple(_need(need) for need in said["needs"]),
            settings=said.get("settings", {}),
            targets={
                row: {method: _numbers(of) for method, of in methods.items()}
                for row, methods in said["targets"].items()
            },
        )
    except KeyError as problem:
        raise Refused("recipe", f"{path.name} does not say its {problem.args[0]}") from problem
    except (ValueError, TypeError, AttributeError) as problem:  # tomllib's error is the first
        raise Refused("recipe", f"{path.name}: {problem}") from problem


def _need(said: Mapping[str, Any]) -> Need:
    path = said["path"]
    paths = (path,) if isinstance(path, str) else tuple(path)
    return Need(paths, said["what"], tuple(said.get("rows", ())))


def _numbers(said: Mapping[str, Any]) -> dict[str, Published]:
    return {
        measure: Published(*map(float, number if isinstance(number, list) else [number]))
        for measure, number in said.items()
    }

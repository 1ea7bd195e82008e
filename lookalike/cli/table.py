"""`lookalike table`: a published table, made again from its own data."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.cli.options import comma_list, numbers, seed
from lookalike.cli.output import WANTING, Report
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.learning.recipes.recipe import Published, Recipe, load_recipe, recipe_names
from lookalike.learning.recipes.runners import Compared, Run, make_table
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Make a published table again from the data set that its authors publish, and say of each "
    "number whether it is as published. Without a name, list the tables and what each needs; with "
    "--data, what of it is missing there. The exit status is 1 where a number differs. Nothing is "
    "downloaded. Needs the extra `models`."
)
EXAMPLE = "lookalike table indirect-cub200 --data CUB_200_2011/"
HEADER = ("row", "method", "measure", "found", "published", "difference", "")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"of {', '.join(recipe_names())}")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the data set lies")
    parser.add_argument(
        "--only", type=comma_list, default=[], metavar="ROWS", help="these rows of the table"
    )
    parser.add_argument(
        "--methods", type=comma_list, default=[], metavar="NAMES", help="these of its methods"
    )
    parser.add_argument(
        "--model", metavar="SPEC", help="in place of the paper's; then no number is judged"
    )
    parser.add_argument(
        "--space", type=Path, metavar="FOLDER", help="a text space in place of a model"
    )
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE", help="of the images, made before by `embed`"
    )
    parser.add_argument("--repetitions", type=int, metavar="N", help="default: the paper's")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--conditions", type=numbers, default=[], metavar="NUMBERS",
        help="how many are guessed, where triplets do not say theirs: 2,4,8; default: as many as "
        "there are",
    )  # fmt: skip
    parser.add_argument("--device", metavar="NAME", help="default: the GPU if there is one")


def run(arguments: argparse.Namespace) -> Report:
    """Make a table, or list them.

    Raises:
        InputError, Refused: data that is missing or cannot be used.
    """
    if arguments.name is None:
        return _listing(arguments.data)
    recipe = load_recipe(arguments.name)
    if arguments.data is None:
        needs = "; ".join(f"{need.shown} ({need.what})" for need in recipe.needs)
        raise Refused("data", f"--data FOLDER must hold {needs}")
    if arguments.repetitions is not None and arguments.repetitions < 1:
        raise InputError("--repetitions is a whole number from 1")
    if arguments.model and arguments.space:
        raise InputError("--model and --space exclude each other")
    found, notes = make_table(
        recipe,
        Run(
            arguments.data, tuple(arguments.only), tuple(arguments.methods), arguments.model,
            arguments.space, arguments.vectors, arguments.repetitions, arguments.seed,
            arguments.device, tuple(arguments.conditions),
        ),
    )  # fmt: skip
    return _report(recipe, found, notes)


def _report(recipe: Recipe, found: list[Compared], notes: list[str]) -> Report:
    rows = [
        (one.row, one.method, one.measure, _shown(one.found), _shown(one.published),
         _difference(one), one.verdict)
        for one in found
    ]  # fmt: skip
    n_judged = sum(one.verdict != "shown" for one in found)
    n_off = sum(one.verdict == "differs" for one in found)
    said = f"{n_judged - n_off:,} of {n_judged:,} numbers are as published"
    if not n_judged:
        said = "no number is judged"
    said += f" (within {recipe.tolerance:g} {recipe.unit} and two published deviations)"
    title = f"{recipe.title}: {recipe.source}"
    return Report(
        title=title,
        text="\n".join([title, *table([HEADER, *rows]), said, ""]),
        data={"table": recipe.name, "n_judged": n_judged, "n_off": n_off,
              "numbers": as_json(found)},
        table=Table(HEADER, rows),
        status=WANTING if n_off else 0,
        notes=notes,
    )  # fmt: skip


def _listing(folder: Path | None) -> Report:
    lines, rows = [], []
    for name in recipe_names():
        recipe = load_recipe(name)
        missing = recipe.missing(folder) if folder else recipe.needs
        needs = ", ".join(need.shown for need in missing) or "nothing"
        lines += [f"{name}", f"  {recipe.title}: {recipe.source}",
                  f"  {'missing' if folder else 'needs'}: {needs}"]  # fmt: skip
        rows.append((name, recipe.title, recipe.source, needs))
    header = ("table", "title", "source", "missing" if folder else "needs")
    return Report(
        title="Published tables",
        text="\n".join([*lines, ""]),
        data=[dict(zip(header, row, strict=True)) for row in rows],
        table=Table(header, rows),
    )


def _shown(number: Published | None) -> str:
    if number is None:
        return ""
    mean = TEXT.number(number.mean, 1)
    return mean if number.std < 0.05 else f"{mean} ± {number.std:.1f}"


def _difference(one: Compared) -> str:
    if one.found is None or one.published is None:
        return ""
    return f"{one.found.mean - one.published.mean:+.1f}"

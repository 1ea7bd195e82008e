"""`manage.py learn_text_space CATALOG`."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from typing import Any

from jobs.job_task import serve
from jobs.work.commands import JobCommand
from learning.runs.families import LEARN
from learning.runs.recipes import PARENT
from learning.runs.services import run_as_asked, run_job
from learning.text_spaces.recipes import SpaceRecipe
from lookalike.cli.options import captions, comma_list, seed
from pooling.new_pool.parsing import catalog_by_slug


class Command(JobCommand):
    help = (
        "Make a space of a catalog's pictures and of texts: learned from captions of its "
        "attributes, or of an open_clip model as it is. The same command goes on where it was "
        "stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("catalog", help="its short name")
        parser.add_argument("--name", help="of the space; by default the catalog's")
        parser.add_argument(
            "--model", default=PARENT, metavar="SPEC",
            help="backbone of the pictures; an open_clip model needs no learning. "
            "Default: %(default)s",
        )  # fmt: skip
        parser.add_argument(
            "--columns", type=comma_list, default=[], metavar="NAMES",
            help="attributes to make captions of; all with 2 to 200 values if it is not given",
        )  # fmt: skip
        parser.add_argument(
            "--caption", type=captions, action="append", default=[], metavar="COLUMN=TEXT",
            help="what captions of an attribute say, {} for its value; may be repeated",
        )  # fmt: skip
        parser.add_argument("--epochs", type=int, default=40)
        parser.add_argument("--seed", type=seed, default=0)

    def handle(self, *_: Any, **options: Any) -> None:
        catalog = catalog_by_slug(options["catalog"], "catalog")
        recipe = SpaceRecipe(
            parent=options["model"], columns=tuple(options["columns"]),
            captions=dict(options["caption"]), epochs=options["epochs"], seed=options["seed"],
        )  # fmt: skip
        run = run_as_asked(catalog=catalog, name=options["name"] or catalog.slug, recipe=recipe)
        result = self.run_work(**run_job(run), work=partial(serve, LEARN))
        self.report(result, as_json=options["json"], lines=_lines(result))


def _lines(result: dict[str, Any]) -> list[str]:
    """Return a line for each attribute, with the share that guessing would get."""
    lines = [
        f"{result['model']}: learned from {result['n_seen']:,} images, asked about "
        f"{result['n_held_out']:,} others"
    ]
    return lines + [
        f"  {row['column']}: {row['accuracy']:.1%} of {row['n_images']:,} right by the nearest of "
        f"{row['n_values']:,} captions; the most common value would be for {row['majority']:.1%}"
        + ("" if row["was_captioned"] else " (no caption of it was learned)")
        for row in result["attributes"]
    ]

"""`manage.py learn_combiner CATALOG NAME --space SPACE --subject category --columns colour`."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from typing import Any

from jobs.job_task import serve
from jobs.work.commands import JobCommand
from learning.combiners.recipes import CatalogCombiner
from learning.runs.families import LEARN
from learning.runs.services import run_as_asked, run_job
from lookalike.cli.options import comma_list, seed
from lookalike.learning.compose.recipe import CombinerRecipe
from pooling.new_pool.parsing import catalog_by_slug


class Command(JobCommand):
    help = (
        "Learn a Combiner in a text space, from captions made of a catalog's attributes: from a "
        "picture and a condition to what is looked for. It answers templates as composer:NAME; "
        "what it looks for under “of the same COLUMN” is a model for pools, learned:NAME#COLUMN. "
        "The same command goes on where it was stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("catalog", help="its short name")
        parser.add_argument("name", help="of the Combiner")
        parser.add_argument("--space", required=True, help="the text space's short name")
        parser.add_argument(
            "--subject", required=True, metavar="COLUMN", help="says what an image shows"
        )
        parser.add_argument(
            "--columns", type=comma_list, required=True, metavar="NAMES",
            help="attributes that can be kept or changed",
        )  # fmt: skip
        parser.add_argument(
            "--changes-only", dest="same_values", action="store_false",
            help="leave “of the same …” out, as in the paper",
        )  # fmt: skip
        parser.add_argument(
            "--n-triplets",
            "--triplets",  # earlier spelling; of `lookalike learn combiner` it is a file
            type=int,
            default=CombinerRecipe.n_triplets,
            metavar="N",
            help="default: %(default)s",
        )
        parser.add_argument(
            "--epochs",
            type=int,
            default=CombinerRecipe.epochs,
            metavar="N",
            help="default: %(default)s",
        )
        parser.add_argument(
            "--seed", type=seed, default=0, metavar="N", help="default: %(default)s"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        catalog = catalog_by_slug(options["catalog"], "catalog")
        names = ("space", "subject", "same_values", "n_triplets", "epochs", "seed")
        recipe = CatalogCombiner(
            columns=tuple(options["columns"]), **{name: options[name] for name in names}
        )
        run = run_as_asked(catalog=catalog, name=options["name"], recipe=recipe)
        result = self.run_work(**run_job(run), work=partial(serve, LEARN))
        self.report(result, as_json=options["json"], lines=_lines(run.slug, result))


def _lines(slug: str, result: dict[str, Any]) -> list[str]:
    lines = [f"composer:{slug}, {', '.join(result['models'][1:])}"]
    return lines + [
        f"  {name}: right in {100 * after:.1f} % of cases, half of image and text each in "
        f"{100 * before:.1f} %"
        for name, (before, after) in result["found"].items()
    ]

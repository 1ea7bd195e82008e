"""`manage.py learn_embedding CATALOG NAME --columns colour,category`."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from typing import Any

from jobs.job_task import serve
from jobs.work.commands import JobCommand
from learning.embeddings.recipes import CatalogEmbedding
from learning.runs.families import LEARN
from learning.runs.recipes import PARENT
from learning.runs.services import run_as_asked, run_job
from lookalike.cli.learn.embedding_options import add_recipe, recipe_values
from lookalike.learning.embeddings.recipe import WORDS
from pooling.new_pool.parsing import catalog_by_slug


class Command(JobCommand):
    help = (
        "Learn an embedding from a catalog's attributes or products, as a model for pools: "
        "learned:NAME, with CSN learned:NAME#COLUMN, with mixture, LSN, SCE-Net and DiscoverNet "
        "learned:NAME#condition-1 and so on, too. A fifth of the products is held out, or of the "
        "classes or images (--hold-out). The same command resumes a stopped run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("catalog", help="its short name")
        parser.add_argument("name", help="of the embedding")
        add_recipe(parser)
        parser.add_argument(
            "--words", choices=WORDS, default="",
            help="what guides: the names of the classes (ELG), or what a classifier of ImageNet "
            "takes their pictures for (PLG)",
        )  # fmt: skip
        parser.add_argument("--weight", type=float, default=10.0, help="of the words")
        parser.add_argument(
            "--model", default=PARENT, metavar="SPEC", help="backbone; default: %(default)s"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        catalog = catalog_by_slug(options["catalog"], "catalog")
        recipe = CatalogEmbedding(parent=options["model"], **recipe_values(options))
        run = run_as_asked(catalog=catalog, name=options["name"], recipe=recipe)
        result = self.run_work(**run_job(run), work=partial(serve, LEARN))
        self.report(result, as_json=options["json"], lines=_lines(result))


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [
        f"{', '.join(result['models'])}: {result['dim']} numbers, learned from "
        f"{result['n_seen']:,} images"
    ]
    if n := result["n_left_out"]:
        lines.append(f"{n:,} class{'' if n == 1 else 'es'} of one image left out")
    lines += result["held_out_words"]
    for name, (before, after) in result["found"].items():
        if before is not None:
            lines.append(
                f"{name}: the nearest held-out image is right in {100 * before:.1f} % of cases "
                f"before, {100 * after:.1f} % now"
            )
    return lines

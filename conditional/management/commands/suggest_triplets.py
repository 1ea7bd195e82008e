"""`manage.py suggest_triplets NAME (--pool SLUG | --catalog SLUG) [--condition TEXT …]`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from catalog.models import Catalog
from conditional.management.set_command import SetCommand, row_called
from conditional.models import TripletSet
from conditional.triplets.suggest import SUGGEST_TASK, suggest_set
from lookalike.cli.options import seed
from lookalike.conditional.suggestions import SuggestRecipe
from pooling.models import Pool


class Command(SetCommand):
    help = (
        "Find the triplets of a pool, or of a catalog's embedding sets, where models disagree "
        "which of two candidates is closer, and store them as questions for a panel."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", help="the set's name")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--pool", help="slug of a finished pool: its sources are compared")
        where.add_argument("--catalog", help="slug: its embedding sets are compared")
        parser.add_argument(
            "--embeddings",
            action="append",
            default=[],
            metavar="SPEC",
            help="of the catalog; by default every complete one; may be repeated",
        )
        parser.add_argument(
            "--condition",
            action="append",
            default=[],
            metavar="TEXT",
            help="ask each triplet once under this; may be repeated",
        )
        parser.add_argument("--n", type=int, default=200, help="how many triplets at most")
        parser.add_argument("--per-anchor", type=int, default=3, help="at most so many of one")
        parser.add_argument("--anchors", type=int, default=500, help="how many to look at")
        parser.add_argument(
            "--k", type=int, default=10, help="neighbours by each embedding set that may be asked"
        )
        parser.add_argument(
            "--min-disagreement", type=float, default=0.0, help="only triplets with more than this"
        )
        parser.add_argument("--seed", type=seed, default=0, help="of the draw")

    def handle(self, *_: Any, **options: Any) -> None:
        if options["pool"] and options["embeddings"]:
            raise CommandError("embeddings: the sources of a pool all have their say.")
        pool = row_called(Pool, options["pool"]) if options["pool"] else None
        catalog = pool.catalog if pool else row_called(Catalog, options["catalog"])
        recipe = SuggestRecipe(
            pool=options["pool"] or "",
            models=tuple(options["embeddings"]),
            conditions=tuple(options["condition"]),
            n_triplets=options["n"],
            per_anchor=options["per_anchor"],
            min_disagreement=options["min_disagreement"],
            n_anchors=options["anchors"],
            k=options["k"],
            seed=options["seed"],
        )
        result = self.make(
            TripletSet,
            task=SUGGEST_TASK,
            verb="Suggest",
            arguments={
                "catalog": catalog.pk, "name": options["name"], "recipe": recipe.as_json()
            },
            work=suggest_set,
        )  # fmt: skip
        self.report(result, as_json=options["json"], lines=_lines(result))


def _lines(result: dict[str, Any]) -> list[str]:
    return [
        f"“{result['set']}”: {result['n_triplets']:,} triplets, "
        f"{result['n_questions']:,} questions",
        f"models disagree about {result['n_disagreed']:,} of {result['n_compared']:,} pairs of "
        f"{result['n_anchors']:,} anchors; {result['n_same_product']:,} pairs would show a "
        "product twice",
        f"compared: {', '.join(result['models'])}",
    ]

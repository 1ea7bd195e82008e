"""`manage.py score_notions CATALOG --space SPACE`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from jobs.work.commands import JobCommand
from learning.text_spaces.queries import space_by_slug
from lookalike.cli.options import captions, comma_list, number_list, seed
from lookalike.core.dataclass_json import as_json
from lookalike.learning.notions.defaults import PUBLISHED_DIM
from lookalike.stats.text_tables import table
from pooling.new_pool.parsing import catalog_by_slug


class Command(JobCommand):
    help = (
        "Fit a notion to the values of each attribute of a catalog and say how well the nearest "
        "pictures share its value, beside every baseline: on images that the space did not learn "
        "from, in percent."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("catalog", help="its short name")
        parser.add_argument("--space", required=True, help="the text space's short name")
        parser.add_argument("--columns", type=comma_list, default=[], metavar="NAMES")
        parser.add_argument(
            "--caption", type=captions, action="append", default=[], metavar="COLUMN=TEXT"
        )
        parser.add_argument("--methods", type=comma_list, default=[], metavar="NAMES")
        parser.add_argument(
            "--dim",
            type=int,
            default=PUBLISHED_DIM,
            help="dimensions of a notion; default: the paper's %(default)s",
        )
        parser.add_argument("--repetitions", type=int, default=5)
        parser.add_argument("--seed", type=seed, default=0)
        parser.add_argument(
            "--sweep-dims", type=number_list, default=[], help="InDiReCT at these dims too"
        )
        parser.add_argument(
            "--sweep-prompts", type=number_list, default=[],
            help="InDiReCT with so many of the prompts too",
        )  # fmt: skip
        parser.add_argument("--all-images", action="store_true")
        parser.add_argument("--other-products", action="store_true")

    def handle(self, *_: Any, **options: Any) -> None:
        from learning.notions.score import score_notions  # noqa: PLC0415 - loads torch
        from lookalike.learning.notions.attribute_notions import (  # noqa: PLC0415
            HEADER,
            Scoring,
        )

        catalog = catalog_by_slug(options["catalog"], "catalog")
        space = space_by_slug(options["space"])
        scoring = Scoring(
            columns=options["columns"], captions=dict(options["caption"]),
            methods=options["methods"], dim=options["dim"],
            n_repetitions=options["repetitions"], seed=options["seed"],
            dims=options["sweep_dims"], counts=options["sweep_prompts"],
            all_images=options["all_images"], other_products=options["other_products"],
        )  # fmt: skip
        found = score_notions(catalog, space, scoring)
        title = f"Notions on {found.n_images:,} images"
        self.report(
            {"n_images": found.n_images, "notions": as_json(found.rows)},
            as_json=options["json"],
            lines=[title, *table([HEADER, *found.shown])],
        )

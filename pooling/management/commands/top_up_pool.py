"""`manage.py top_up_pool POOL --models A,B --deeper "C k=12"`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from lookalike.backbones.spec import SpecError
from lookalike.core.errors import Refused
from lookalike.pooling.source_spec import parse_depths
from pooling.management.by_model import ByModelCommand
from pooling.management.sources import (
    MODELS_HELP,
    add_upload_arguments,
    difference_lines,
    is_left,
    uploads_in,
    work_on,
)
from pooling.models import Pool, PoolChange
from pooling.new_pool.parsing import depths_of, pool_by_slug, source_wishes
from pooling.pools.settle import settle_pool
from pooling.sources.ranking_task import RankingTask
from pooling.top_up.services import TopUp, top_up_pool


class Command(ByModelCommand):
    help = (
        "Add models to a finished pool, or let some go deeper. Only new pairs are put to the "
        "panels of its campaigns; what was judged stays."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("pool", help="slug of the pool")
        parser.add_argument("--models", default="", help=f"new: {MODELS_HELP}")
        parser.add_argument(
            "--deeper",
            default="",
            metavar="SPEC k=K,…",
            help="models of the pool and their new depths, with commas between them",
        )
        add_upload_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        """Write the change down, let its sources propose, and open the new pairs."""
        pool = pool_by_slug(options["pool"])
        change = top_up_pool(pool=pool, wanted=_wanted(pool, options), made_by=None)
        specs = [step["spec"] for step in change.steps]
        for source in pool.sources.select_related("job").filter(spec__in=specs):
            if is_left(source):
                self.try_model(**work_on(pool, source))
        settle_pool(pool=pool)
        change.refresh_from_db()
        self.report(
            {**_result(change), "failed": self.failed},
            as_json=options["json"],
            lines=[
                f"“{pool}”, change {change.number}",
                *difference_lines(change.outcome, change.n_opened),
            ],
        )
        self.end(len(specs))


def _wanted(pool: Pool, options: dict[str, Any]) -> TopUp:
    wishes = source_wishes(options["models"])
    try:
        deeper = parse_depths(options["deeper"].split(","))
    except SpecError as problem:
        raise Refused("deeper", str(problem)) from problem
    return TopUp(
        specs=[wish.spec for wish in wishes],
        depths=depths_of(wishes),
        uploads=uploads_in(options, RankingTask.of(pool)),
        deeper=deeper,
    )


def _result(change: PoolChange) -> dict[str, Any]:
    return {
        "pool": change.pool.slug,
        "change": change.number,
        "steps": change.steps,
        "pairs_before": change.n_pairs_before,
        "new_pairs": change.n_new_pairs,
        "proposals": change.n_proposals,
        "opened": change.outcome.get("opened", {}),
        "by_source": change.outcome.get("by_source", []),
    }

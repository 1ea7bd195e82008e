"""`manage.py fill_pool NAME --catalog SLUG --models A,B,... -k 6 --queries N|FILE --seed 0`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from jobs.services import JobError
from pooling.management.by_model import ByModelCommand
from pooling.models import Pool
from pooling.reading import catalog_by_slug, model_specs, query_rule
from pooling.services import FILL_TASK, PoolRequest, pool_as_requested, source_subject
from pooling.services_stats import summary


class Command(ByModelCommand):
    help = (
        "Pool the k nearest candidates of several models for a set of queries. The same command "
        "again goes on where it was stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        super().add_arguments(parser)
        parser.add_argument("name", help="the pool's name")
        parser.add_argument("--catalog", required=True, help="slug: where candidates come from")
        parser.add_argument("--query-catalog", help="slug: where queries come from, if elsewhere")
        parser.add_argument(
            "--models", required=True, help="model specs or presets, with commas between them"
        )
        parser.add_argument("-k", type=int, default=6, help="candidates of each model and query")
        parser.add_argument(
            "--queries",
            required=True,
            help="how many to draw, “all”, or a file with one path, uid or SHA-256 in each line",
        )
        parser.add_argument(
            "--filter",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="only queries with that attribute; may be repeated",
        )
        parser.add_argument("--seed", type=int, default=0, help="of the drawing of queries")
        parser.add_argument(
            "--same-product",
            action="store_true",
            help="let other images of a query's own product be candidates too",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Create the pool or find it as it was left, and run the sources that are not done."""
        try:
            pool = pool_as_requested(request=_request(options), created_by=None)
        except JobError as problem:
            raise CommandError(str(problem)) from problem
        sources = list(pool.sources.select_related("job"))
        for source in sources:
            # a command killed after it stored the proposals has left an open job behind
            is_open = source.job is not None and source.job.is_open
            if source.done_at is None or is_open:
                self.try_model(
                    source.spec,
                    "pooling.services_fill.run_source",
                    task=FILL_TASK,
                    subject=source_subject(source),
                    title=f"{source.spec} for {pool}",
                    arguments={"source_id": source.pk},
                )
        pool.refresh_from_db()
        result = {**summary(pool), "failed": self.failed}
        self.report(result, as_json=options["json"], lines=_lines(pool, result))
        self.end(len(sources))


def _request(options: dict[str, Any]) -> PoolRequest:
    query_catalog = options["query_catalog"]
    return PoolRequest(
        name=options["name"],
        catalog=catalog_by_slug(options["catalog"], "catalog"),
        query_catalog=query_catalog and catalog_by_slug(query_catalog, "query catalog"),
        specs=model_specs(options["models"]),
        k=options["k"],
        rule=query_rule(options["queries"], options["filter"]),
        seed=options["seed"],
        exclude_same_product=not options["same_product"],
    )


def _lines(pool: Pool, result: dict[str, Any]) -> list[str]:
    """Say the figures to people."""
    if not result["models"]:
        return [f"“{pool}”: no model has proposed anything."]
    per_query = result["candidates_per_query"]
    return [
        f"“{pool}”: {pool.state.label.lower()}",
        f"{result['pairs']:,} pairs of {result['queries']:,} queries to judge, "
        f"{per_query['mean']:.1f} candidates for each ({per_query['min']} to {per_query['max']})",
        f"{result['proposals']:,} proposals, {result['duplication']:.1%} of them made before",
        f"{result['saving']:.1f} times fewer than brute force ({result['brute_force_pairs']:,})",
    ]

"""`manage.py fill_pool NAME --catalog SLUG --models A,B,... -k 6 --queries N|FILE --seed 0`."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from lookalike.cli.options import seed
from pooling.management.by_model import ByModelCommand
from pooling.management.sources import (
    MODELS_HELP,
    add_upload_arguments,
    is_left,
    uploads_in,
    work_on,
)
from pooling.models import Index, Pool
from pooling.new_pool.parsing import (
    candidate_rule,
    catalog_by_slug,
    depths_of,
    query_rule,
    source_wishes,
)
from pooling.new_pool.requests import PoolRequest, choose_queries
from pooling.pools.services import pool_as_requested
from pooling.pools.settle import settle_pool
from pooling.pools.statistics import summary
from pooling.sources.ranking_task import RankingTask


class Command(ByModelCommand):
    help = (
        "Pool the k nearest candidates of several models for a set of queries. The same command "
        "again goes on where it was stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", help="the pool's name")
        parser.add_argument("--catalog", required=True, help="slug: where candidates come from")
        parser.add_argument("--query-catalog", help="slug: where queries come from, if elsewhere")
        parser.add_argument("--models", default="", help=MODELS_HELP)
        add_upload_arguments(parser)
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
        parser.add_argument(
            "--strata",
            default="",
            metavar="NAME",
            help="spread the sample evenly over the values of that attribute",
        )
        parser.add_argument(
            "--one-per-product", action="store_true", help="ask at most one image of a product"
        )
        parser.add_argument("--seed", type=seed, default=0, help="of the drawing of queries")
        parser.add_argument(
            "--same-product",
            action="store_true",
            help="let other images of a query's own product be candidates too",
        )
        parser.add_argument(
            "--shared-product-ids",
            action="store_true",
            help="with --query-catalog: a product id means the same product in both catalogs; "
            "otherwise a product belongs to its catalog",
        )
        parser.add_argument(
            "--same",
            default="",
            metavar="NAMES",
            help="attributes in which a candidate has the query's own value, with commas between",
        )
        parser.add_argument(
            "--different",
            default="",
            metavar="NAMES",
            help="attributes in which a candidate has another value than the query",
        )
        parser.add_argument(
            "--collapse",
            action="store_true",
            help="one candidate of each group of near-duplicates, and none like the query",
        )
        parser.add_argument(
            "--index",
            default=Index.EXACT,
            choices=Index.values,
            help="how the nearest vectors are found; the recall of an index is measured",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Create the pool or find it as it was left, and run the sources that are not done."""
        pool = pool_as_requested(request=_request(options), created_by=None)
        sources = list(pool.sources.select_related("job"))
        for source in filter(is_left, sources):
            self.try_model(**work_on(pool, source))
        settle_pool(pool=pool)
        pool.refresh_from_db()
        result = {**summary(pool), "failed": self.failed}
        self.report(result, as_json=options["json"], lines=_lines(pool, result))
        self.end(len(sources))


def _request(options: dict[str, Any]) -> PoolRequest:
    query_catalog = options["query_catalog"]
    wishes = source_wishes(options["models"])
    request = PoolRequest(
        name=options["name"],
        catalog=catalog_by_slug(options["catalog"], "catalog"),
        query_catalog=query_catalog and catalog_by_slug(query_catalog, "query catalog"),
        specs=[wish.spec for wish in wishes],
        k=options["k"],
        rule=query_rule(
            options["queries"],
            options["filter"],
            strata=options["strata"],
            one_per_product=options["one_per_product"],
        ),
        seed=options["seed"],
        exclude_same_product=not options["same_product"],
        shared_product_ids=options["shared_product_ids"],
        depths=depths_of(wishes),
        candidates=candidate_rule(options["same"], options["different"], options["collapse"]),
        index=options["index"],
    )
    if not options["embeddings"] and not options["ranking"]:
        return request
    task = RankingTask(request.catalog, request.asking, choose_queries(request))
    return replace(request, uploads=uploads_in(options, task))


def _lines(pool: Pool, result: dict[str, Any]) -> list[str]:
    """Return a summary for the terminal."""
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

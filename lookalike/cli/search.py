"""`lookalike search`: the nearest vectors of a catalog for each query, as a run."""

from __future__ import annotations

import argparse
import io

from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.vectors import read_vectors
from lookalike.io.writers import write_csv
from lookalike.search.nearest import nearest_images

DESCRIPTION = (
    "Find the images of a catalog that are nearest to each query, exactly, and print them as a run "
    "that lookalike score reads. The query itself is left out. With torch and numba installed the "
    "search is several times as fast."
)
EXAMPLE = "lookalike search --catalog beit.npz --queries queries.npz -k 50 --out beit.csv"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--catalog", type="input", required=True, metavar="FILE", help=".npz, .npy or parquet"
    )
    parser.add_argument(
        "--queries", type="input", metavar="FILE", help="without it every image is a query"
    )
    parser.add_argument("--catalog-ids", type="input", metavar="FILE", help="ids of a .npy")
    parser.add_argument("--query-ids", type="input", metavar="FILE", help="ids of a .npy")
    parser.add_argument("-k", type=int, default=50, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--metric", choices=("cosine", "dot"), default="cosine", help="default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Find the neighbours of each query.

    Raises:
        InputError: files that do not fit together, or no k.
        OSError: if a file cannot be opened.
    """
    catalog = read_vectors(arguments.catalog, arguments.catalog_ids)
    queries = catalog
    if arguments.queries is not None:
        queries = read_vectors(arguments.queries, arguments.query_ids)
    try:
        nearest = nearest_images(queries, catalog, arguments.k, metric=arguments.metric)
    except ValueError as problem:
        raise InputError(str(problem)) from problem
    table = Table(
        ("query", "candidate", "rank", "score"),
        list(zip(nearest.queries, nearest.candidates, nearest.ranks, nearest.scores, strict=True)),
    )
    text = io.StringIO()
    write_csv(text, table.rows, table.header)
    return Report(
        title=f"Nearest images in {arguments.catalog}",
        text=text.getvalue(),
        data={
            "n_queries": len(queries.ids),
            "n_images": len(catalog.ids),
            "k": arguments.k,
            "metric": arguments.metric,
            "nearest": [dict(zip(table.header, row, strict=True)) for row in table.rows],
        },
        table=table,
    )

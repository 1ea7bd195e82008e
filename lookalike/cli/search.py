"""`lookalike search`: the nearest vectors of a catalog for each query, as a run."""

from __future__ import annotations

import argparse
import io
from dataclasses import replace

from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.image_names import ImageNames
from lookalike.io.vectors import VectorTable, read_vectors
from lookalike.io.writers import write_csv
from lookalike.search.nearest import nearest_images

DESCRIPTION = (
    "Find the images of a catalog that are nearest to each query, exactly, and print them as a run "
    "that lookalike score reads. The query itself is left out. With torch and numba installed the "
    "search is several times as fast."
)
EXAMPLE = "lookalike search --vectors beit.npz --queries queries.npz -k 50 --out beit.csv"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_vectors(parser, "vectors of the catalog", old_option="--catalog", old_ids="--catalog-ids")
    parser.add_argument(
        "--queries", type="input", metavar="FILE",
        help="vectors of the queries; without it every image of the catalog is one",
    )  # fmt: skip
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
    source, catalog = read_one(arguments)
    queries = catalog
    if arguments.queries is not None:
        queries = _as_in_catalog(read_vectors(arguments.queries, arguments.query_ids), catalog)
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
        title=f"Nearest images in {source}",
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


def _as_in_catalog(queries: VectorTable, catalog: VectorTable) -> VectorTable:
    """Return queries under the catalog's names, so that a query never finds itself.

    A query that no name of the catalog means keeps its own.
    """
    known = ImageNames(((name, name) for name in catalog.ids), is_whole=False)
    names, _ = known.find_all(queries.ids)
    return replace(queries, ids=[names.get(name, name) for name in queries.ids])

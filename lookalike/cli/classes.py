"""`lookalike classes`: the measures of metric learning for vectors and columns of labels."""

from __future__ import annotations

import argparse

from lookalike.cli.described_vectors import add_described_vectors, described_vectors
from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.core.dataclass_json import as_json
from lookalike.core.did_you_mean import did_you_mean
from lookalike.io.errors import InputError
from lookalike.metrics.class_tables import (
    MOST_CLUSTERS,
    class_lines,
    class_table,
    known_labels,
    score_classes,
)

DESCRIPTION = (
    "Say how well the nearest images share a value of each column, by the measures of metric "
    "learning: MAP@R, R-Prec, P@1, Success@k (its Recall@k), mAP@1000, and AMI, NMI and F1 of "
    "k-means clusters. Every image is a query in turn. Needs the extra `models` for the clusters."
)
EXAMPLE = "lookalike classes --vectors beit.npz --metadata metadata.csv --label category"
PRODUCT = "product_id"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_described_vectors(parser)
    parser.add_argument(
        "--label", action="append", default=[], metavar="COLUMN",
        help="a column of the metadata, product_id too; may be repeated; default: all that divide",
    )  # fmt: skip
    parser.add_argument(
        "--metric", choices=("cosine", "euclidean"), default="cosine",
        help="euclidean compares the vectors as they are; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--starts", type=int, default=5, metavar="N",
        help="random starts of k-means, 0 for no clusters; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--clusters", type=int, metavar="N",
        help=f"k of k-means; default: the number of classes, where there are at most "
        f"{MOST_CLUSTERS:,}; language guidance takes that of the training set",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Score the vectors by each column.

    Raises:
        InputError, Refused: files, columns or numbers that cannot be used.
    """
    if arguments.starts < 0 or (arguments.clusters or 2) < 2:
        raise InputError("--starts is a whole number from 0, --clusters from 2")
    described = described_vectors(arguments)
    if len(set(described.ids)) < len(described.ids):
        raise InputError(f"{arguments.vectors[0]} names an image twice; each is one query")
    pairs = zip(described.rows, described.products, strict=True)
    rows = [{**row, PRODUCT: product} for row, product in pairs]
    columns = known_labels(rows)
    for name in arguments.label:
        if not any(name in row for row in rows):
            names = list(dict.fromkeys(name for row in rows for name in row))
            raise InputError(f"no image has {name!r}. {did_you_mean(name, names)}")
        columns.setdefault(name, [row.get(name, "") for row in rows])  # it says itself why not
    wanted = list(dict.fromkeys(arguments.label)) or list(columns)
    if not wanted:
        raise InputError(f"{arguments.metadata} has no column whose values images share")
    notes = described.checked_notes(wanted, with_products=PRODUCT in wanted)
    if arguments.clusters and arguments.clusters > len(described.ids):
        raise InputError(f"--clusters {arguments.clusters} of {len(described.ids)} images")
    scores = [
        score_classes(
            described.vectors, columns[name], column=name,
            is_cosine=arguments.metric == "cosine", seed=arguments.seed,
            n_starts=arguments.starts, n_clusters=arguments.clusters,
        )
        for name in wanted
    ]  # fmt: skip
    return Report(
        title=f"Classes in {arguments.vectors[0]}",
        text="\n".join(class_lines(scores)) + "\n",
        data={"metric": arguments.metric, "seed": arguments.seed, "columns": as_json(scores)},
        table=class_table(scores),
        notes=notes
        + [
            f"{one.column}: {one.n_lone:,} images are alone with their value and left out of the "
            "means, but for lg_map@1000, where they count 0"
            for one in scores
            if one.n_lone
        ],
    )

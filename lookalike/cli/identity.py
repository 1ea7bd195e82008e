"""`lookalike identity`: VSD's Table 4, identity beside similarity, for vectors of photos."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.cli.output import Report
from lookalike.cli.unit_option import add_unit, chosen_unit
from lookalike.cli.vector_options import add_vectors, read_every
from lookalike.cli.vote_options import add_vote_options, vote_options
from lookalike.core.arrays import Float32s
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table
from lookalike.io.errors import FormatError, InputError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.matched_names import MatchedNames
from lookalike.io.named_images import rows_by_name
from lookalike.io.vectors import VectorTable
from lookalike.metrics.identity import (
    MEASURES,
    SUCCESSES,
    identity_labels,
    score_identity,
    score_similarity,
)
from lookalike.metrics.scoring import Scored
from lookalike.stats.intervals import WHAT_VARIES, mean_interval
from lookalike.stats.text_tables import TEXT, table
from lookalike.stats.units import Units

DESCRIPTION = (
    "Say how well vectors find the other photos of each product, by the formulas of the VSD "
    "benchmark (its Table 4), and with --qrels beside it how well the same vectors find what "
    "people judged similar. A model may be good at one and bad at the other. Photos without a "
    "product are left out of the identity part."
)
EXAMPLE = "lookalike identity --vectors dino.npz --vectors beit.npz --metadata vsd.json"
MEASURES_SHOWN = (*MEASURES, *SUCCESSES)
HEADER = ("model", "task", "queries", *MEASURES_SHOWN)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_vectors(parser, "vectors of the photos", is_repeatable=True, had_argument=True)
    parser.add_argument(
        "--metadata", type="input", required=True, metavar="FILE",
        help="products: VSD JSON or CSV path,product_id",
    )  # fmt: skip
    add_unit(parser)
    parser.add_argument(
        "--qrels", type="input", metavar="FILE", help="labels: VSD JSON, TREC, CSV or parquet"
    )
    add_vote_options(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Score the vectors of each model.

    Raises:
        InputError, Refused: files that cannot be used or do not go together.
        OSError: if a file cannot be opened.
    """
    options = vote_options(arguments)
    qrels = read_qrels(arguments.qrels, options=options) if arguments.qrels else None
    names = MatchedNames({*qrels.query_ids, *qrels.candidate_ids} if qrels else ())
    products = names.mapping(
        read_products(arguments.metadata, names.notes), str(arguments.metadata)
    )
    unit = chosen_unit(arguments.unit, Path(arguments.metadata), products).named(names)
    rows: list[tuple[str, str, Scored]] = []
    queries: list[tuple[str, ...]] = []
    labelled = [*qrels.query_ids, *qrels.candidate_ids] if qrels else []
    for path, given in read_every(arguments):
        ids, vectors = _photos(path, given, products, arguments.metadata, labelled)
        model = (path.stem, ids, vectors, products)
        rows.append((path.stem, "identity", score_identity(*model)))
        known = {photo: products[photo] for photo in ids if products.get(photo)}
        queries.append(identity_labels(known).query_ids)
        if qrels is not None:
            rows.append((path.stem, "similarity", score_similarity(*model, qrels)))
            queries.append(qrels.query_ids)
    found = Table(HEADER, [(model, task, *_values(scored)) for model, task, scored in rows])
    text = [
        (model, task, f"{_n_queries(scored):,}", *map(TEXT.number, _values(scored)[1:]))
        for model, task, scored in rows
    ]
    return Report(
        title="Identity and similarity" if qrels else "Identity",
        text="\n".join(table([HEADER, *text])) + "\n",
        data={
            "rows": [
                {"model": model, "task": task, "measures": _measures(scored, unit.of(asked))}
                for (model, task, scored), asked in zip(rows, queries, strict=True)
            ],
            "intervals": WHAT_VARIES,
            "unit": unit.name,
        },
        table=found,
        notes=[
            *options.notes,
            *names.notes,
            "identity: vsd_hr is the share of k places that hold another photo of the product, "
            "so it stays below 1 where a product has fewer than k others; Success is the share "
            "of queries that find one. Table 4 of the paper mixes the two",
        ],
    )


def _photos(
    path: Path,
    given: VectorTable,
    products: Mapping[str, str],
    metadata: Path,
    labelled: Sequence[str],
) -> tuple[list[str], Float32s]:
    """Return the vectors of a file, by the names that metadata and labels give to photos.

    Raises:
        InputError: an image twice, or none whose product is known.
    """
    if len(set(given.ids)) < len(given.ids):
        raise FormatError(path, None, "it names an image twice; each is one photo")
    row_of = rows_by_name(path, given, [*products, *labelled])
    if not any(products.get(photo) for photo in row_of):
        raise InputError(
            f"{metadata} knows the product of none of the images of {path} (it has "
            f"{next(iter(products), '')!r}, the vectors have {given.ids[0]!r})"
        )
    return list(row_of), given.vectors[list(row_of.values())]


def _values(scored: Scored) -> list[float | None]:
    """Return the number of queries, then each measure, None where it is not asked."""
    shown = [scored.outcomes.get(name) for name in MEASURES_SHOWN]
    return [_n_queries(scored), *(outcome.value if outcome else None for outcome in shown)]


def _n_queries(scored: Scored) -> int:
    return scored.outcomes[MEASURES[0]].n_defined or 0


def _measures(scored: Scored, units: Units) -> dict[str, Any]:
    """Return each measure with its interval: photos of one product are found together, or not."""
    return {
        name: {
            "value": outcome.value,
            "n_defined": outcome.n_defined,
            "interval": as_json(mean_interval(outcome.by_query, groups=units.codes)),
        }
        for name, outcome in scored.outcomes.items()
        if outcome.by_query is not None
    }

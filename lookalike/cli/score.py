"""`lookalike score`: every measure of every run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from lookalike.cli.drawn_negatives import add_negatives, read_drawn
from lookalike.cli.input_files import InputFiles
from lookalike.cli.output import Report
from lookalike.cli.run_options import (
    add_missing,
    add_runs,
    add_score_rules,
    hint_at_missing,
    read_runs,
    require_runs,
)
from lookalike.cli.score_release import (
    board_intervals,
    named_apart,
    parse_measures,
    score_on_release,
)
from lookalike.cli.score_report import as_json, as_table, as_text, list_notes
from lookalike.cli.score_vsd_task import score_on_vsd_task
from lookalike.cli.unit_option import add_unit, chosen_unit, metadata_products
from lookalike.cli.vote_options import add_vote_options
from lookalike.io.errors import InputError
from lookalike.io.matched_names import MatchedNames
from lookalike.io.tables import Qrels
from lookalike.metrics.match import refuse_strangers
from lookalike.metrics.measures import (
    DEFAULT_MEASURES,
    Measure,
    known_forms,
    known_measures,
    refuse_without_products,
)
from lookalike.metrics.negatives import NegativeList
from lookalike.metrics.scoring import score_runs
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import MANIFEST
from lookalike.stats.units import Units

DESCRIPTION = (
    f"Score runs against labels. Measures: {', '.join(known_forms())}. "
    "k is a rank, p a persistence."
)
EXAMPLE = "lookalike score --qrels labels.json --run beit.csv --run clip.parquet --measures P@5,AP'"

TREC_LEVEL = 1  # from which on trec_eval takes a grade as relevant


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    labels = parser.add_mutually_exclusive_group(required=True)
    labels.add_argument(
        "--qrels", type="input", metavar="FILE", help="VSD JSON, TREC, CSV or parquet"
    )
    labels.add_argument(
        "--release",
        type="input",
        metavar="RELEASE",
        help="folder or zip: labels, products, measures and rules are the release's own, and so "
        "are the numbers of its board; runs name images by image_id, SHA-256 or path",
    )
    labels.add_argument(
        "--vsd-task",
        type=Path,
        metavar="TASK",
        help="folder or zip of the VSD benchmark's files: labels, products, queries and what is "
        "ranked are the task's own",
    )
    parser.add_argument(
        "--min-rel",
        type=int,
        metavar="GRADE",
        help="of graded labels, the least that is positive; nDCG takes the grades as gains, and "
        "negative ones mark pairs of the pool that were not judged (default with --trec: 1)",
    )
    add_runs(parser)
    add_score_rules(parser)
    parser.add_argument(
        "--measures",
        metavar="A,B",
        help=f"default: the release's, or {','.join(DEFAULT_MEASURES)}",
    )
    parser.add_argument(
        "--metadata", type="input", metavar="FILE", help="products: VSD JSON or CSV path,product_id"
    )
    add_unit(parser, "--metadata, or an attribute of the release,")
    parser.add_argument(
        "--mode",
        choices=("image", "product"),
        default="image",
        help="count each image, or each product once (needs --metadata)",
    )
    add_missing(parser)
    parser.add_argument(
        "--trec",
        action="store_true",
        help="read grades, order ties, compare scores and average queries as trec_eval does",
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="the labels cover all there is to rank: count ranks also in runs that list the "
        "judged pairs alone, which have no list otherwise",
    )
    add_negatives(parser)
    add_vote_options(parser)
    parser.add_argument("--by-query", action="store_true", help="also the values of each query")


def run(arguments: argparse.Namespace) -> Report:
    """Read the files and score.

    Raises:
        InputError: with file, line and reason, or the unknown measure.
        OSError: if a file cannot be opened.
    """
    require_runs(arguments)
    if arguments.release is not None:
        return score_on_release(arguments)
    if arguments.vsd_task is not None:
        return score_on_vsd_task(arguments)
    if arguments.min_rel is not None and arguments.min_rel < 1:
        raise InputError(f"--min-rel {arguments.min_rel} is not 1 or more")
    min_rel = TREC_LEVEL if arguments.trec and not arguments.min_rel else arguments.min_rel
    files = InputFiles(arguments, "the labels")
    qrels, names = files.labels(arguments.qrels, min_rel=min_rel), files.names
    products = _products(arguments, names)
    _check_products(arguments, qrels, products)
    measures = _measures(arguments.measures, products)
    units = _units(arguments, qrels, products, names)
    negatives, band = (_with_names(listed, names) for listed in read_drawn(arguments))
    drawn = [pair for listed in (negatives, band) if listed for pair in listed.pairs]
    runs = named_apart(read_runs(arguments, qrels, names, products=products, further=drawn))
    refuse_strangers(qrels, runs)
    with hint_at_missing("; --missing worst ranks them last; --measures can leave the areas out"):
        scored = score_runs(
            qrels,
            runs,
            measures,
            products=products,
            mode=arguments.mode,
            missing=arguments.missing,
            trec=arguments.trec,
            negatives=negatives,
            band_negatives=band,
            without_list=() if arguments.complete else None,
        )
    intervals = None if units is None else board_intervals(scored, units)
    by_query = arguments.by_query
    return Report(
        title=f"{arguments.qrels}: {', '.join(run.name for run in scored)}",
        text=as_text(
            arguments.qrels, qrels, scored, by_query=by_query, intervals=intervals, units=units
        ),
        data=as_json(arguments, arguments.qrels, arguments.run, qrels, scored, intervals=intervals),
        table=as_table(qrels, scored, by_query=by_query, intervals=intervals),
        notes=[
            *files.options.notes,
            *names.notes,
            *list_notes(scored),
            *_product_notes(arguments, qrels, products),
            *_release_notes(arguments.qrels),
        ],
    )


def _units(
    arguments: argparse.Namespace,
    qrels: Qrels,
    products: Mapping[str, str] | None,
    names: MatchedNames,
) -> Units | None:
    """Return the units that intervals are asked over, None where none are asked for."""
    if arguments.unit is None:
        return None
    chosen = chosen_unit(arguments.unit, arguments.metadata, products).named(names)
    chosen.refuse_strangers(qrels.query_ids, arguments.metadata)
    return chosen.of(qrels.query_ids)


def _products(arguments: argparse.Namespace, names: MatchedNames) -> dict[str, str] | None:
    products = metadata_products(arguments, names.notes)
    return None if products is None else names.mapping(products, str(arguments.metadata))


def _with_names(listed: NegativeList | None, names: MatchedNames) -> NegativeList | None:
    if listed is None:
        return None
    return replace(listed, pairs=tuple(names.pairs(listed.pairs, listed.source)))


def _measures(text: str | None, products: Mapping[str, str] | None) -> list[Measure]:
    """Return the measures asked for, or the usual ones.

    Raises:
        InputError: an unknown one, or one that needs products without any.
    """
    measures = parse_measures(text or ",".join(known_measures(DEFAULT_MEASURES, products)))
    refuse_without_products(measures, products, "give --metadata (VSD JSON or CSV path,product_id)")
    return measures


def _product_notes(
    arguments: argparse.Namespace, qrels: Qrels, products: Mapping[str, str] | None
) -> Iterator[str]:
    if products is None:
        if arguments.measures is None:
            yield "no vsd_ measures: they count each product once and need --metadata"
        return
    images = {*qrels.query_ids, *qrels.candidate_ids}
    if n_unknown := sum(not products.get(image) for image in images):
        yield (
            f"{arguments.metadata} knows no product of {n_unknown:,} of {len(images):,} images of "
            "the labels: each counts as a product of its own"
        )


def _release_notes(labels: Path) -> Iterator[str]:
    """Say where the labels are those of a release that its board does not count in full."""
    folder = labels.resolve().parent.parent
    if labels.stem != "labels" or not (folder / MANIFEST).is_file():
        return
    if n_drawn := len(Folder(folder).below_pool):
        yield (
            f"{n_drawn} pairs of this release were drawn below its pool; its board does not count "
            f"them, nor does --release {folder}"
        )


def _check_products(
    arguments: argparse.Namespace, qrels: Qrels, products: Mapping[str, str] | None
) -> None:
    """Refuse products of other images than those labelled: they would not count, unseen.

    Raises:
        InputError: no image of the labels is among them.
    """
    if products is not None and not (set(qrels.candidate_ids) | set(qrels.query_ids)) & set(
        products
    ):
        raise InputError(
            f"{arguments.metadata}: it knows none of the images of {arguments.qrels} (labels have "
            f"{qrels.candidate_ids[0]!r}, this file {next(iter(products), '')!r}); of a release, "
            "csv/images.csv and data/images.parquet know image_id, too, and --release all of it"
        )

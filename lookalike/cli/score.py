"""`lookalike score`: every measure of every run."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lookalike.cli.output import Report
from lookalike.cli.score_report import as_json, as_table, as_text
from lookalike.io.errors import InputError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.runs import read_run
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import MissingScoresError
from lookalike.metrics.measures import DEFAULT_MEASURES, Measure, known_forms, parse_measure
from lookalike.metrics.scoring import Scored, score_runs
from lookalike.release.opened import Release, open_release

DESCRIPTION = (
    f"Score runs against labels. Measures: {', '.join(known_forms())}. "
    "k is a rank, p a persistence."
)
EXAMPLE = "lookalike score --qrels labels.json --run beit.csv --run clip.parquet --measures P@5,AP'"

OF_THE_RELEASE = ("--min-rel", "--metadata", "--mode", "--trec", "--negatives", "--contamination")
NO_PRODUCTS = "every image for a product of its own"


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
        "are the numbers of its board; runs may be embeddings, too (npz, parquet), and name "
        "images by image_id, SHA-256 or path",
    )
    parser.add_argument(
        "--min-rel",
        type=int,
        metavar="GRADE",
        help="of graded labels, the least that is positive; nDCG takes the grades as gains",
    )
    parser.add_argument(
        "--run",
        type="input",
        required=True,
        action="append",
        metavar="FILE",
        help="TREC, CSV or parquet; may be given several times",
    )
    parser.add_argument(
        "--measures",
        metavar="A,B",
        help=f"default: the release's, or {','.join(DEFAULT_MEASURES)}",
    )
    parser.add_argument(
        "--metadata", type="input", metavar="FILE", help="products: VSD JSON or CSV path,product_id"
    )
    parser.add_argument(
        "--mode",
        choices=("image", "product"),
        default="image",
        help="count each image, or each product once (needs --metadata)",
    )
    parser.add_argument(
        "--missing",
        choices=("error", "worst"),
        default="error",
        help="judged pairs without a score: refuse the run, or rank them below all others",
    )
    parser.add_argument(
        "--trec",
        action="store_true",
        help="order ties, compare scores and average queries as trec_eval does",
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="the labels cover all there is to rank: count ranks also in runs that list the "
        "judged pairs alone, which have no list otherwise",
    )
    parser.add_argument(
        "--negatives", type="input", metavar="FILE", help="random negatives: labels that are all 0"
    )
    parser.add_argument(
        "--contamination",
        type=float,
        metavar="SHARE",
        help="estimated share of true positives among the random negatives",
    )
    parser.add_argument("--by-query", action="store_true", help="also the values of each query")


def run(arguments: argparse.Namespace) -> Report:
    """Read the files and score.

    Raises:
        InputError: with file, line and reason, or the unknown measure.
        OSError: if a file cannot be opened.
    """
    if arguments.release is not None:
        return _on_release(arguments)
    measures = _measures(arguments.measures or ",".join(DEFAULT_MEASURES))
    if arguments.contamination is not None and not 0 <= arguments.contamination < 1:
        raise InputError(f"--contamination {arguments.contamination} is not in [0, 1)")
    if arguments.min_rel is not None and arguments.min_rel < 1:
        raise InputError(f"--min-rel {arguments.min_rel} is not 1 or more")
    qrels = read_qrels(arguments.qrels, min_rel=arguments.min_rel)
    runs = _named_apart([(path, read_run(path)) for path in arguments.run])
    products = read_products(arguments.metadata) if arguments.metadata else None
    _check_products(arguments, qrels, products)
    try:
        scored = score_runs(
            qrels,
            runs,
            measures,
            products=products,
            mode=arguments.mode,
            missing=arguments.missing,
            trec=arguments.trec,
            negatives=_negatives(arguments.negatives),
            contamination=arguments.contamination,
            without_list=() if arguments.complete else None,
        )
    except MissingScoresError as error:
        hint = "--missing worst ranks them last; --measures can leave the areas out"
        raise MissingScoresError(f"{error}; {hint}") from error
    return Report(
        title=f"{arguments.qrels}: {', '.join(run.name for run in scored)}",
        text=as_text(arguments, qrels, scored),
        data=as_json(arguments, qrels, scored),
        table=as_table(qrels, scored, by_query=arguments.by_query),
        notes=[*_notes(scored), *_vsd_note(measures, products)],
    )


def _vsd_note(measures: Sequence[Measure], products: Mapping[str, str] | None) -> Iterator[str]:
    if any(measure.name.startswith("vsd_") for measure in measures) and products is None:
        yield (
            "without product ids (--metadata) vsd_ measures take every image for a product of "
            "its own: they are not those of the VSD benchmark"
        )


def _on_release(arguments: argparse.Namespace) -> Report:
    """Score by the rules of a release, as its site does.

    Raises:
        InputError: also if an option contradicts the release.
    """
    for option in OF_THE_RELEASE:
        if getattr(arguments, option.strip("-").replace("-", "_")) not in (None, False, "image"):
            raise InputError(f"{option} does not go with --release, which says it itself")
    names = None if arguments.measures is None else [m.name for m in _measures(arguments.measures)]
    with open_release(arguments.release) as release:
        try:
            read = [
                (path, release.judged.read(path, missing=arguments.missing)[0])
                for path in arguments.run
            ]
        except MissingScoresError as error:
            raise MissingScoresError(f"{error} (--missing worst)") from error
        runs = _named_apart(read)
        scored = release.score(runs, names, complete=arguments.complete)
        qrels = release.labels()
        arguments.qrels = arguments.release
        of_release = {"name": release.info["name"], "version": release.info["version"]}
        of_release |= {"seal": release.manifest.seal}
        return Report(
            title=f"{release.title}: {', '.join(run.name for run in scored)}",
            text=as_text(arguments, qrels, scored),
            data={"release": of_release, **as_json(arguments, qrels, scored)},
            table=as_table(qrels, scored, by_query=arguments.by_query),
            notes=[*_notes(scored), *_release_notes(release, scored)],
        )


def _release_notes(release: Release, scored: Sequence[Scored]) -> Iterator[str]:
    if hidden := len(release.hidden_queries):
        yield (
            f"labels of {hidden} queries are hidden; they count on the release's site alone, "
            "for runs submitted there"
        )
    if any(name.startswith("vsd_") for name in scored[0].outcomes):
        if release.products is None:
            yield f"{release.title} compares images of one product: vsd_ takes {NO_PRODUCTS}"
        elif not any(release.products.values()):
            yield f"{release.title} knows no product: vsd_ takes {NO_PRODUCTS}"
    if names := release.other_means(scored[0]):
        yield (
            f"{', '.join(names)}: over other queries than on the release's board, whose means are "
            "over those that are defined for all of its models"
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


def _measures(text: str) -> list[Measure]:
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError("--measures names no measure")
    return [parse_measure(name) for name in names]


def _named_apart(runs: Sequence[tuple[Path, Run]]) -> list[Run]:
    """Return the runs, with their file in the name where two have the same name."""
    counts = Counter(run.name for _, run in runs)
    named = [
        replace(run, name=f"{run.name} ({path})") if counts[run.name] > 1 else run
        for path, run in runs
    ]
    repeated = [name for name, n in Counter(run.name for run in named).items() if n > 1]
    if repeated:
        raise InputError(f"the same run is given twice: {repeated[0]}")
    return named


def _negatives(path: Path | None) -> list[tuple[str, str]] | None:
    if path is None:
        return None
    found: Qrels = read_qrels(path)
    if found.labels.any():
        raise InputError(f"{path}: random negatives are labels that are all 0; one is 1")
    return [(query, candidate) for query, candidate, _ in found]


def _notes(scored: Sequence[Scored]) -> Iterator[str]:
    for run in scored:
        if not run.has_list:
            yield (
                f"run {run.name!r} lists the judged pairs alone, among which positives stand far "
                "too high: what counts ranks is undefined for it (--complete, if there is no more "
                "to rank)"
            )
        strange = run.coverage.queries_not_in_labels
        if strange:
            yield (
                f"run {run.name!r} has {len(strange)} queries without labels, "
                f"which are ignored (first: {strange[0]!r})"
            )

"""Scores by the labels, products and rules of a release: the numbers of its board."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.words.advice import OF_THE_POOL
from lookalike.cli.drawn_negatives import pairs_of, read_of_release
from lookalike.cli.output import Report
from lookalike.cli.run_options import check_runs, hint_at_missing
from lookalike.cli.score_report import as_json, as_table, as_text, list_notes
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.metrics.match import Missing, match_run
from lookalike.metrics.measures import Measure, parse_measure
from lookalike.metrics.negatives import NegativeList
from lookalike.metrics.rank import puts_judged_first, rank_run
from lookalike.metrics.scoring import Scored
from lookalike.metrics.uncertainty import mean_intervals
from lookalike.release.opened import Release, open_release
from lookalike.release.outsiders import beside_outsiders
from lookalike.release.scoring import drawn_measures
from lookalike.stats.proportion import Interval
from lookalike.stats.units import PRODUCT, QUERY, Units

RULES = ("--min-rel", "--metadata", "--mode", "--trec")
NO_PRODUCTS = "every image for a product of its own"


def score_on_release(arguments: argparse.Namespace) -> Report:
    """Score runs by the rules of a release, as its site does.

    Raises:
        InputError: also if an option contradicts the release.
    """
    refuse_rules(arguments, "--release")
    with open_release(arguments.release) as release:
        negatives = read_of_release(arguments, release)
        with hint_at_missing():
            read = release.read_runs(
                arguments.run,
                ids=check_runs(arguments),
                missing=arguments.missing,
                lower_is_better=arguments.lower_is_better,
                depth=arguments.depth,
                further=pairs_of(negatives),
            )
        runs = named_apart(list(zip(arguments.run, read, strict=True)))
        return report_on_release(arguments, release, runs, arguments.run, negatives=negatives)


def refuse_rules(arguments: argparse.Namespace, source: str) -> None:
    """Refuse options that contradict a source of labels which has rules of its own.

    Raises:
        InputError: it names the option.
    """
    for option in RULES:
        if getattr(arguments, option.strip("-").replace("-", "_")) not in (None, False, "image"):
            raise InputError(f"{option} does not go with {source}, which says it itself")


def report_on_release(
    arguments: argparse.Namespace,
    release: Release,
    runs: Sequence[Run],
    files: Sequence[object],
    *,
    model_of: Mapping[str, str] | None = None,
    negatives: Mapping[str, NegativeList] | None = None,
) -> Report:
    """Score runs of a release and return what is to be said of them.

    Args:
        arguments: with `release`, `measures`, `by_query` and perhaps `complete`.
        release: it.
        runs: with its names of images.
        files: where they are from.
        model_of: where it is known which runs are models of the release: the id of each that is;
            then the equal-outsider AUC is told, too.
        negatives: lists by kind in place of the release's own.

    Raises:
        InputError: an unknown measure.
    """
    names = arguments.measures and [measure.name for measure in parse_measures(arguments.measures)]
    is_complete = getattr(arguments, "complete", False)
    if names is None and negatives:
        names = list(dict.fromkeys([*release.info["measures"], *drawn_measures(negatives)]))
    missing: Missing = getattr(arguments, "missing", "error")
    scored = release.score(runs, names, missing=missing, complete=is_complete, negatives=negatives)
    if arguments.measures is None and model_of is not None:
        scored = beside_outsiders(release, runs, scored, model_of)
    qrels, place = release.labels(), arguments.release
    unit = getattr(arguments, "unit", None)
    units = Units.of(qrels.query_ids, release.unit_of(unit), unit or PRODUCT)
    intervals = board_intervals(scored, units)
    of_release = {"name": release.info["name"], "version": release.info["version"]}
    of_release |= {"seal": release.manifest.seal}
    return Report(
        title=f"{release.title}: {', '.join(run.name for run in scored)}",
        text=as_text(
            place, qrels, scored, by_query=arguments.by_query, intervals=intervals, units=units
        ),
        data={
            "release": of_release,
            "unit": units.name if units.are_shared else QUERY,
            **as_json(arguments, place, files, qrels, scored, intervals=intervals),
        },
        table=as_table(qrels, scored, by_query=arguments.by_query, intervals=intervals),
        notes=[
            *list_notes(scored),
            *_filled_up(release, runs, scored),
            *_release_notes(release, scored),
        ],
    )


def board_intervals(scored: Sequence[Scored], units: Units) -> dict[str, list[Interval]]:
    """Return the intervals of a board: of means over queries that tell of a model."""
    return {
        name: intervals
        for name, intervals in mean_intervals(scored, units=units).items()
        if name == EQUAL_OUTSIDER or parse_measure(name).family not in OF_THE_POOL
    }


def _filled_up(release: Release, runs: Sequence[Run], scored: Sequence[Scored]) -> Iterator[str]:
    """Say of which runs the lists begin with the pairs put to the judges, all of them."""
    for run, found in zip(runs, scored, strict=True):
        asked = match_run(release.questions, run, products=release.products)
        if found.has_list and puts_judged_first(rank_run(asked)):
            yield (
                f"run {run.name!r} ranks all that was put to the judges above everything else, as "
                "one does that was made from these pairs and filled up: what counts ranks then "
                "stands far too high"
            )


def _release_notes(release: Release, scored: Sequence[Scored]) -> Iterator[str]:
    yield from release.caveats
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


def parse_measures(text: str) -> list[Measure]:
    """Return the measures that a list names, each once.

    Raises:
        InputError: an unknown one, or none.
    """
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError("--measures names no measure")
    return [parse_measure(name) for name in names]


def named_apart(runs: Sequence[tuple[object, Run]]) -> list[Run]:
    """Return the runs, with their file in the name where two have the same name.

    Raises:
        InputError: the same run twice.
    """
    counts = Counter(run.name for _, run in runs)
    named = [
        replace(run, name=f"{run.name} ({path})") if counts[run.name] > 1 else run
        for path, run in runs
    ]
    repeated = [name for name, n in Counter(run.name for run in named).items() if n > 1]
    if repeated:
        raise InputError(f"the same run is given twice: {repeated[0]}")
    return named

"""Compare models on a release by the board's own tests: paired differences, intervals, p."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.words.advice import OF_THE_POOL
from lookalike.core.did_you_mean import did_you_mean
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.metrics.leaderboard import (
    NOBODY,
    Cell,
    Entrant,
    Leaderboard,
    Measured,
    make_leaderboard,
)
from lookalike.metrics.match import Missing
from lookalike.metrics.measures import parse_measure
from lookalike.release.board import (
    SUBMITTED,
    board_measures,
    model_scores,
    score_newcomer,
    scores_of,
)
from lookalike.release.errors import ReleaseError
from lookalike.release.leaderboard import (
    ReleaseScores,
    measured_columns,
    pool_depth,
    query_units,
)
from lookalike.release.opened import Release, open_release
from lookalike.release.outsiders import EqualOutsiders, equal_outsiders
from lookalike.release.rounds import IN_PART, judged_share
from lookalike.release.scoring import rounded
from lookalike.stats.significance import PairedTest
from lookalike.stats.units import QUERY


@dataclass(frozen=True)
class Difference:
    """Two models on one measure.

    Attributes:
        measure: its name.
        first, second: the models.
        first_cell, second_cell: their values on the board of this comparison, with intervals
            and letters.
        test: the paired test of the board; None where the two may not be compared by this
            measure, or no test is made.
        reason: why there is no test; "" where there is one.
    """

    measure: str
    first: str
    second: str
    first_cell: Cell
    second_cell: Cell
    test: PairedTest | None
    reason: str = ""

    @property
    def share_letter(self) -> bool | None:
        """Whether the models share a letter on the board; None without a test."""
        if self.test is None:
            return None
        return bool(set(self.first_cell.letters) & set(self.second_cell.letters))


@dataclass(frozen=True)
class ModelComparison:
    """Models compared on a release.

    Attributes:
        release: name and version.
        seal: the release's seal.
        models: those compared, in the order given.
        board: the release's models and the newcomers, with intervals and letters.
        differences: each two of the models on each measure.
        unit: what intervals and tests take as independent: "query", or "product" where queries
            share one.
        notes: cautions that belong to the numbers.
    """

    release: str
    seal: str
    models: tuple[str, ...]
    board: Leaderboard
    differences: tuple[Difference, ...]
    unit: str
    notes: tuple[str, ...] = ()


def compare(
    release: str | Path | Release,
    runs: Sequence[str | Path | Run],
    measures: Sequence[str] | None = None,
    *,
    ids: Mapping[Path, Path] | None = None,
    missing: Missing = "error",
    complete: bool = False,
    unit: str | None = None,
) -> ModelComparison:
    """Compare models of a release with each other or with newcomers.

    Tests are those of the board: sign flips of all queries of a product together, with Holm's
    correction over all models of the board that may be compared, newcomers included. Models of
    the release have the letters of its board, unless a newcomer joins.

    Args:
        release: folder or zip, or an open release.
        runs: at least two: models of the release by id or name; files of scores or of vectors;
            or runs, with the release's names of images.
        measures: names; None: all columns of the board but those that tell how much of the lists
            is judged.
        ids: of each .npy of vectors among the runs, the text file with an id a line.
        missing: "error" refuses a file without a score for every pair put to the judges; "worst"
            ranks those below all others.
        complete: there is no more to rank than the pairs put to the judges.
        unit: what intervals and tests take as independent: "query", "product" or an attribute of
            images; None: the product, as on the board. Another unit gives other letters.

    Raises:
        InputError: fewer than two models, one given twice, a name that stands for none, a file
            that cannot be read, or an unknown measure.
        ReleaseError: rounds have judged a part of the pool.

    >>> found = compare("tests/golden/releases/small-4.0.0.zip",
    ...                 ["descriptor-hog-shape", "descriptor-colour-histogram"], ["AP'"])
    >>> [one] = found.differences
    >>> round(one.test.difference, 4), one.test.n_queries, one.share_letter
    (-0.1092, 13, True)
    """
    if not isinstance(release, Release):
        with open_release(release) as opened:
            return compare(
                opened, runs, measures, ids=ids, missing=missing, complete=complete, unit=unit
            )
    if judged_share(release) < 1:
        raise ReleaseError(f"{release.place}: {IN_PART}")
    asked = [runs] if isinstance(runs, (str, Path, Run)) else runs
    names, newcomers = _resolve(
        release, asked, partial(release.read_runs, ids=ids, missing=missing)
    )
    outsiders = equal_outsiders(release)
    known = board_measures(release, outsiders)
    chosen = _tested(known) if measures is None else _measure_names(measures)
    extra = [name for name in chosen if name not in known]
    scores = _with_measures(release, model_scores(release, outsiders), extra)
    scores += [_newcomer_scores(release, run, extra, outsiders, complete) for run in newcomers]
    units = query_units(release, unit)
    columns = measured_columns(
        scores, [(name, name) for name in chosen], depth=pool_depth(release), units=units
    )
    board = make_leaderboard([one.model for one in scores], columns)
    return ModelComparison(
        release=release.title,
        seal=release.manifest.seal,
        models=tuple(names),
        board=board,
        differences=tuple(_differences(board, columns, names)),
        unit=units.name if units.are_shared else QUERY,
        notes=tuple(_notes(release, newcomers)),
    )


def _tested(measures: Sequence[str]) -> list[str]:
    """Return the measures that tell of a model, not of how much the pool holds of its lists."""
    return [
        name
        for name in measures
        if name == EQUAL_OUTSIDER or parse_measure(name).family not in OF_THE_POOL
    ]


def _measure_names(measures: Sequence[str]) -> list[str]:
    """Return the names in full, each once.

    Raises:
        InputError: an unknown one, or none.
    """
    names = [
        name if name == EQUAL_OUTSIDER else parse_measure(name).name
        for name in ([measures] if isinstance(measures, str) else measures)
    ]
    if not names:
        raise InputError("no measure is named")
    return list(dict.fromkeys(names))


def _resolve(
    release: Release,
    runs: Sequence[str | Path | Run],
    read_runs: Callable[[str | Path | Run], list[Run]],
) -> tuple[list[str], list[Run]]:
    """Return the names of the models to compare, and those of them that are not the release's.

    Raises:
        InputError: see `compare`.
    """
    id_of = {one["name"]: one["id"] for one in release.models}
    id_of |= {one["id"]: one["id"] for one in release.models}
    names: list[str] = []
    newcomers: list[Run] = []
    for run in runs:
        if not isinstance(run, Run) and str(run) in id_of:
            names.append(_scored_id(release, id_of[str(run)]))
            continue
        if not isinstance(run, Run) and not Path(run).exists():
            raise InputError(
                f"{str(run)!r} is neither a model of {release.title} nor a file. "
                f"{did_you_mean(str(run), list(id_of))}"
            )
        [read] = read_runs(run)
        taken = {*id_of, *names}
        name = read.name if read.name not in taken else f"{read.name} ({_source(run)})"
        names.append(name)
        newcomers.append(replace(read, name=name))
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"the same model is given twice: {repeated[0]}")
    if len(names) < 2:
        known = ", ".join(one["id"] for one in release.scored)
        raise InputError(f"give two models or more; {release.title} has {known}")
    return names, newcomers


def _scored_id(release: Release, name: str) -> str:
    if name not in {one["id"] for one in release.scored}:
        raise InputError(f"{name} only proposed pairs: {release.title} has no scores of it")
    return name


def _source(run: str | Path | Run) -> str:
    return "newcomer" if isinstance(run, Run) else str(run)


def _with_measures(
    release: Release, scores: Sequence[ReleaseScores], extra: Sequence[str]
) -> list[ReleaseScores]:
    """Return the scores of the release's models with measures that its board lacks."""
    if not extra:
        return list(scores)
    runs = [release.run(one.model.name) for one in scores]
    scored = release.score(runs, extra)
    return [
        replace(
            one,
            values={**one.values, **{name: rounded(of.outcomes[name].value) for name in extra}},
            n_queries={**one.n_queries, **{name: of.outcomes[name].n_defined for name in extra}},
            by_query={
                **one.by_query,
                **{
                    name: values
                    for name in extra
                    if (values := of.outcomes[name].by_query) is not None
                },
            },
        )
        for one, of in zip(scores, scored, strict=True)
    ]


def _newcomer_scores(
    release: Release,
    run: Run,
    extra: Sequence[str],
    outsiders: EqualOutsiders | None,
    complete: bool,
) -> ReleaseScores:
    measures = [*release.info["measures"], *extra]
    found = score_newcomer(release.judged, run, measures, complete=complete)
    return scores_of(Entrant(run.name, SUBMITTED), found.results, found.by_query, outsiders)


def _differences(
    board: Leaderboard, columns: Sequence[Measured], names: Sequence[str]
) -> list[Difference]:
    lines = {line.model.name: line for line in board.lines}
    differences = []
    for first, second in combinations(names, 2):
        for at, column in enumerate(columns):
            cells = (lines[first].cells[at], lines[second].cells[at])
            test, reason = _test_of(column, first, second, cells)
            differences.append(Difference(column.name, first, second, *cells, test, reason))
    return differences


def _test_of(
    column: Measured, first: str, second: str, cells: tuple[Cell, Cell]
) -> tuple[PairedTest | None, str]:
    """Return the test of two models, first minus second; or None and why there is none."""
    if reason := _why_untested(first, second, cells):
        return None, reason
    by_pair = {(test.first, test.second): test for test in column.tests}
    if (second, first) in by_pair:
        return turned(by_pair[second, first]), ""
    test = by_pair.get((first, second))
    return test, "" if test else cells[0].no_interval or "no test is made of this measure"


def _why_untested(first: str, second: str, cells: tuple[Cell, Cell]) -> str:
    """Return why two values are not compared, "" if they may be."""
    for cell, name in zip(cells, (first, second), strict=True):
        if cell.value is None:
            return f"undefined for {name}"
        if cell.comparable_with == NOBODY:
            return f"{name} may be compared with nobody: {cell.reason}"
        if cell.n_queries is None:
            return "one value over all pairs, of which no test is made"
    mine, theirs = (cell.comparable_with for cell in cells)
    if mine != theirs:
        return f"{first} may be compared with {mine}, {second} with {theirs}"
    return ""


def turned(test: PairedTest) -> PairedTest:
    """Return the same test with the models in the other order."""
    ends = test.interval
    return replace(
        test,
        first=test.second,
        second=test.first,
        difference=0.0 - test.difference,
        interval=replace(ends, low=-ends.high, high=-ends.low),
        effect_size=0.0 - test.effect_size,
    )


def _notes(release: Release, newcomers: Sequence[Run]) -> Iterator[str]:
    yield from release.caveats
    if newcomers:
        names = ", ".join(run.name for run in newcomers)
        yield (
            f"{names}: not a model of the release; it joins the board's models, so Holm's "
            "correction is over more tests and letters may differ from the board's"
        )
    if hidden := len(release.hidden_queries):
        yield f"labels of {hidden} queries are hidden and do not count here"

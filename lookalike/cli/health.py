"""`lookalike health`: how a benchmark wears from version to version."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from lookalike.cli.output import Report
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.release.health import VersionHealth, versions_health
from lookalike.release.opened import open_release
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Say of each version of a benchmark how many models are tied at the top, which share of pairs "
    "of models it tells apart, how much of newcomers' lists nobody has judged, and which labels "
    "and orders have changed since the version before. Offline, from releases in their order."
)
EXAMPLE = "lookalike health shoes-1.0.0.zip shoes-1.1.0.zip shoes-2.0.0.zip"
HEADER = (
    *("version", "queries", "labels", "similar", "judged"),
    *("comparable", "models", "tied_at_top", "told_apart"),
    *("hole", "hole_of_new", "labels_shared", "to_similar", "to_different", "changed", "tau"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "releases", type="input", nargs="+", metavar="RELEASE",
        help="folders or zips, the oldest version first",
    )  # fmt: skip
    parser.add_argument("--measure", default="AP'", help="to compare by; default: %(default)s")
    parser.add_argument(
        "--k", type=int, default=5, help="how far down lists are searched; default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Read the releases and compare each with the one before.

    Raises:
        InputError: one of them is no release, lacks the measure, or is no version of the others.
        OSError: one of them cannot be read.
    """
    if arguments.k < 1:
        raise InputError(f"--k {arguments.k}: lists have one candidate at least")
    with ExitStack() as stack:
        releases = [stack.enter_context(open_release(path)) for path in arguments.releases]
        found = versions_health(releases, arguments.measure, arguments.k)
        notes = [caveat for release in releases for caveat in release.caveats]
    return Report(
        title="Health over versions",
        text="\n".join(_text(found, arguments.measure, arguments.k)) + "\n",
        data={"measure": arguments.measure, "k": arguments.k, "versions": as_json(found)},
        table=Table(HEADER, [_row(one) for one in found]),
        notes=notes,
    )


def _row(one: VersionHealth) -> list[str | int | float | None]:
    top, drift = one.top, one.drift
    rivals = [None] * 4 if top is None else [top.whom, top.n_models, top.n_tied, top.power]
    drifted: list[int | float | None] = [None] * 5
    if drift is not None:
        drifted = [drift.n_shared, drift.n_to_similar, drift.n_to_different]
        drifted += [drift.share, drift.tau]
    return [
        *(one.title, one.n_queries, one.n_labels, one.n_similar, one.judged),
        *rivals,
        *(one.mean_hole(), one.mean_hole(of_new=True)),
        *drifted,
    ]


def _text(found: Sequence[VersionHealth], measure: str, k: int) -> Iterator[str]:
    rows = [["", "queries", "labels", "tied at top", "told apart", "hole", "changed", "tau"]]
    for one in found:
        top, drift = one.top, one.drift
        tied = "-" if top is None or top.n_tied is None else f"{top.n_tied} of {top.n_models}"
        cells = [one.title, f"{one.n_queries:,}", f"{one.n_labels:,}", tied]
        cells += [TEXT.share(None if top is None else top.power), TEXT.share(one.mean_hole())]
        cells += ["-", "-"] if drift is None else [TEXT.share(drift.share), TEXT.number(drift.tau)]
        rows.append(cells)
    yield f"By {measure}; holes in the first {k}"
    yield from table(rows)
    for one in found:
        yield from _more(one, k)


def _more(one: VersionHealth, k: int) -> Iterator[str]:
    yield ""
    yield one.title
    if one.judged < 1:
        yield f"  judged {TEXT.share(one.judged)} in rounds: nothing is tested, no hole is known"
    for group in one.rivals:
        tested = "nothing is tested"
        if group.n_models == 1:
            tested = "it has no rival"
        elif group.n_tied is not None:
            power = TEXT.share(group.power)
            tested = f"{group.n_tied} tied at the top, {power} of pairs told apart"
        yield f"  {group.n_models} comparable with {group.whom}: {tested}"
    for hole in one.holes:
        new = ", new in this version" if hole.is_new else ""
        yield f"  {hole.model}{new}: nobody has judged {TEXT.share(hole.share)} of its first {k}"
    if (drift := one.drift) is not None:
        yield (
            f"  labels that the version before had, too: {drift.n_shared:,}, of which "
            f"{drift.n_to_similar:,} became similar and {drift.n_to_different:,} different "
            f"({TEXT.share(drift.share)}, {TEXT.interval(drift.interval, 3)})"
        )
